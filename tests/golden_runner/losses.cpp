#include <ktape/ops/nn/losses.hpp>

#include "families.hpp"

namespace golden {
namespace {

namespace K = ktape::backend;

template <class Options, class F>
auto loss(F f) {
  return [f](const Call& c) -> Results {
    Options options;
    c.set("from_logits", options.from_logits);
    if constexpr (requires { options.axis; }) c.set("axis", options.axis);
    return {f(c["target"], c["output"], options)};
  };
}

}  // namespace

void add_losses(Table& table) {
  auto& ops = table.ops;
  ops["categorical_crossentropy"] =
      loss<K::LossOptions>([](const Tensor& target, const Tensor& output, auto& o) {
        return K::categorical_crossentropy(target, output, o);
      });
  ops["sparse_categorical_crossentropy"] =
      loss<K::LossOptions>([](const Tensor& target, const Tensor& output, auto& o) {
        return K::sparse_categorical_crossentropy(target, output, o);
      });
  ops["binary_crossentropy"] =
      loss<K::BinaryLossOptions>([](const Tensor& target, const Tensor& output, auto& o) {
        return K::binary_crossentropy(target, output, o);
      });
}

}  // namespace golden
