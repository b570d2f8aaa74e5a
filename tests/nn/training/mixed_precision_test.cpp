#include "../../ops/check.hpp"
#include "../policies.hpp"

#include <ktape/autograd/tape.hpp>
#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::DType, ktape::None, ktape::Shape, ktape::Tensor, ktape::Variable;

namespace {

/// Returns points around three centres and their classes.
std::pair<Tensor, Tensor> clusters(std::int64_t samples) {
  const Tensor classes =
      K::cast(K::random_uniform({samples}, {.minval = 0, .maxval = 3, .seed = 3}), "int32");
  const Tensor centres = K::constant({{-2., 0.}, {2., 0.}, {0., 2.}}, {.dtype = "float32"});
  return {K::gather(centres, classes) + 0.5 * normal({samples, 2}, 4, "float32"), classes};
}

nn::Sequential classifier() {
  return nn::Sequential({nn::Dense(16, {.activation = "relu", .input_shape = {2}}), nn::BatchNormalization(),
                         nn::Dense(3, {.activation = "softmax", .dtype = "float32"})});
}

/// A layer of each family, and the shape of an input of two samples.
struct Case {
  const char* name;
  nn::Layer (*make)();
  Shape input;
  bool integers = false;
};

const std::vector<Case>& families() {
  static const std::vector<Case> cases{
      {"Dense", [] { return nn::Layer(nn::Dense(3, {.activation = "gelu"})); }, {2, 4}},
      {"EinsumDense",
       [] {
         return nn::Layer(nn::EinsumDense("abc,cd->abd", {None, 3}, {.bias_axes = "d"}));
       },
       {2, 3, 4}},
      {"Conv1D", [] { return nn::Layer(nn::Conv1D(3, 2)); }, {2, 6, 3}},
      {"Conv2D", [] { return nn::Layer(nn::Conv2D(3, 3, {.activation = "relu"})); }, {2, 6, 6, 3}},
      {"DepthwiseConv2D", [] { return nn::Layer(nn::DepthwiseConv2D(3)); }, {2, 6, 6, 3}},
      {"SeparableConv2D", [] { return nn::Layer(nn::SeparableConv2D(4, 3)); }, {2, 6, 6, 3}},
      {"Conv2DTranspose", [] { return nn::Layer(nn::Conv2DTranspose(3, 3)); }, {2, 4, 4, 3}},
      {"MaxPooling2D", [] { return nn::Layer(nn::MaxPooling2D(2)); }, {2, 6, 6, 3}},
      {"AveragePooling2D", [] { return nn::Layer(nn::AveragePooling2D(2)); }, {2, 6, 6, 3}},
      {"GlobalAveragePooling2D", [] { return nn::Layer(nn::GlobalAveragePooling2D()); }, {2, 6, 6, 3}},
      {"BatchNormalization", [] { return nn::Layer(nn::BatchNormalization()); }, {2, 6, 6, 3}},
      {"BatchNormalization without weights",
       [] { return nn::Layer(nn::BatchNormalization({.center = false, .scale = false})); },
       {2, 5}},
      {"LayerNormalization", [] { return nn::Layer(nn::LayerNormalization()); }, {2, 5, 6}},
      {"GroupNormalization", [] { return nn::Layer(nn::GroupNormalization({.groups = 2})); }, {2, 5, 4}},
      {"RMSNormalization", [] { return nn::Layer(nn::RMSNormalization()); }, {2, 5}},
      {"UnitNormalization", [] { return nn::Layer(nn::UnitNormalization()); }, {2, 5}},
      {"Embedding", [] { return nn::Layer(nn::Embedding(7, 3)); }, {2, 5}, true},
      {"SimpleRNN", [] { return nn::Layer(nn::SimpleRNN(3)); }, {2, 4, 3}},
      {"LSTM", [] { return nn::Layer(nn::LSTM(3, {.return_sequences = true})); }, {2, 4, 3}},
      {"GRU", [] { return nn::Layer(nn::GRU(3)); }, {2, 4, 3}},
      {"RNN of cells",
       [] {
         return nn::Layer(nn::RNN({nn::LSTMCell(3), nn::GRUCell(2)}));
       },
       {2, 4, 3}},
      {"Bidirectional", [] { return nn::Layer(nn::Bidirectional(nn::LSTM(3))); }, {2, 4, 3}},
      {"TimeDistributed", [] { return nn::Layer(nn::TimeDistributed(nn::Dense(2))); }, {2, 4, 3}},
      {"ConvLSTM2D", [] { return nn::Layer(nn::ConvLSTM2D(2, 3)); }, {2, 3, 5, 5, 2}},
      {"PReLU", [] { return nn::Layer(nn::PReLU()); }, {2, 5}},
      {"Softmax", [] { return nn::Layer(nn::Softmax()); }, {2, 5}},
      {"Rescaling", [] { return nn::Layer(nn::Rescaling(0.5, {.offset = 1})); }, {2, 5}},
      {"UpSampling2D", [] { return nn::Layer(nn::UpSampling2D(2)); }, {2, 3, 3, 2}},
      {"ZeroPadding2D", [] { return nn::Layer(nn::ZeroPadding2D(1)); }, {2, 3, 3, 2}},
      {"Reshape", [] { return nn::Layer(nn::Reshape({6})); }, {2, 3, 2}},
  };
  return cases;
}

}  // namespace

