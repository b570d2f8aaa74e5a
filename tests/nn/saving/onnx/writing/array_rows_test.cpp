#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::Tensor;
using In = const std::vector<Tensor>&;
using Tensors = std::vector<Tensor>;

TEST_CASE("onnx: functions on whole arrays are exported as formulas of operators") {
  exported::Checks check;
  const Tensor x = normal({3, 4}, 1, "float32"), y = normal({3, 4}, 2, "float32");
  const Tensor ids = ints({{1, 5, 1, 0}, {2, 2, 7, 1}, {0, 0, 3, 9}});
  check("nonzero", {x}, [](In in) { return ops::nonzero(K::relu(in[0])); });
  check("unique", {ids}, [](In in) {
    return ops::unique(in[0], {.return_index = true, .return_inverse = true, .return_counts = true});
  });
  check("unique rows", {ids}, [](In in) { return ops::unique(in[0][{ktape::All, 0}], {})[0]; });
  check("unique of a size", {ids},
        [](In in) { return ops::unique(in[0], {.size = 9, .fill_value = -1})[0]; });
  check("roll the batch", {x}, [](In in) { return ops::roll(in[0], 2, 0); });
  check("roll all", {x}, [](In in) { return ops::roll(in[0], -3); });
  check("repeat", {x}, [](In in) { return ops::repeat(in[0], {2, 0, 1, 3}, 1); });
  check("repeat all", {x}, [](In in) { return ops::repeat(in[0], 2); });
  check("kron", {x}, [](In in) { return ops::kron(in[0], K::constant({{1.f, 2.f}, {3.f, 4.f}})); });
  check("diag", {x}, [](In in) { return ops::diag(in[0][0], -2); });
  check("diagonal", {normal({2, 3, 4}, 3, "float32")}, [](In in) { return ops::diagonal(in[0], -1, 1, 2); });
  check("trace", {normal({2, 3, 4}, 3, "float32")}, [](In in) { return ops::trace(in[0], 1, 2, 1); });
  check("searchsorted", {x}, [](In in) {
    return ops::searchsorted(K::constant({-1.f, 0.f, 0.5f}), in[0], "right");
  });
  check("digitize", {x}, [](In in) { return ops::digitize(in[0], K::constant({0.5f, 0.f, -1.f})); });
  check("isin", {ids}, [](In in) { return ops::isin(in[0], ints({1, 9})); });
  check("in_top_k", {ints({0, 3, 1}), x}, [](In in) { return ops::in_top_k(in[0], in[1], 2); });
  check("bincount", {ids}, [](In in) { return ops::bincount(in[0]); });
  check("bincount of weights", {ids, x}, [](In in) { return ops::bincount(in[0], in[1], 12); });
  check("histogram", {x}, [](In in) {
    const auto found = ops::histogram(K::flatten(in[0]), 4);
    return Tensors{found.counts, found.edges};
  });
  check("cumprod", {x}, [](In in) { return ops::cumprod(in[0], 1); });
  check("shifts", {ids}, [](In in) { return ops::left_shift(in[0], 3) + ops::right_shift(-in[0], 1); });
  for (const char* mode : {"valid", "same", "full"})
    check(std::string("correlate ") + mode, {x}, [=](In in) {
      return ops::correlate(in[0][0], K::constant({1.f, -2.f, 0.5f}), mode);
    });
  check("unravel_index", {ids}, [](In in) { return ops::unravel_index(in[0], {2, 5}); });
  check.run();
}

TEST_CASE("onnx: an extent that a formula needs and the model does not know is named") {
  const Files files;
  const Tensor in = ktape::nn::Input({ktape::None});
  const ktape::nn::Model model(in, ops::cumprod(in, 1), {.name = "m"});
  CHECK_THROWS_WITH_AS(
      model.export_to(files.folder() + "/m.onnx"),
      doctest::Contains("received the op 'cumprod' (the extent of an axis is unknown: x=(None, None))"),
      ktape::ValueError);
}
