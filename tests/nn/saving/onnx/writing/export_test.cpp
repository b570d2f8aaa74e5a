#include "../../../../ops/check.hpp"
#include "../../../layers/conformance/models.hpp"
#include "../../../layers/conformance/table.hpp"
#include "../../../policies.hpp"
#include "onnx_runtime.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using exported::Cases;
using ktape::IOError;
using ktape::ValueError;

namespace {

/// Compares all cases with ONNX Runtime.
void check_with_runtime(const Cases& cases) {
  cases.run([](const std::string& name, const std::string& reason) {
    CHECK_MESSAGE(reason.empty(), name, ": ", reason);
  });
}

}  // namespace

namespace {

/// Exports a model of each layer of the table, made under a policy, and compares what others compute.
void check_every_layer(const std::string& policy, bool with_runtime, double tolerance) {
  const PolicyScope scope(policy);
  Cases cases;
  for (const Row& row : table()) {
    CAPTURE(row.name);
    const nn::Layer layer = row.make();
    const std::vector<Tensor> inputs = inputs_of(row);
    layer.apply(inputs);
    int seed = 100;
    for (const ktape::Variable& weight : layer.weights())  // no weight stays at its initial zeros and ones
      if (weight.dtype().is_floating())
        K::set_value(weight, K::abs(normal(weight.shape(), seed++, weight.dtype())) * 0.5 + 0.1);
    std::string reason;
    try {
      reason = cases.add(row.name, model_of(layer, inputs), inputs, {}, tolerance);
    } catch (const ktape::Error& error) {
      reason = error.what();
    }
    CHECK_MESSAGE(reason.empty(), row.name, ": ", reason);
  }
  if (with_runtime) check_with_runtime(cases);
}

}  // namespace

TEST_CASE("onnx: every layer is exported") { check_every_layer("float32", true, 1e-5); }

TEST_CASE("onnx: every layer is exported with its dtypes under a mixed policy") {
  check_every_layer("mixed_float16", true, 4e-3);
  check_every_layer("mixed_bfloat16", false, 3e-2);
}

TEST_CASE("onnx: recurrent layers with directions, states, masks and cells of their own") {
  Cases cases;
  const Tensor x = normal({3, 5, 4}, 1, "float32");
  Tensor padded = K::concatenate({x, K::zeros({1, 5, 4})}, 0);
  padded = K::concatenate({K::slice(padded, {0, 0, 0}, {4, 3, 4}), K::zeros({4, 2, 4})}, 1);
  const auto check = [&](const std::string& name, const nn::Layer& layer, bool masked = false) {
    const Tensor in = nn::Input({ktape::None, 4});
    const nn::Model model(in, layer.apply(masked ? nn::Masking()(in) : in));
    int seed = 7;
    for (const ktape::Variable& weight : model.weights())
      K::set_value(weight, normal(weight.shape(), seed++, "float32"));
    std::string reason;
    try {
      reason = cases.add(name, model, {masked ? padded : x});
    } catch (const ktape::Error& error) {
      reason = error.what();
    }
    CHECK_MESSAGE(reason.empty(), name, ": ", reason);
  };
  for (const bool sequences : {false, true})
    for (const bool backwards : {false, true}) {
      const std::string way = std::string(sequences ? "_sequences" : "") + (backwards ? "_backwards" : "");
      check("lstm" + way,
            nn::LSTM(3, {.return_sequences = sequences, .return_state = true, .go_backwards = backwards}));
      check("gru" + way,
            nn::GRU(3, {.return_sequences = sequences, .return_state = true, .go_backwards = backwards}));
      check("rnn" + way, nn::SimpleRNN(3, {.return_sequences = sequences, .go_backwards = backwards}));
      check("masked_lstm" + way, nn::LSTM(3, {.return_sequences = sequences, .go_backwards = backwards}),
            true);
      check("masked_gru" + way, nn::GRU(3, {.return_sequences = sequences, .go_backwards = backwards}), true);
    }
  check("gru_before", nn::GRU(3, {.reset_after = false}));
  check("rnn_relu", nn::SimpleRNN(3, {.activation = "relu"}));
  check("lstm_without_bias", nn::LSTM(3, {.use_bias = false}));
  check("lstm_of_formulas", nn::LSTM(3, {.activation = "relu"}));
  check("stacked_cells",
        nn::RNN(std::vector<nn::Layer>{nn::LSTMCell(3), nn::GRUCell(2)}, {.return_sequences = true}));
  check("bidirectional", nn::Bidirectional(nn::LSTM(3, {.return_sequences = true})));
  check("masked_bidirectional",
        nn::Bidirectional(nn::GRU(3, {.return_sequences = true}), {.merge_mode = "sum"}), true);
  check_with_runtime(cases);
}