TEST_CASE("layers of all families compute in 16 bits what they compute in float32, with float32 gradients") {
  K::set_random_seed(2);  // a number near the kink of relu has another gradient after rounding
  for (const std::string& policy : mixed_policies)
    for (const Case& family : families()) {
      CAPTURE(policy);
      CAPTURE(family.name);
      const nn::Layer plain = family.make();
      const PolicyScope scope(policy);
      const nn::Layer mixed = family.make();
      const Tensor x =
          family.integers
              ? K::cast(K::random_uniform(family.input, {.minval = 0, .maxval = 7, .seed = 1}), "int32")
              : normal(family.input, 1, "float32");
      for (const nn::Layer& layer : {plain, mixed}) layer.build(x.shape());
      mixed.set_weights(plain.get_weights());
      for (const bool training : {true, false}) {
        CAPTURE(training);
        const Tensor want = plain(x, {.training = training});
        if (training && std::string(family.name).starts_with("Batch"))
          for (const Variable& weight : plain.non_trainable_weights())
            CHECK(weight.dtype() == DType::Float32);
        const Tensor y = mixed(x, {.training = training});
        CHECK(y.dtype() == computed_in(policy));
        CHECK(close(K::cast(y, "float32"), want, {.rtol = 1e-2, .atol = 1e-2}));
        const std::vector<Variable> weights = mixed.trainable_weights();
        if (weights.empty()) continue;
        const Tensor direction = normal(y.shape(), 2, "float32");
        const auto of = [&](const Tensor& y, const std::vector<Variable>& w) {
          return K::gradients(K::sum(K::cast(y, "float32") * direction), w);
        };
        const auto got = of(y, weights), expected = of(want, plain.trainable_weights());
        for (std::size_t i = 0; i < got.size(); ++i) {
          CHECK(got[i].dtype() == DType::Float32);
          CHECK(close(got[i], expected[i], {.rtol = 2e-2, .atol = 4e-2}));
        }
      }
    }
}

TEST_CASE("the moving statistics of BatchNormalization stay precise") {
  for (const std::string& policy : mixed_policies) {
    const nn::BatchNormalization plain({.momentum = 0.5}), mixed({.momentum = 0.5, .dtype = policy});
    const Tensor x = K::cast(K::cast(100 + normal({64, 3}, 1, "float32"), computed_in(policy)), "float32");
    for (const nn::Layer& layer : {nn::Layer(plain), nn::Layer(mixed)}) layer(x, {.training = true});
    for (int i = 2; i < 4; ++i) CHECK(close(mixed.get_weights()[i], plain.get_weights()[i], {.rtol = 1e-5}));
  }
}

TEST_CASE("attention computes under a mixed policy what it computes in float32") {
  for (const std::string& policy : mixed_policies) {
    const Tensor x = normal({2, 5, 8}, 1, "float32");
    const nn::MultiHeadAttention plain(2, 4), mixed(2, 4, {.dtype = policy});
    const Tensor want = plain({x, x}, {.use_causal_mask = true});
    mixed.build({x.shape(), x.shape()});
    mixed.set_weights(plain.get_weights());
    const Tensor y = mixed({x, x}, {.use_causal_mask = true});
    CHECK(y.dtype() == computed_in(policy));
    CHECK(close(K::cast(y, "float32"), want, {.rtol = 1e-2, .atol = 1e-2}));
    const std::vector<Tensor> scored = mixed.apply({x, x}, {.return_attention_scores = true});
    CHECK(scored[1].dtype() == computed_in(policy));
    const nn::Attention dots({.use_scale = true, .dtype = policy});
    CHECK(dots({x, x}).dtype() == computed_in(policy));
    const nn::AdditiveAttention sums({.dtype = policy});
    CHECK(sums({x, x}).dtype() == computed_in(policy));
  }
}

