#include <filesystem>

#include "remade_models.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using namespace remade_models;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;
using nn::Config, nn::Value;

namespace {

struct ScaleImpl : nn::LayerImpl {
  double by;
  explicit ScaleImpl(double by, const nn::LayerOptions& options = {})
      : nn::LayerImpl("Scale", options), by(by) {}
  Tensor call(const Tensor& x) override { return x * by; }
  Config get_config() const override { return {{"by", by}}; }
};
using Scale = nn::LayerOf<ScaleImpl>;
Scale make_scale(const Config& config) { return Scale(config.at("by").number()); }

/// A user-defined model class.
struct StackImpl : nn::ModelImpl {
  std::vector<nn::Dense> layers;
  explicit StackImpl(int count) : nn::ModelImpl("Stack") {
    for (int i = 0; i < count; ++i) layers.push_back(add_layer(nn::Dense(3)));
  }
  Tensor call(const Tensor& x) override {
    Tensor y = x;
    for (const nn::Dense& layer : layers) y = layer(y);
    return y;
  }
  Config get_config() const override { return {{"count", layers.size()}}; }
};
using Stack = nn::ModelOf<StackImpl>;

/// A model class without a config.
struct PlainImpl : nn::ModelImpl {
  nn::Dense dense = add_layer(nn::Dense(2));
  PlainImpl() : nn::ModelImpl("Plain") {}
  Tensor call(const Tensor& x) override { return dense(x); }
};
using Plain = nn::ModelOf<PlainImpl>;

}  // namespace

TEST_CASE("user-defined layers are found among the custom objects, at any depth") {
  const nn::Sequential inner({nn::Input({2}, {.name = "in"}), Scale(0.5, nn::LayerOptions{.name = "half"})},
                             {.name = "inner"});
  const Tensor in = nn::Input({3, 2}, {.name = "rows"});
  const nn::Model model(in, nn::TimeDistributed(inner, {.name = "each"})(in), {.name = "outer"});
  CHECK_THROWS_WITH_AS(
      nn::model_from_json(model.to_json()),
      Contains("[layer] the name must be one of nn::registered_names(\"layer\"): received 'Scale'"),
      ValueError);
  CHECK_THROWS_WITH_AS(nn::model_from_json(model.to_json()), Contains("nn::register_object(\"Scale\", "),
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::model_from_json(model.to_json()),
                       Contains("(in the layer 'half' of 'inner') (in the layer 'each' of 'outer')"),
                       ValueError);
  check_remade(model, {normal({2, 3, 2}, 1, "float32")}, {{"Scale", make_scale}});
  CHECK(!nn::is_registered("layer", "Scale"));
  const Config layer = Scale(2).to_value().config();
  CHECK(layer.at("module").is_null());
  CHECK(layer.at("registered_name") == Value("Scale"));
}

TEST_CASE("custom objects reach initializers, regularizers, constraints and activations") {
  const auto ones = [](const Config&) { return nn::Initializer("ones"); };
  const auto twice = [](const Config& config) {
    return nn::ActivationFunction([by = config.get("by", 2).number()](const Tensor& x) { return x * by; });
  };
  const std::string json = R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
      {"class_name": "Dense", "config": {"name": "d", "units": 1, "activation": "twice",
       "kernel_initializer": {"class_name": "my_ones", "config": {}},
       "kernel_regularizer": {"class_name": "Shrink", "config": {"l2": 0.5}}}}], "build_input_shape": [null, 3]}})";
  const auto shrink = [](const Config& config) { return nn::L2(config.at("l2").number()); };
  const nn::Model model =
      nn::model_from_json(json, {{"my_ones", ones}, {"twice", twice}, {"Shrink", shrink}});
  CHECK(values(model(K::ones({1, 3}))) == Values{6});
  CHECK(model.losses()[0].item<double>() == 1.5);
  CHECK_THROWS_WITH_AS(
      nn::model_from_json(json, {{"my_ones", ones}, {"Shrink", shrink}}),
      Contains("[activation] the name must be one of nn::registered_names(\"activation\"): received 'twice'"),
      ValueError);
}

TEST_CASE("a user-defined model class is restored, built, from its own config") {
  const Stack model(2);
  model(K::ones({2, 4}));
  const Value value = nn::model_config(model);
  CHECK(nn::to_json(value.config().at("build_config")) == R"({"input_shape":[2,4]})");
  const nn::CustomObjects known{
      {"Stack", [](const Config& config) { return Stack(config.at("count").as<int>()); }}};
  CHECK_THROWS_WITH_AS(nn::model_from_json(model.to_json()), Contains("received 'Stack'"), ValueError);
  const nn::Model again = nn::model_from_json(model.to_json(), known);
  REQUIRE(again.weights().size() == 4);
  again.set_weights(model.get_weights());
  const Tensor x = normal({3, 4}, 1, "float32");
  CHECK(values(again(x)) == values(model(x)));

  const Tensor in = nn::Input({4}, {.name = "in"});
  const Stack inner(2);
  check_remade(nn::Model(in, inner(in), {.name = "around"}), {x}, known);
}

TEST_CASE("a class without a config is an error that says what to write") {
  const Tensor in = nn::Input({3}, {.name = "in"});
  CHECK_THROWS_WITH_AS(
      nn::Model(in, K::dropout(nn::Dense(2)(in), 0.5), {.name = "drops"}).to_json(),
      "[drops] the op 'dropout' between layers has no config from which it could be made again: make it "
      "the call of a layer class (nn::LayerOf)",
      ValueError);
  const nn::Lambda lambda([](const Tensor& x) { return x * 2.f; }, {.name = "double"});
  CHECK_THROWS_WITH_AS(nn::Sequential({lambda}).to_json(), Contains("[double] a Lambda has no config"),
                       ValueError);
  const nn::Dense sine(2, {.activation = [](const Tensor& x) { return K::sin(x); }, .name = "sine"});
  CHECK_THROWS_WITH_AS(
      nn::Sequential({sine}).to_json(),
      "[sine] a function has no config from which it could be made again: received activation of "
      "class Dense; write a class and register it",
      ValueError);
  CHECK_THROWS_WITH_AS(
      Plain().to_json(),
      Contains("must override get_config, or be registered, to be saved: received class Plain"), ValueError);
  CHECK_NOTHROW(nn::clone_model(nn::Sequential({lambda})));  // the clone has the function itself
  nn::plot_model(nn::Sequential({nn::Input({3, 2}), nn::TimeDistributed(lambda)}),
                 (std::filesystem::temp_directory_path() / "ktape_config_plot.svg").string());
}

TEST_CASE("losses and metrics that a functional model adds are not saved") {
  const Tensor in = nn::Input({3}, {.name = "in"});
  const Tensor out = nn::Dense(1, {.name = "out"})(in);
  const nn::Model model(in, out, {.name = "m"});
  const std::string before = model.to_json();
  model.add_loss(K::mean(K::square(out)));
  CHECK(model.to_json() == before);
}
