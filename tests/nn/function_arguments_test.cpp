#include "../close.hpp"
#include "../hdf5.hpp"
#include "../ops/check.hpp"
#include "data/files.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace A = ktape::nn::activations;
namespace L = ktape::nn::losses;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;

// Functions of the library, and of the program, where an object is asked for.
namespace {

struct Powers {
  double exponent = 2;
};
Tensor power(const Tensor& x, const Powers& options = {}) { return K::pow(x, options.exponent); }
Tensor scaled(const Tensor& x, double by) { return x * by; }
Tensor plain(const Tensor& x) { return x + 1; }
Tensor error(const Tensor& y_true, const Tensor& y_pred) { return K::mean(K::abs(y_true - y_pred), -1); }

std::string name_of(const nn::ActivationFunction& f) { return f.to_value().string(); }

}  // namespace

TEST_CASE("each of Keras's activations, given as a function, is the one of its name") {
  const std::vector<std::pair<const char*, nn::ActivationFunction>> all = {
      {"relu", A::relu},
      {"relu6", A::relu6},
      {"leaky_relu", A::leaky_relu},
      {"elu", A::elu},
      {"selu", A::selu},
      {"celu", A::celu},
      {"gelu", A::gelu},
      {"glu", A::glu},
      {"silu", A::silu},
      {"mish", A::mish},
      {"sigmoid", A::sigmoid},
      {"hard_sigmoid", A::hard_sigmoid},
      {"hard_silu", A::hard_silu},
      {"hard_tanh", A::hard_tanh},
      {"hard_shrink", A::hard_shrink},
      {"soft_shrink", A::soft_shrink},
      {"tanh", A::tanh},
      {"tanh_shrink", A::tanh_shrink},
      {"threshold", A::threshold},
      {"softmax", A::softmax},
      {"log_softmax", A::log_softmax},
      {"log_sigmoid", A::log_sigmoid},
      {"softplus", A::softplus},
      {"softsign", A::softsign},
      {"squareplus", A::squareplus},
      {"exponential", A::exponential},
      {"linear", A::linear},
      {"sparsemax", A::sparsemax},
      {"sparse_plus", A::sparse_plus},
      {"sparse_sigmoid", A::sparse_sigmoid},
      {"silu", A::swish},
      {"hard_silu", A::hard_swish}};
  const Tensor x = normal({3, 4}, 1, "float32");
  std::size_t known = 0;
  for (const auto& [given_name, f] : all) {
    const auto& name = given_name;
    CAPTURE(name);
    CHECK(name_of(f) == name);
    CHECK(values(f(x)) == values(nn::ActivationFunction(name)(x)));
    ++known;
  }
  CHECK(known == nn::registered_names("activation").size() + 2);
}

TEST_CASE("K's functions are activations, too") {
  const std::vector<std::pair<const char*, nn::ActivationFunction>> all = {
      {"relu", K::relu},         {"elu", K::elu},
      {"softmax", K::softmax},   {"log_softmax", K::log_softmax},
      {"sigmoid", K::sigmoid},   {"softplus", K::softplus},
      {"softsign", K::softsign}, {"gelu", K::gelu},
      {"tanh", K::tanh},         {"exponential", K::exp}};
  const Tensor x = normal({3, 4}, 1, "float32");
  for (const auto& [given_name, f] : all) {
    const auto& name = given_name;
    CAPTURE(name);
    CHECK(name_of(f) == name);
  }
  const nn::ActivationFunction hard = K::hard_sigmoid;
  CHECK(close(hard(x), K::hard_sigmoid(x)));
  CHECK(hard.to_value().config().at("config").config().at("slope").number() == 0.2);
}

TEST_CASE("functions of the program are activations, with their defaults for options") {
  const Tensor x = K::constant({1.f, 3.f});
  CHECK(values(nn::ActivationFunction(plain)(x)) == Values{2, 4});
  CHECK(values(nn::ActivationFunction(power)(x)) == Values{1, 9});
  CHECK(values(nn::ActivationFunction(K::square)(x)) == Values{1, 9});
  CHECK(values(nn::ActivationFunction([](const Tensor& x) { return scaled(x, 2); })(x)) == Values{2, 6});
  CHECK(nn::ActivationFunction(plain).class_name() == "function");
  CHECK_THROWS_WITH_AS(
      nn::ActivationFunction{scaled},
      "[activation] a function of more than 1 arguments must be wrapped in a lambda with fixed values "
      "for the others: received a function of 2",
      ValueError);
}