namespace {

struct ResidualImpl : nn::ModelImpl {
  nn::Dense up = add_layer(nn::Dense(8, {.activation = "relu", .name = "up"}));
  nn::Dense down = add_layer(nn::Dense(4, {.name = "down"}));
  ktape::Variable scale;

  void build(const Shape&) override { scale = add_weight("scale", {4}, {.initializer = "ones"}); }
  Tensor call(const Tensor& x) override {
    const Tensor y = down(up(x)) * scale;
    return K::softmax(x + y) + K::mean(K::square(y), -1, true);
  }
};
using Residual = nn::ModelOf<ResidualImpl>;

}  // namespace

TEST_CASE("onnx: functional models with ops, models of classes, and shared layers") {
  Cases cases;
  const auto check = [&](const std::string& name, const nn::Model& model, const std::vector<Tensor>& inputs,
                         const nn::ExportOptions& options = {}) {
    std::string reason;
    try {
      reason = cases.add(name, model, inputs, options);
    } catch (const ktape::Error& error) {
      reason = error.what();
    }
    CHECK_MESSAGE(reason.empty(), name, ": ", reason);
  };
  const Tensor a = nn::Input({4}, {.name = "left"}), b = nn::Input({4}, {.name = "right"});
  const nn::Dense shared(3, {.name = "shared"});
  const Tensor sum = shared(a) * 2 + shared(b), part = sum[{ktape::All, ktape::Slice(0, 2)}];
  const Tensor joined = K::concatenate({K::exp(part), K::where(sum > 0, sum, -sum)});
  const nn::Model model({a, b}, {joined, K::expand_dims(K::max(sum, 1), 1)}, {.name = "ops"});
  check("functional", model, {normal({5, 4}, 1, "float32"), normal({5, 4}, 2, "float32")});
  const nn::Model again = nn::onnx::load(cases.path("functional"));
  CHECK(again.impl().input_names() == std::vector<std::string>{"left", "right"});
  CHECK(again.impl().output_names() == model.impl().output_names());

  const Residual residual;
  residual(normal({2, 4}, 1, "float32"));
  check("class", residual, {normal({7, 4}, 3, "float32")});
  check(
      "signature", residual, {normal({2, 4}, 3, "float32")},
      {.input_signature = {{.shape = {2, 4}, .dtype = "float32", .name = "features"}}, .opset_version = 17});
  CHECK(nn::onnx::load(cases.path("signature")).impl().input_names() == std::vector<std::string>{"features"});

  const nn::Sequential nested({nn::Input({4}), nn::Dense(4), nn::Sequential({nn::Input({4}), nn::Dense(2)})});
  for (const int opset : {17, 18, 19, 20, 21})
    check("opset_" + std::to_string(opset), nested, {normal({3, 4}, 1, "float32")}, {.opset_version = opset});
  check_with_runtime(cases);
}

