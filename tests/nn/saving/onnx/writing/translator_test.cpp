#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Tensor;

namespace {

struct DrawingImpl : nn::LayerImpl {
  DrawingImpl() : LayerImpl("Drawing", {.name = "drawing"}) {}
  Tensor call(const Tensor& x) override { return x + K::random_normal(K::shape(x)); }
};

/// Throws in exports.
struct RefusingImpl : nn::LayerImpl {
  static inline bool refuses = false;
  RefusingImpl() : LayerImpl("Refusing", {.name = "refusing"}) {}
  Tensor call(const Tensor& x) override {
    if (refuses) throw ktape::TypeError("[mine] no");
    return K::tanh(x);
  }
};

}  // namespace

TEST_CASE("onnx: errors of the layers' own ops name the layer") {
  const Files files;
  const nn::Sequential inner({nn::Input({3}), nn::LayerOf<RefusingImpl>()}, {.name = "inner"});
  const Tensor in = nn::Input({3});
  const nn::Model outer(in, inner(in), {.name = "outer"});
  RefusingImpl::refuses = true;
  CHECK_THROWS_WITH_AS(outer.export_to(files.folder() + "/m.onnx"),
                       Contains("[mine] no (in layer 'refusing'"), ktape::TypeError);
  RefusingImpl::refuses = false;
  outer.export_to(files.folder() + "/m.onnx");
}

TEST_CASE("onnx: an error names the layers around the op") {
  const Files files;
  const nn::Sequential inner({nn::Input({3}), nn::LayerOf<DrawingImpl>()}, {.name = "inner"});
  const Tensor in = nn::Input({3});
  const nn::Model outer(in, inner(in), {.name = "outer"});
  CHECK_THROWS_WITH_AS(outer.export_to(files.folder() + "/m.onnx"),
                       Contains("the layer 'outer/inner/drawing' must have a form in ONNX"),
                       ktape::ValueError);
}

TEST_CASE("onnx: masks of layers reach the layers that use them") {
  exported::Checks check;
  const Tensor words = ints({{1, 2, 0}, {3, 0, 0}});
  check("mean", {words}, [](const std::vector<Tensor>& in) {
    return nn::GlobalAveragePooling1D()(nn::Embedding(5, 4, {.mask_zero = true})(in[0]));
  });
  check("mask", {words}, [](const std::vector<Tensor>& in) {
    return K::cast(nn::mask_of(nn::Embedding(5, 4, {.mask_zero = true})(in[0])), "int32");
  });
  check.run();
}

TEST_CASE("onnx: a refusal names the operation and says why") {
  namespace ops = ktape::ops;
  const Files files;
  using Function = Tensor (*)(const Tensor&);
  const std::pair<Function, const char*> cases[] = {
      {[](const Tensor& x) { return ops::inv(x); },
       "(the operation Solve: no operator of ONNX factorizes or inverts matrices)"},
      {[](const Tensor& x) { return ops::erfinv(x); },
       "(the operation Erfinv: no operator of ONNX computes this function)"},
      {[](const Tensor& x) { return K::cast(ops::view(x, "int32"), "float32"); },
       "(the operation View: no operator of ONNX reads the bits of numbers)"},
      {[](const Tensor& x) { return ops::elastic_transform(K::expand_dims(x, -1)); },
       "(the operation ElasticTransform: it draws random numbers)"},
      {[](const Tensor& x) { return ops::affine_transform(K::expand_dims(x, -1), K::zeros({8})); },
       "(the operation AffineTransform: the number of images must be known, as with the batch_size of "
       "nn::Input)"},
  };
  for (const auto& [f, reason] : cases) {
    const Tensor in = nn::Input({4, 4});
    CHECK_THROWS_WITH_AS(nn::Model(in, f(in)).export_to(files.folder() + "/m.onnx"), Contains(reason),
                         ktape::ValueError);
  }
}