TEST_CASE("losses and metrics are given as functions") {
  const Tensor t = K::constant({{0.f, 1.f}, {1.f, 0.f}}), p = K::constant({{0.2f, 0.7f}, {0.6f, 0.1f}});
  const std::vector<std::pair<const char*, nn::Loss>> all = {
      {"mean_squared_error", L::mean_squared_error},
      {"mean_squared_error", L::mse},
      {"mean_absolute_error", L::MAE},
      {"mean_absolute_percentage_error", L::mape},
      {"mean_squared_logarithmic_error", L::msle},
      {"huber", L::huber},
      {"log_cosh", L::logcosh},
      {"cosine_similarity", L::cosine_similarity},
      {"binary_crossentropy", L::binary_crossentropy},
      {"binary_crossentropy", K::binary_crossentropy},
      {"binary_focal_crossentropy", L::binary_focal_crossentropy},
      {"categorical_crossentropy", L::categorical_crossentropy},
      {"categorical_crossentropy", K::categorical_crossentropy},
      {"categorical_focal_crossentropy", L::categorical_focal_crossentropy},
      {"kl_divergence", L::kullback_leibler_divergence},
      {"poisson", L::poisson},
      {"hinge", L::hinge},
      {"squared_hinge", L::squared_hinge},
      {"categorical_hinge", L::categorical_hinge},
      {"dice", L::dice},
      {"tversky", L::tversky}};
  for (const auto& [given_name, loss] : all) {
    const auto& name = given_name;
    CAPTURE(name);
    CHECK(loss.name() == name);
    CHECK(loss.class_name() == nn::Loss(name).class_name());
    CHECK(values(loss(t, p)) == values(nn::Loss(name)(t, p)));
  }
  CHECK(nn::Loss(L::sparse_categorical_crossentropy).class_name() == "SparseCategoricalCrossentropy");
  CHECK(nn::Loss(L::categorical_generalized_cross_entropy).class_name() ==
        "CategoricalGeneralizedCrossEntropy");
  CHECK(nn::Loss(L::circle).class_name() == "Circle");
  CHECK(nn::Loss(L::ctc).class_name() == "CTC");
  CHECK(nn::Loss(error).class_name() == "function");
}

TEST_CASE("a function as a metric is reported under its name") {
  const Tensor t = K::constant({{0.f, 1.f}, {1.f, 0.f}}), p = K::constant({{0.2f, 0.7f}, {0.6f, 0.1f}});
  const auto result = [&](const nn::Metric& metric) { return metric(t, p).item<double>(); };
  CHECK(nn::Metric(L::mean_absolute_error).name() == "mean_absolute_error");
  CHECK(nn::Metric(nn::metrics::mae).class_name() == "MeanAbsoluteError");
  CHECK(nn::Metric(nn::metrics::binary_accuracy).class_name() == "BinaryAccuracy");
  CHECK(result(nn::metrics::categorical_accuracy) == result("categorical_accuracy"));
  CHECK(result(nn::metrics::top_k_categorical_accuracy) == 1);
  // The metric of the name is the negative of the function.
  const nn::Metric similarity = L::cosine_similarity;
  CHECK(similarity.name() == "cosine_similarity");
  CHECK(result(similarity) == -result("cosine_similarity"));
  const nn::Metric dice = L::dice;
  CHECK(dice.name() == "dice");
  CHECK(result(dice) == doctest::Approx(K::mean(L::dice(t, p)).item<double>()));
  CHECK(nn::Metric(error).name() == "function");
}