TEST_CASE("onnx: unknown extents, masks of an embedding, and images of any size") {
  Cases cases;
  const auto check = [&](const std::string& name, const nn::Model& model, const std::vector<Tensor>& inputs) {
    std::string reason;
    try {
      reason = cases.add(name, model, inputs);
    } catch (const ktape::Error& error) {
      reason = error.what();
    }
    CHECK_MESSAGE(reason.empty(), name, ": ", reason);
  };
  const nn::Sequential images(
      {nn::Input({ktape::None, ktape::None, 3}), nn::Conv2D(4, 3, {.strides = 2, .padding = "same"}),
       nn::BatchNormalization(), nn::ReLU(), nn::MaxPooling2D(2, {.padding = "same"}),
       nn::Conv2DTranspose(2, 3, {.strides = 2, .padding = "same", .activation = "tanh"}),
       nn::UpSampling2D(2), nn::GlobalAveragePooling2D()});
  check("images", images, {normal({2, 17, 22, 3}, 1, "float32")});
  const Tensor words = nn::Input({ktape::None}, {.dtype = "int32"});
  Tensor x = nn::Embedding(11, 8, {.mask_zero = true})(words);
  x = nn::LayerNormalization()(x + nn::MultiHeadAttention(2, 4)({x, x}));
  x = nn::GlobalAveragePooling1D()(nn::LSTM(5, {.return_sequences = true})(x));
  check("words", nn::Model(words, nn::Dense(2, {.activation = "softmax"})(x)),
        {ints({{3, 4, 5, 0, 0}, {1, 2, 0, 0, 0}, {7, 8, 9, 10, 1}})});
  const Tensor steps = nn::Input({ktape::None, 6});
  check("causal", nn::Model(steps, nn::MultiHeadAttention(2, 3)({steps, steps}, {.use_causal_mask = true})),
        {normal({2, 5, 6}, 1, "float32")});
  check_with_runtime(cases);
}

TEST_CASE("onnx: large weights in a second file, float16, texts and metadata") {
  Cases cases;
  const nn::Sequential model({nn::Input({16}), nn::Dense(32), nn::Dense(3)}, {.name = "net"});
  CHECK(cases.add("outside", model, {normal({2, 16}, 1, "float32")}, {.most_weights_inside = 1000}) == "");
  CHECK(std::filesystem::file_size(cases.path("outside") + ".data") >= 16 * 32 * 4);
  CHECK(std::filesystem::file_size(cases.path("outside")) < 2500);
  const nn::Sequential half({nn::Input({4}, {.dtype = "float16"}), nn::Dense(3, {.dtype = "float16"})});
  CHECK(cases.add("half", half, {normal({2, 4}, 1, "float16")}, {}, 2e-3) == "");
  model.export_to(cases.path("outside"), {.doc_string = "for people", .metadata = {{"author", "somebody"}}});
  const std::string bytes = exported::content_of(cases.path("outside"));
  for (const char* text : {"for people", "author", "somebody", "ktape", "net"}) {
    CAPTURE(text);
    CHECK(bytes.find(text) != std::string::npos);
  }
  check_with_runtime(cases);
}

namespace {

struct NoisyImpl : nn::LayerImpl {
  NoisyImpl() : LayerImpl("Noisy") {}
  Tensor call(const Tensor& x) override { return x + K::random_normal(K::shape(x)); }
};

}  // namespace

