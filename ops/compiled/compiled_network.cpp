#include <ktape/autograd/base/parallel.hpp>
#include <ktape/ops/compiled/compiled_network.hpp>
#include <ktape/ops/kernels/network/nodes/node_kernels.hpp>
#include <ktape/ops/kernels/network/passes/passes.hpp>
#include <ktape/ops/kernels/parallel/one_thread.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/settings/engine.hpp>

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <span>

namespace ktape::backend {
namespace {

/// Returns whether the bits of the absolute value of each number are below those of infinity.
template <class Bits>
bool all_below(const Tensor& x, Bits infinity) {
  constexpr std::int64_t grain = 1 << 17;
  constexpr auto magnitude = static_cast<Bits>(std::numeric_limits<Bits>::max() >> 1U);
  const char* const elements = static_cast<const char*>(x.raw());
  std::atomic<bool> finite{true};
  parallel_for(x.size(), grain, [&](std::int64_t begin, std::int64_t end) {
    Bits largest = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      Bits bits;
      std::memcpy(&bits, elements + i * static_cast<std::int64_t>(sizeof bits), sizeof bits);
      largest = std::max(largest, static_cast<Bits>(bits & magnitude));
    }
    if (largest >= infinity) finite = false;
  });
  return finite;
}

bool is_finite(const Tensor& x) {
  return x.dtype() == DType::BFloat16 ? all_below<std::uint16_t>(x, 0x7f80)
                                      : all_below<std::uint32_t>(x, 0x7f800000);
}

}  // namespace

bool compiles_networks() {
  const bool all_threads = !omp_in_parallel() || omp_get_max_threads() == 1;
  return all_threads && !deterministic() && op_helpers::engine().name() == "onednn";
}

std::shared_ptr<CompiledNetwork> CompiledNetwork::make(const NetworkBuilder& builder) {
  auto made = std::make_shared<CompiledNetwork>();
  made->network_ = builder.network();
  for (const int output : made->network_.outputs)
    made->outputs_.push_back(
        {Shape(builder.shape(output)),
         builder.numbers(output) == kernels::NumberType::BFloat16 ? DType::BFloat16 : DType::Float32});
  kernels::optimize(made->network_);
  kernels::use_small_products(made->network_);
  made->products_ = kernels::largest_products(made->network_);
  made->variables_ = builder.weights();
  const kernels::OneThread alone(kernels::suits_one_thread(made->products_));
  return made->ready().program ? made : nullptr;
}

CompiledNetwork::Ready CompiledNetwork::ready() {
  const std::lock_guard lock(mutex_);
  Variant& variant = variants_[omp_get_max_threads()];
  if (!variant.program) variant.program = kernels::Program::make(network_);
  if (variant.program) refresh(variant);
  return {variant.program.get(), variant.weights};
}

void CompiledNetwork::refresh(Variant& variant) const {
  bool same = variant.packed_from && variant.packed_from->size() == variables_.size();
  for (std::size_t i = 0; same && i < variables_.size(); ++i)
    same = (*variant.packed_from)[i].get() == variables_[i].stored().get()->storage.get();
  if (same) return;
  variant.packed_from = nullptr, variant.weights = nullptr;
  std::vector<const float*> elements;
  const auto from = std::make_shared<std::vector<Ref<Storage>>>();
  bool finite = true;
  for (const Variable& variable : variables_) {
    const Tensor& value = variable.stored();
    finite = finite && is_finite(value);
    from->push_back(value.get()->storage);
    elements.push_back(static_cast<const float*>(value.raw()));
  }
  if (finite) variant.weights = variant.program->pack(elements, from);
  variant.packed_from = from;
}

std::optional<std::vector<Tensor>> CompiledNetwork::run(const std::vector<Tensor>& inputs) {
  if (!std::all_of(inputs.begin(), inputs.end(), is_finite)) return {};
  const kernels::OneThread alone(kernels::suits_one_thread(products_));
  const Ready now = ready();
  if (!now.weights) return {};
  std::vector<Tensor> outputs;
  outputs.reserve(outputs_.size());
  std::vector<void*> arrays;
  arrays.reserve(inputs.size() + outputs_.size());
  for (const Tensor& x : inputs) arrays.push_back(const_cast<void*>(static_cast<const void*>(x.raw())));
  for (const auto& [shape, dtype] : outputs_)
    arrays.push_back(outputs.emplace_back(Tensor::empty(shape, dtype)).raw());
  const std::span<void* const> all(arrays);
  now.program->run(now.weights, all.first(inputs.size()), all.subspan(inputs.size()));
  return outputs;
}

std::vector<kernels::ProgramStep> CompiledNetwork::steps() {
  const kernels::OneThread alone(kernels::suits_one_thread(products_));
  const Ready now = ready();
  return now.program->steps(now.weights);
}

std::size_t CompiledNetwork::arena_bytes() {
  const kernels::OneThread alone(kernels::suits_one_thread(products_));
  return ready().program->arena_bytes();
}

}  // namespace ktape::backend
