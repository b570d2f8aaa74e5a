#include "../../close.hpp"
#include "../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor, ktape::ValueError;

namespace {

Tensor hits(const Tensor& y_true, const Tensor& y_pred) {
  return K::cast(K::equal(y_true, K::round(y_pred)), "float32");
}

/// Returns a model of the outputs "a" and "b".
nn::Model two_outputs() {
  const Tensor in = nn::Input({3});
  return nn::Model(in, {nn::Dense(1, {.name = "a"})(in), nn::Dense(1, {.name = "b"})(in)});
}

/// Returns the names of the logs of metrics, in their order.
std::vector<std::string> names_of(const nn::OutputMetrics& metrics) {
  const nn::Model model = two_outputs();
  model.compile({.loss = "mse", .metrics = metrics});
  std::vector<std::string> names;
  for (const auto& [name, value] :
       model.evaluate(K::ones({4, 3}), {K::ones({4, 1}), K::ones({4, 1})}, {.verbose = 0}))
    if (name.find("loss") == std::string::npos) names.push_back(name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a list of metrics holds for every output, a list of lists for the outputs in their order") {
  const auto own = [](const Tensor& y_true, const Tensor& y_pred) { return K::abs(y_true - y_pred); };
  CHECK(names_of({"mae"}) == Names{"a_mae", "b_mae"});
  CHECK(names_of({"mae", "mse"}) == Names{"a_mae", "a_mse", "b_mae", "b_mse"});
  CHECK(names_of({{"mae"}, {"mse"}}) == Names{"a_mae", "b_mse"});
  CHECK(names_of({{"mae", "mse"}, {"mse"}}) == Names{"a_mae", "a_mse", "b_mse"});
  CHECK(names_of({{"mae", nn::RootMeanSquaredError()}, {nn::R2Score(), "mse"}}).size() == 4);
  CHECK(names_of({"mae", {"mse", "mae"}}) == Names{"a_mae", "b_mse", "b_mae"});
  CHECK(names_of({{}, {"mse"}}) == Names{"b_mse"});
  CHECK(names_of({{hits}, {nn::losses::mean_squared_error}}) == Names{"a_function", "b_mean_squared_error"});
  CHECK(names_of({{"a", {"mae"}}, {"b", {"mse"}}}) == Names{"a_mae", "b_mse"});
  CHECK(names_of({"mae", {"hits", hits}}) == Names{"a_mae", "a_hits", "b_mae", "b_hits"});
  CHECK(names_of({{"hits", hits}}) == Names{"a_hits", "b_hits"});
  CHECK(names_of({{"own", own}, "mae"}) == Names{"a_own", "a_mae", "b_own", "b_mae"});
  CHECK(names_of({{{"hits", hits}, "mae"}, {"mse"}}) == Names{"a_hits", "a_mae", "b_mse"});
}

TEST_CASE("lists of metrics are as many as the outputs") {
  CHECK_THROWS_WITH_AS(names_of({{"mae"}, {"mse"}, {"mae"}}),
                       "[compile] metrics must have one entry for each of the 2 outputs: received 3",
                       ValueError);
  const nn::Model model = two_outputs();
  CHECK_THROWS_WITH_AS(model.compile({.loss = "mse", .weighted_metrics = {{"mae", "mse"}}}),
                       "[compile] weighted_metrics must have one entry for each of the 2 outputs: received 1",
                       ValueError);
}

TEST_CASE("a prediction of several outputs is a list of them") {
  const nn::Model model = two_outputs();
  const auto p = model.predict(K::ones({4, 3}), {.verbose = 0});
  CHECK(p[0].shape() == ktape::Shape{4, 1});
  CHECK(p[1].shape() == ktape::Shape{4, 1});
  CHECK(values(p[-1]) == values(p.outputs()[1]));
  CHECK_THROWS_WITH_AS(p[2], "[predict] the model has 2 outputs: received the output 2", ValueError);
  const auto one = nn::Model(model.inputs(), model.outputs()[0]).predict(K::ones({4, 3}), {.verbose = 0});
  CHECK(one[1].shape() == ktape::Shape{1});
  CHECK((one[{ktape::Slice(0, 2), 0}].shape() == ktape::Shape{2}));
}

TEST_CASE("a list of choices may contain None") {
  const Tensor x = K::ones({2, 3, 4});
  CHECK(nn::Bidirectional(nn::LSTM(5), {.merge_mode = ktape::None}).apply({x}).size() == 2);
  CHECK(nn::Bidirectional(nn::LSTM(5), {.merge_mode = "sum"})(x).shape() == ktape::Shape{2, 5});
}

TEST_CASE("a clone may have other layers") {
  const nn::Model model = nn::Sequential({nn::Input({3}), nn::Dense(2), nn::ReLU({.name = "act"})});
  const nn::Model smooth = nn::clone_model(model, {.clone_function = [](const nn::Layer& layer) -> nn::Layer {
                                             if (layer.class_name() == "ReLU")
                                               return nn::Activation("gelu", {.name = layer.name()});
                                             return nn::Layer::from_value(layer.to_value());
                                           }});
  CHECK(smooth.get_layer("act").class_name() == "Activation");
  CHECK(smooth.predict(K::ones({1, 3}), {.verbose = 0}).shape() == ktape::Shape{1, 2});
}