namespace {

/// A layer with a branch for training, which also asks the learning phase and the argument.
struct NoisyInTrainingImpl : nn::LayerImpl {
  NoisyInTrainingImpl() : LayerImpl("NoisyInTraining") {}
  Tensor call(const Tensor& x, const nn::CallArguments& arguments) override {
    const Tensor noisy = K::in_train_phase([&] { return x + K::random_normal(K::shape(x)); },
                                           [&] { return x * 2; }, arguments.training);
    return K::in_test_phase(noisy + 1, noisy + K::random_uniform(K::shape(x)));
  }
};
using NoisyInTraining = nn::LayerOf<NoisyInTrainingImpl>;

/// A layer that marks the steps whose first number is not 0 as valid.
struct MarkerImpl : nn::LayerImpl {
  MarkerImpl() : LayerImpl("Marker") { supports_masking = true; }
  Tensor call(const Tensor& x) override { return x * 3; }
  Tensor compute_mask(const Tensor& x, const Tensor&) override {
    return K::not_equal(x[{ktape::All, ktape::All, 0}], 0);
  }
};
using Marker = nn::LayerOf<MarkerImpl>;

/// A layer that sums the valid steps.
struct ValidSumImpl : nn::LayerImpl {
  ValidSumImpl() : LayerImpl("ValidSum") {}
  Tensor call(const Tensor& x, const nn::CallArguments& arguments) override {
    return K::sum(x * K::expand_dims(K::cast(arguments.mask[0], "float32")), 1);
  }
};
using ValidSum = nn::LayerOf<ValidSumImpl>;

/// A model with two inputs and two outputs that have names.
struct TwoWaysImpl : nn::ModelImpl {
  nn::Dense sum = add_layer(nn::Dense(3, {.name = "sum"}));
  NoisyInTraining noisy = add_layer(NoisyInTraining());

  std::vector<Tensor> call(const std::vector<Tensor>& inputs) {
    const Tensor both = sum(inputs[0]) + sum(inputs[1]);
    return {noisy(both), K::argmax(both)};
  }
  std::vector<std::string> input_names() const override { return {"left", "right"}; }
  std::vector<std::string> output_names() const override { return {"scores", "best"}; }
};
using TwoWays = nn::ModelOf<TwoWaysImpl>;

}  // namespace

TEST_CASE("onnx: own layers run as in prediction, and masks pass between them") {
  Cases cases;
  const Tensor x = normal({4, 5}, 1, "float32"), in = nn::Input({5});
  CHECK(cases.add("phase", nn::Model(in, NoisyInTraining()(nn::Dense(3)(in))), {x}) == "");
  Tensor steps = normal({2, 4, 3}, 2, "float32");
  steps = K::concatenate({steps, K::zeros({2, 2, 3})}, 1);
  const Tensor open = nn::Input({ktape::None, 3});
  CHECK(cases.add("mask", nn::Model(open, ValidSum()(Marker()(open))), {steps}) == "");
  CHECK(cases.add("mask_of_rnn", nn::Model(open, nn::GRU(2)(Marker()(open))), {steps}) == "");
  check_with_runtime(cases);
}

TEST_CASE("onnx: a model class with several inputs and outputs keeps their names") {
  Cases cases;
  const TwoWays model;
  const std::vector<Tensor> inputs{normal({2, 4}, 1, "float32"), normal({2, 4}, 2, "float32")};
  model.apply(inputs);
  CHECK(cases.add("two_ways", model, inputs) == "");
  const nn::Model again = nn::onnx::load(cases.path("two_ways"));
  CHECK(again.impl().input_names() == std::vector<std::string>{"left", "right"});
  CHECK(again.impl().output_names() == std::vector<std::string>{"scores", "best"});
  check_with_runtime(cases);
}

TEST_CASE("onnx: the weights of a shared layer are written once") {
  const Files files;
  const std::string path = files.folder() + "/m.onnx";
  const Tensor a = nn::Input({8, 8, 3}), b = nn::Input({8, 8, 3});
  const nn::Conv2D shared(16, 3, {.name = "shared"});
  const nn::Model model({a, b}, nn::Add()({shared(a), shared(b)}));
  model.export_to(path);
  const nn::FileListing listing = nn::list_file(path);
  int kernels = 0;
  for (const nn::ListedTensor& tensor : listing.tensors) kernels += tensor.shape == Shape{16, 3, 3, 3};
  CHECK(kernels == 1);
}