TEST_CASE("accuracies as functions give a number for each sample") {
  const Tensor p = K::constant({{0.1f, 0.7f, 0.2f}, {0.6f, 0.1f, 0.3f}});
  namespace M = nn::metrics;
  CHECK(values(M::sparse_categorical_accuracy(ints({1, 2}), p)) == Values{1, 0});
  CHECK(values(M::categorical_accuracy(K::one_hot(ints({1, 2}), 3), p)) == Values{1, 0});
  CHECK(values(M::sparse_top_k_categorical_accuracy(ints({1, 2}), p, 2)) == Values{1, 1});
  CHECK(values(M::top_k_categorical_accuracy(K::one_hot(ints({1, 1}), 3), p, 2)) == Values{1, 0});
  CHECK(values(M::binary_accuracy(K::constant({{1.f}, {0.f}}), K::constant({{0.4f}, {0.4f}}), 0.3)) ==
        Values{1, 0});
}

TEST_CASE("K::zeros and K::ones are initializers") {
  const nn::Dense dense(2, {.kernel_initializer = K::ones, .bias_initializer = K::zeros});
  CHECK(values(dense(K::ones({1, 3}))) == Values{3, 3});
  CHECK(dense.get_config().at("kernel_initializer").config().at("class_name").string() == "Ones");
}

TEST_CASE("models with functions as arguments are saved, loaded and cloned in every format" * needs_hdf5) {
  const Files files;
  const nn::Sequential model(
      {nn::Input({4, 3}),
       nn::Bidirectional(nn::LSTM(
           3, {.activation = A::relu, .recurrent_activation = K::sigmoid, .return_sequences = true})),
       nn::TimeDistributed(nn::Dense(2, {.activation = K::softplus})), nn::GRU(2, {.activation = A::tanh}),
       nn::Activation(K::relu), nn::Dense(1, {.activation = K::sigmoid, .kernel_initializer = K::ones})});
  model.compile({.optimizer = "sgd", .loss = L::binary_crossentropy, .metrics = {L::mean_absolute_error}});
  const Tensor x = normal({5, 4, 3}, 1, "float32"), y = K::ones({5, 1});
  model.train_on_batch(x, y);
  const nn::Logs logs = model.test_on_batch(x, y);
  CHECK(logs.contains("mean_absolute_error"));
  CHECK(model.get_layer(-1).get_config().at("activation") == nn::Value("sigmoid"));
  const nn::Model cloned = nn::clone_model(model);
  cloned.set_weights(model.get_weights());
  CHECK(values(cloned.predict(x, {.verbose = 0})) == values(model.predict(x, {.verbose = 0})));
  for (const std::string name : {"model.ktape", "model.keras", "model.h5", "model.json"}) {
    CAPTURE(name);
    const std::string path = files.folder() + '/' + name;
    model.save(path);
    const nn::Model again = nn::load_model(path);
    CHECK(values(again.predict(x, {.verbose = 0})) == values(model.predict(x, {.verbose = 0})));
    CHECK(again.get_layer(-1).get_config().at("activation") == nn::Value("sigmoid"));
    if (name == "model.json") continue;
    const nn::Logs same = again.test_on_batch(x, y);
    CHECK(same["loss"] == logs["loss"]);
    CHECK(same["mean_absolute_error"] == logs["mean_absolute_error"]);
  }
}

TEST_CASE("functions that are no classes of metrics are restored from files" * needs_hdf5) {
  const Files files;
  const nn::Sequential model({nn::Dense(2, {.activation = A::softmax, .input_shape = {3}})});
  model.compile(
      {.loss = L::categorical_crossentropy, .metrics = {L::dice, L::cosine_similarity, "cosine_similarity"}});
  const Tensor x = normal({6, 3}, 1, "float32"), y = K::one_hot(ints({0, 1, 1, 0, 1, 0}), 2);
  model.train_on_batch(x, y);
  const nn::Logs logs = model.test_on_batch(x, y);
  CHECK(logs["cosine_similarity"] == -logs["cosine_similarity_1"]);
  for (const std::string name : {"model.ktape", "model.keras", "model.h5"}) {
    CAPTURE(name);
    model.save(files.folder() + '/' + name);
    CHECK(nn::load_model(files.folder() + '/' + name).test_on_batch(x, y) == logs);
  }
}

TEST_CASE("a Lambda takes a function with options") {
  const Tensor x = K::constant({-1.f, 2.f});
  CHECK(values(nn::Lambda(A::relu)(x)) == Values{0, 2});
  CHECK(values(nn::Lambda(power)(x)) == Values{1, 4});
  CHECK(values(nn::Lambda(K::square)(x)) == Values{1, 4});
}
