#include <ktape/ktape.hpp>
#include <ktape/ops/kernels/engine/engine.hpp>

#include "../../close.hpp"
#include "../../in_threads.hpp"
#include "../../ops/check.hpp"
#include "../../processor.hpp"
#include "../layers/conformance/table.hpp"
#include "../policies.hpp"

#include <algorithm>
#include <cstring>

/// Each layer of the conformance table inside of a model whose prediction has a plan.
namespace K = ktape::backend;

namespace {

/// A layer between dense layers, where its inputs allow, as a model of any batch size.
struct Surrounded {
  nn::Model model;
  std::vector<Tensor> inputs;
};

Surrounded surrounded(const Row& row) {
  std::vector<Tensor> symbols, values, given;
  int seed = 1;
  for (Shape shape : row.inputs) {
    const bool counts = row.classes > 0;
    values.push_back(counts
                         ? K::random_uniform(shape, {.maxval = row.classes, .dtype = "int32", .seed = seed})
                         : normal(shape, seed, "float32"));
    ++seed;
    const std::int64_t channels = shape[-1];
    shape.erase(0);
    symbols.push_back(nn::Input(shape, {.dtype = counts ? "int32" : "float32"}));
    const bool dense = !counts && shape.rank() > 0 && channels != None;
    given.push_back(dense ? nn::Dense(channels, {.activation = "tanh"})(symbols.back()) : symbols.back());
  }
  std::vector<Tensor> outputs{row.make().apply(given)[0]};
  const Tensor y = outputs[0];
  if (y.dtype() == ktape::DType::Float32 && y.ndim() >= 2 && y.shape()[-1] != None)
    outputs.push_back(nn::Dense(3)(y));
  return {nn::Model(symbols, outputs), values};
}

std::vector<Tensor> eager(const nn::Model& model, const std::vector<Tensor>& x) {
  const ktape::NoGrad off;
  return model.apply(x);
}

/// Checks that results differ by at most `tolerance` times the largest number of each. Sums of tanh(x) may cancel to 0.01 and
/// keep the rounding of numbers near 1.
void check_agreement(const std::vector<Tensor>& got, const std::vector<Tensor>& want,
                     double tolerance = 1e-5) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    REQUIRE(got[i].shape() == want[i].shape());
    REQUIRE(got[i].dtype() == want[i].dtype());
    if (!got[i].dtype().is_floating()) {
      CHECK(values(got[i]) == values(want[i]));
      continue;
    }
    const double scale = got[i].size() == 0 ? 0 : K::max(K::abs(want[i])).item<double>();
    CHECK(close(got[i], want[i], {.rtol = 0, .atol = tolerance * std::max(scale, 0.1)}));
  }
}

std::vector<Tensor> first_samples(const std::vector<Tensor>& x, std::int64_t count) {
  std::vector<Tensor> part;
  for (const Tensor& each : x) part.push_back(each[{ktape::Slice(0, count)}]);
  return part;
}

bool is_random(const Row& row) { return row.name.find("Random") != std::string::npos; }

}  // namespace

TEST_CASE(
    "each layer gives in a plan what the layer gives when called, before and after changes of weights") {
  for (const Row& row : table()) {
    CAPTURE(row.name);
    const auto [model, x] = surrounded(row);
    for (int change = 0; change < 2; ++change) {
      for (const std::int64_t batch : {4, 2}) {
        const std::vector<Tensor> part = first_samples(x, batch);
        const std::vector<Tensor> want = eager(model, part);
        for (int run = 0; run < 2; ++run) check_agreement(model.predict_on_batch(part), want);
      }
      for (ktape::Variable weight : model.weights())
        if (weight.dtype() == ktape::DType::Float32) K::update(weight, weight.value() * 1.25F);
    }
  }
}

TEST_CASE("each layer of bfloat16 gives in a plan what the layer gives when called, within the rounding") {
  const PolicyScope policy("mixed_bfloat16");
  for (const Row& row : table()) {
    CAPTURE(row.name);
    const auto [model, x] = surrounded(row);
    for (const std::int64_t batch : {4, 2}) {
      const std::vector<Tensor> part = first_samples(x, batch);
      const std::vector<Tensor> want = eager(model, part), first = model.predict_on_batch(part);
      check_agreement(first, want, 0.02);
      check_agreement(model.predict_on_batch(part), first, 0);
    }
  }
}