TEST_CASE("onnx: what has no form is refused by name, and nothing is written") {
  const Files files;
  const std::string path = files.folder() + "/m.onnx";
  const Tensor in = nn::Input({4});
  const nn::Model noisy(in, nn::LayerOf<NoisyImpl>()(nn::Dense(3)(in)));
  CHECK_THROWS_WITH_AS(noisy.export_to(path), Contains("noisy"), ValueError);
  CHECK_THROWS_WITH_AS(noisy.export_to(path),
                       Contains("must have a form in ONNX: received the op 'random_normal'"), ValueError);
  const nn::Sequential plain({nn::Dense(3)});
  CHECK_THROWS_WITH_AS(plain.export_to(path), Contains("the inputs of the model must be known"), ValueError);
  const nn::Model good(in, nn::Dense(3)(in));
  CHECK_THROWS_WITH_AS(good.export_to(path, {.format = "tf"}), Contains("the format must be \"onnx\""),
                       ValueError);
  for (const int opset : {16, 22})
    CHECK_THROWS_WITH_AS(good.export_to(path, {.opset_version = opset}),
                         Contains("opset_version must be in [17, 21]"), ValueError);
  CHECK_THROWS_WITH_AS(good.export_to(files.folder() + "/none/m.onnx"), Contains("none/m.onnx"), IOError);
  const nn::Model two({in, nn::Input({4}, {.name = "b"})}, nn::Add()({in, in}));
  CHECK_THROWS_WITH_AS(two.export_to(path, {.input_signature = {{.shape = {1, 4}, .name = "a"},
                                                                {.shape = {1, 4}, .name = "a"}}}),
                       Contains("names of their own: received 'a' twice"), ValueError);
  CHECK(std::filesystem::is_empty(files.folder()));
}

TEST_CASE("onnx: a model that was loaded is a layer of other models, with open extents") {
  const Files files;
  const nn::Sequential inner({nn::Input({4}), nn::Dense(8, {.activation = "relu"}), nn::Dense(2)});
  inner.export_to(files.folder() + "/m.onnx");
  const nn::Model loaded = nn::onnx::load(files.folder() + "/m.onnx");
  const Tensor in = nn::Input({4}), out = loaded(in);
  CHECK(out.shape() == Shape{None, 2});
  const nn::Model outer(in, K::softmax(out * 2));
  const Tensor x = normal({5, 4}, 1, "float32");
  CHECK(exported::difference(outer(x), K::softmax(inner(x) * 2), 1e-6) == "");
  CHECK(outer.trainable_weights().size() == 4);
  outer.compile({.optimizer = "sgd", .loss = "mse"});
  const double before = outer.test_on_batch(x, K::zeros({5, 2}))["loss"];
  for (int step = 0; step < 20; ++step) outer.train_on_batch(x, K::zeros({5, 2}));
  CHECK(outer.test_on_batch(x, K::zeros({5, 2}))["loss"] < before);
}

TEST_CASE("onnx: a kernel that changes between two calls counts") {
  const Files files;
  const nn::Sequential model({nn::Input({6, 6, 2}), nn::Conv2D(3, 3), nn::Flatten(), nn::Dense(1)});
  model.export_to(files.folder() + "/m.onnx");
  const nn::Model loaded = nn::onnx::load(files.folder() + "/m.onnx");
  const Tensor x = normal({2, 6, 6, 2}, 1, "float32");
  for (const double factor : {1., 2., 0.5}) {
    CAPTURE(factor);
    for (const nn::Model& one : {nn::Model(model), loaded})
      for (const ktape::Variable& weight : one.weights())
        if (weight.shape().rank() == 4) K::set_value(weight, weight.value() * factor);
    for (int call = 0; call < 2; ++call)
      CHECK(exported::difference(loaded.predict(x), model.predict(x), 1e-5) == "");
    const auto slope = [&](const nn::Model& one) {
      const Tensor loss = K::sum(one(x));
      for (const ktape::Variable& weight : one.weights())
        if (weight.shape().rank() == 4) return K::sum(K::square(K::gradients(loss, {weight})[0]));
      return loss;
    };
    CHECK(exported::difference(slope(loaded), slope(model), 1e-4) == "");
  }
}