TEST_CASE("training under a mixed policy reaches what float32 reaches") {
  const auto [x, y] = clusters(240);
  const auto accuracy = [&, x = x, y = y](const std::string& policy) {
    K::set_random_seed(1);
    const PolicyScope scope(policy);
    const nn::Sequential model = classifier();
    model.compile(
        {.optimizer = nn::Adam(0.02), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
    CHECK((model.optimizer().class_name() == "LossScaleOptimizer") == (policy == "mixed_float16"));
    model.fit(x, y, {.epochs = 6, .verbose = 0});
    for (const Variable& weight : model.weights()) CHECK(weight.dtype() == DType::Float32);
    for (const Variable& state : model.optimizer().variables())
      if (state.dtype().is_floating()) CHECK(state.dtype() == DType::Float32);
    return model.evaluate(x, y, {.verbose = 0})["accuracy"];
  };
  const double want = accuracy("float32");
  CHECK(want > 0.9);
  for (const std::string& policy : mixed_policies) CHECK(accuracy(policy) > want - 0.03);
}

TEST_CASE("compile scales losses for mixed_float16 only, and not where auto_scale_loss is false") {
  const PolicyScope scope("mixed_float16");
  const nn::Sequential model = classifier();
  model.compile({.optimizer = "sgd", .loss = "mse", .auto_scale_loss = false});
  CHECK(model.optimizer().class_name() == "SGD");
  model.compile({.optimizer = "sgd", .loss = "mse"});
  CHECK(model.optimizer().class_name() == "LossScaleOptimizer");
  CHECK(model.optimizer().name() == "loss_scale_optimizer");
  const nn::Optimizer before = model.optimizer();
  model.compile({.optimizer = before, .loss = "mse"});
  CHECK(model.optimizer().is(before));
  nn::set_dtype_policy("float32");
  const nn::Sequential plain({nn::Dense(1, {.input_shape = {2}})});
  plain.compile({.optimizer = "sgd", .loss = "mse"});
  CHECK(plain.optimizer().class_name() == "SGD");
  const nn::Sequential with_layer({nn::Dense(2, {.input_shape = {2}, .dtype = "mixed_float16"})});
  with_layer.compile({.optimizer = "sgd", .loss = "mse"});
  CHECK(with_layer.optimizer().class_name() == "LossScaleOptimizer");
}

TEST_CASE("a batch with an infinite gradient changes no weight and halves the factor") {
  const PolicyScope scope("mixed_float16");
  const nn::Sequential model({nn::Dense(1, {.input_shape = {1}})});
  model.compile({.optimizer = nn::SGD(0.1), .loss = "mse"});
  const Tensor x = K::constant({{1.}}, {.dtype = "float32"});
  const std::vector<Tensor> before = model.get_weights();
  model.train_on_batch(x, K::constant({{60000.}}, {.dtype = "float32"}));
  CHECK(values(model.get_weights()[0]) == values(before[0]));
  const auto& scaled = static_cast<const nn::LossScaleOptimizer&>(model.optimizer());
  CHECK(scaled.dynamic_scale().item() == 16384);
  CHECK(scaled.iterations().item<std::int64_t>() == 0);
}

TEST_CASE("losses, metrics, sample weights, add_loss and regularizers work with outputs of 16 bits") {
  struct LossyImpl : nn::LayerImpl {
    LossyImpl() : nn::LayerImpl("Lossy") {}
    Tensor call(const Tensor& x) override {
      add_loss(K::mean(K::square(x)));
      add_metric(x, "seen");
      return x;
    }
  };
  const auto [x, y] = clusters(48);
  for (const std::string& policy : mixed_policies) {
    const PolicyScope scope(policy);
    const nn::Sequential model(
        {nn::Dense(
             8,
             {.kernel_regularizer = nn::L2(0.01), .activity_regularizer = nn::L2(0.01), .input_shape = {2}}),
         nn::LayerOf<LossyImpl>(), nn::Dropout(0.1), nn::Dense(3, {.activation = "softmax"})});
    model.compile({.optimizer = "adam",
                   .loss = "sparse_categorical_crossentropy",
                   .metrics = {"accuracy", "sparse_categorical_crossentropy"},
                   .weighted_metrics = {"accuracy"}});
    CHECK(model.output().dtype() == computed_in(policy));
    const nn::History history = model.fit(x, y, {.epochs = 2, .verbose = 0, .sample_weight = K::ones({48})});
    CHECK(std::isfinite(history["loss"].back()));
    const Tensor loss = model.impl().compute_loss({x, y}, {nn::Layer(model)(x)});
    CHECK(loss.dtype() == DType::Float32);
  }
}

TEST_CASE("frozen layers stay as they are under a mixed policy") {
  for (const std::string& policy : mixed_policies) {
    const PolicyScope scope(policy);
    const nn::Sequential model = classifier();
    model.layers()[0].set_trainable(false);
    model.compile({.optimizer = "sgd", .loss = "sparse_categorical_crossentropy"});
    const std::vector<Tensor> frozen = model.layers()[0].get_weights(),
                              head = model.layers()[2].get_weights();
    const auto [x, y] = clusters(32);
    model.fit(x, y, {.verbose = 0});
    CHECK(values(model.layers()[0].get_weights()[0]) == values(frozen[0]));
    CHECK(values(model.layers()[2].get_weights()[0]) != values(head[0]));
  }
}

TEST_CASE("gradients with respect to inputs, and gradients of gradients, pass a mixed model") {
  for (const std::string& policy : mixed_policies) {
    const PolicyScope scope(policy);
    const nn::Sequential critic({nn::Dense(8, {.activation = "tanh", .input_shape = {2}}), nn::Dense(1)});
    const Tensor x = normal({4, 2}, 5, "float32");
    ktape::GradientTape outer;
    outer.watch(x);
    ktape::GradientTape inner;
    inner.watch(x);
    const Tensor slope = inner.gradient(K::sum(K::cast(critic(x), "float32")), x);
    CHECK(slope.dtype() == DType::Float32);
    const std::vector<Variable> weights = critic.trainable_weights();
    const std::vector<Tensor> second = K::gradients(K::mean(K::square(slope)), weights);
    CHECK(second[0].dtype() == DType::Float32);
  }
}

TEST_CASE("predict and K::function compute what the layers compute") {
  for (const std::string& policy : mixed_policies) {
    const PolicyScope scope(policy);
    const Tensor in = nn::Input({8, 8, 3});
    const Tensor features = nn::GlobalAveragePooling2D()(nn::BatchNormalization()(nn::Conv2D(4, 3)(in)));
    const nn::Model model(in, nn::Dense(3, {.activation = "softmax", .dtype = "float32"})(features));
    const Tensor x = normal({2, 8, 8, 3}, 1, "float32");
    const Tensor want = model(x, {.training = false});
    CHECK(want.dtype() == DType::Float32);
    // A plan rounds fewer values to bfloat16 than the layers do.
    const Tensor predicted = model.predict(x, {.verbose = 0});
    CHECK(close(predicted, want, {.rtol = 0.01}));
    CHECK(values(model.predict_on_batch(x)[0]) == values(predicted));
    for (const bool compile : {false, true})
      CHECK(values(K::function({in}, {model.output()}, {}, {.compile = compile})({x})[0]) == values(want));
  }
}

TEST_CASE("what normalizations keep for the backward pass has 16 bits") {
  const auto kept = [](const std::string& policy, nn::Layer (*make)()) {
    const PolicyScope scope(policy);
    const nn::Sequential model(std::vector<nn::Layer>{make(), make(), make(), make(), make()});
    const Tensor x = normal({512, 64}, 1, "float32");
    model(x, {.training = true});
    const std::int64_t before = ktape::memory_stats().live_bytes;
    const Tensor y = model(x, {.training = true});
    return static_cast<double>(ktape::memory_stats().live_bytes - before);
  };
  for (const std::string& policy : mixed_policies)
    for (nn::Layer (*const make)() : {+[] { return nn::Layer(nn::BatchNormalization()); },
                                      +[] { return nn::Layer(nn::LayerNormalization()); },
                                      +[] { return nn::Layer(nn::RMSNormalization()); }})
      CHECK(kept(policy, make) < 0.75 * kept("float32", make));
}