TEST_CASE("networks of bfloat16, with a last layer of float32, have no other step in the plan") {
  if (K::backend() != "onednn" || !ktape::kernels::multiplies_bfloat16()) return;
  const PolicyScope policy("mixed_bfloat16");
  const Tensor in = nn::Input({8, 8, 3});
  Tensor x = nn::ReLU()(nn::BatchNormalization()(nn::Conv2D(16, 3)(in)));
  x = nn::Add()({x, nn::Conv2D(16, 3, {.padding = "same"})(nn::BatchNormalization()(x))});
  x = nn::GlobalAveragePooling2D()(nn::DepthwiseConv2D(3)(K::relu(x) + x));
  const nn::Model model(in, nn::Dense(10, {.activation = "softmax", .dtype = "float32"})(x));
  const Tensor images = normal({3, 8, 8, 3}, 1, "float32"), first = model.predict_on_batch(images)[0];
  CHECK(first.dtype() == ktape::DType::Float32);
  check_agreement({first}, eager(model, {images}), 0.02);
  CHECK(nn::explain(model).find(" called") == std::string::npos);
  CHECK(nn::explain(model).find("cast") != std::string::npos);
  Tensor of_bfloat16 = model.predict_on_batch(K::cast(images, "bfloat16"))[0];
  check_agreement({of_bfloat16}, {first}, 0.02);
}

TEST_CASE("threads predict with one plan of each layer") {
  for (const Row& row : table()) {
    CAPTURE(row.name);
    const auto network = surrounded(row);
    const auto& model = network.model;
    const auto& x = network.inputs;
    const std::vector<Tensor> want = model.predict_on_batch(x);
    std::vector<Tensor> got[3];
    in_threads(3, [&](int i) { got[i] = model.predict_on_batch(x); });
    for (const auto& each : got) check_agreement(each, want);
  }
}

TEST_CASE("networks compute the layers that they know: no other step is in the plan") {
  if (K::backend() != "onednn") return;
  for (const std::string name : {"Dense",
                                 "EinsumDense",
                                 "Activation",
                                 "Flatten",
                                 "Reshape",
                                 "Permute",
                                 "LayerNormalization",
                                 "BatchNormalization",
                                 "LSTM",
                                 "GRU",
                                 "Bidirectional",
                                 "SimpleRNN",
                                 "MultiHeadAttention",
                                 "Add",
                                 "Subtract",
                                 "Multiply",
                                 "Average",
                                 "Maximum",
                                 "Minimum",
                                 "Concatenate",
                                 "Conv1D",
                                 "Conv2D",
                                 "DepthwiseConv1D",
                                 "SeparableConv1D",
                                 "SeparableConv2D",
                                 "MaxPooling1D",
                                 "MaxPooling2D",
                                 "AveragePooling1D",
                                 "AveragePooling2D",
                                 "GlobalAveragePooling1D",
                                 "GlobalAveragePooling2D",
                                 "GlobalMaxPooling1D",
                                 "GlobalMaxPooling2D",
                                 "ReLU",
                                 "LeakyReLU",
                                 "ELU",
                                 "Softmax",
                                 "Dropout",
                                 "ZeroPadding2D"}) {
    CAPTURE(name);
    bool found = false;
    for (const Row& row : table()) {
      if (row.name != name) continue;
      const auto [model, x] = surrounded(row);
      model.predict_on_batch(x);
      found = found || nn::explain(model).find(" called") == std::string::npos;
    }
    const bool convolves = name.find("Conv") != std::string::npos;
    CHECK((found || (convolves && !has_avx512())));
  }
}

TEST_CASE("ops between layers become nodes of the network") {
  const Tensor in = nn::Input({6, 4});
  Tensor x = nn::Dense(8)(in);
  x = K::relu(x) * 2 + 1 - K::tanh(x);
  x = K::maximum(x, nn::Dense(1)(in)) / 3;
  x = 1 - K::concatenate({K::sigmoid(x), -x}, -1);
  const nn::Model model(in, nn::Dense(2)(K::batch_flatten(x)));
  const Tensor given = normal({5, 6, 4}, 1, "float32");
  check_agreement(model.predict_on_batch(given), eager(model, {given}));
  if (K::backend() == "onednn") CHECK(nn::explain(model).find(" called") == std::string::npos);
}

TEST_CASE("each layer refuses bad inputs in a plan, too, with its name") {
  for (const Row& row : table()) {
    if (row.bad_inputs.size() != 1) continue;
    CAPTURE(row.name);
    const nn::Layer layer = row.make();
    const nn::Sequential model({layer});
    CHECK_THROWS_WITH_AS(model.predict_on_batch(K::ones(row.bad_inputs[0])),
                         doctest::Contains(layer.name().c_str()), ktape::Error);
    CHECK_FALSE(layer.built());
  }
}
