#include <ktape/autograd/internal/watch.hpp>
#include <ktape/autograd/symbol.hpp>

#include <algorithm>

namespace ktape {
namespace {

std::atomic<std::uint64_t> newest{0};

/// Symbols that lost their last reference while another symbol was being destroyed. The list avoids recursion
/// in deep graphs.
thread_local std::vector<Symbol*>* dying = nullptr;

}  // namespace

Operand::Operand(const Tensor& tensor, bool differentiable)
    : tensor(keep_watched(tensor)), variable(variable_of(tensor)), differentiable(differentiable) {
  // The symbol must not share the current value, because an update would then have to copy the value.
  if (variable.defined()) this->tensor = Tensor();
}

Symbol::Symbol(const Op& op) : op_(op), sequence_(newest.fetch_add(1, std::memory_order_relaxed) + 1) {}

void Symbol::release() {
  if (refs_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (dying) return dying->push_back(this);
  std::vector<Symbol*> list{this};
  dying = &list;
  while (!list.empty()) {
    Symbol* next = list.back();
    list.pop_back();
    delete next;
  }
  dying = nullptr;
}

bool Symbol::retain_if_alive() {
  std::int32_t refs = refs_.load(std::memory_order_relaxed);
  while (refs > 0)
    if (refs_.compare_exchange_weak(refs, refs + 1, std::memory_order_relaxed)) return true;
  return false;
}

void Symbol::set_captured(std::vector<Operand> captured) {
  captured_ = captured.size();
  std::move(captured.begin(), captured.end(), std::back_inserter(operands_));
}

void Results::set(std::vector<Tensor> all) {
  if (list_) return std::swap(*list_, all);
  if (all.size() != count_)
    fail("[function] an op must return ", count_, " results, as when the graph was built: received ",
         all.size());
  std::move(all.begin(), all.end(), places_);
}

bool is_symbolic(const std::vector<Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& x) { return is_symbolic(x); });
}

std::uint64_t newest_symbol() { return newest.load(std::memory_order_relaxed); }

Tensor symbolic_tensor(const Ref<Symbol>& symbol, std::uint32_t output) {
  const OutputInfo& info = symbol->outputs()[output];
  Tensor out(Ref<TensorImpl>::adopt(new TensorImpl(info.shape, info.shape.count(), info.dtype, {})));
  out.get()->symbol = symbol;
  out.get()->output = output;
  return out;
}

namespace {

class Placeholder final : public Symbol {
 public:
  explicit Placeholder(const std::string& name) : Symbol("placeholder") { name_ = name; }
  void run(const OperandValues&, Results&) const override {
    fail("[placeholder] a value is needed for the placeholder '", name(), "'");
  }
};

}  // namespace

Tensor make_placeholder(const Shape& shape, DType dtype, const std::string& name) {
  for (const std::int64_t n : shape)
    if (n < 0 && n != None) fail("[placeholder] extents must be None or at least 0: received shape=", shape);
  check_extents("placeholder", shape, dtype.size(), true);
  auto symbol = Ref<Symbol>::adopt(new Placeholder(name));
  symbol->set_outputs({{shape, dtype}});
  return symbolic_tensor(symbol, 0);
}

}  // namespace ktape
