#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include <functional>

/// Ops whose arguments leave nothing to compute return a new tensor: a gradient for the result is no gradient
/// for the argument, and watching the result does not watch the argument.

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor, ktape::Variable;

namespace {

struct Call {
  const char* name;
  std::function<Tensor(const Tensor&)> run;
  std::vector<std::int64_t> shape = {2};
};

std::vector<Call> calls() {
  const std::vector<std::int64_t> image{1, 2, 2, 1}, volume{1, 2, 1, 1, 1};
  const nn::Dropout dropout(0.5);
  const nn::Activation linear("linear");
  const nn::Sequential chain({nn::Activation("linear")});
  return {
      {"reshape", [](const Tensor& x) { return K::reshape(x, {2}); }},
      {"reshape, open", [](const Tensor& x) { return K::reshape(x, {-1}); }},
      {"flatten", [](const Tensor& x) { return K::flatten(x); }},
      {"batch_flatten", [](const Tensor& x) { return K::batch_flatten(x); }, {2, 1}},
      {"tile", [](const Tensor& x) { return K::tile(x, {1}); }},
      {"repeat_elements", [](const Tensor& x) { return K::repeat_elements(x, 1, 0); }},
      {"cast", [](const Tensor& x) { return K::cast(x, "float64"); }},
      {"dropout", [](const Tensor& x) { return K::dropout(x, 0); }},
      {"identity", [](const Tensor& x) { return K::identity(x); }},
      {"slice", [](const Tensor& x) { return K::slice(x, {0}, {2}); }},
      {"index", [](const Tensor& x) { return x[{ktape::All}]; }},
      {"permute_dimensions", [](const Tensor& x) { return K::permute_dimensions(x, {0}); }},
      {"transpose", [](const Tensor& x) { return K::transpose(x); }},
      {"reverse", [](const Tensor& x) { return K::reverse(x, 0); }, {1}},
      {"concatenate", [](const Tensor& x) { return K::concatenate({x}, 0); }},
      {"split", [](const Tensor& x) { return K::split(x, 1, 0)[0]; }},
      {"sum of a scalar", [](const Tensor& x) { return K::sum(x); }, {}},
      {"sum over an axis of 1", [](const Tensor& x) { return K::sum(x, 0, true); }, {1}},
      {"cumsum", [](const Tensor& x) { return K::cumsum(x, 0); }, {1}},
      {"to_dense", [](const Tensor& x) { return K::to_dense(x); }},
      {"clip", [](const Tensor& x) { return K::clip(x, -100, 100); }},
      {"pad", [](const Tensor& x) { return K::pad(x, {0}); }},
      {"pad, reflected", [](const Tensor& x) { return K::pad(x, {0}, {.mode = "reflect"}); }},
      {"resize_images", [](const Tensor& x) { return K::resize_images(x, 1, 1, "channels_last"); }, image},
      {"resize_images, bilinear",
       [](const Tensor& x) {
         return K::resize_images(x, 1, 1, "channels_last", {.interpolation = "bilinear"});
       },
       image},
      {"resize_volumes", [](const Tensor& x) { return K::resize_volumes(x, 1, 1, 1, "channels_last"); },
       volume},
      {"layer Activation", [=](const Tensor& x) { return linear(x); }},
      {"layer Dropout", [=](const Tensor& x) { return dropout(x); }},
      {"layer Reshape", [](const Tensor& x) { return nn::Reshape({2})(x); }, {1, 2}},
      {"layer Flatten", [](const Tensor& x) { return nn::Flatten()(x); }, {1, 2}},
      {"model", [=](const Tensor& x) { return chain(x); }, {1, 2}}};
}

Tensor ones(const std::vector<std::int64_t>& shape) {
  return K::ones(ktape::Shape(shape), {.dtype = "float64"});
}

}  // namespace

TEST_CASE("a gradient with respect to the result is not a gradient with respect to the argument") {
  K::set_floatx("float64");
  for (const Call& call : calls()) {
    CAPTURE(call.name);
    const Variable x(ones(call.shape));
    const Tensor y = call.run(x);
    const Tensor slope = K::gradients(K::sum(K::square(x)) + K::sum(y * 3.), y)[0];
    CHECK(K::max(K::abs(slope - 3.)).item<double>() == 0);
    const Tensor whole = K::gradients(K::sum(K::square(x)) + K::sum(y * 3.), x)[0];
    CHECK(K::max(K::abs(whole - 5.)).item<double>() == 0);
  }
  K::set_floatx("float32");
}

TEST_CASE("ops that change no element return new tensors in a graph, too") {
  K::set_floatx("float64");
  for (const Call& call : calls()) {
    CAPTURE(call.name);
    const Tensor x = K::placeholder({.shape = ktape::Shape(call.shape), .dtype = "float64"});
    const Tensor y = call.run(x);
    const auto slope = K::function({x}, {K::gradients(K::sum(K::square(x)) + K::sum(y * 3.), y)[0]});
    CHECK(K::max(K::abs(slope({ones(call.shape)})[0] - 3.)).item<double>() == 0);
  }
  K::set_floatx("float32");
}

TEST_CASE("watching the result does not watch the argument") {
  K::set_floatx("float64");
  for (const Call& call : calls()) {
    CAPTURE(call.name);
    const Tensor x = ones(call.shape), y = call.run(x);
    ktape::GradientTape tape;
    tape.watch(y);
    CHECK(!tape.gradient(K::sum(x * 2.), x).defined());
    CHECK(tape.gradient(K::sum(y * 2.), y).defined());
  }
  K::set_floatx("float32");
}
