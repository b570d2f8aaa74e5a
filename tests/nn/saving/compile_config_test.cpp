#include "../../close.hpp"
#include "remade_models.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using namespace remade_models;
using doctest::Contains;
using ktape::None, ktape::Tensor, ktape::ValueError;
using nn::Config, nn::Value;

namespace {

/// Returns a model of two outputs, "a" and "b".
nn::Model forked() {
  const Tensor in = nn::Input({2}, {.name = "in"});
  return nn::Model(in, {nn::Dense(1, {.name = "a"})(in), nn::Dense(1, {.name = "b"})(in)},
                   {.name = "forked"});
}

/// Returns the logs of one step of a model that is compiled from another model's config, through JSON.
nn::Logs step_of(const nn::Model& model, const ktape::TensorList& x, const ktape::TensorList& y) {
  const nn::Model again = remade(model);
  const Value value = nn::compile_config(model);
  nn::compile_from_config(again, nn::from_json(nn::to_json(value)));
  CHECK(nn::compile_config(again) == value);
  return again.test_on_batch(x, y);
}

Closeness same(const nn::Logs& got, const nn::Logs& want) {
  if (got.size() != want.size()) return {"got " + std::to_string(got.size()) + " logs"};
  for (auto a = got.begin(), b = want.begin(); a != got.end(); ++a, ++b) {
    if (a->first != b->first) return {"got " + a->first + ", want " + b->first};
    if (const Closeness found = close(a->second, b->second, exactly); !found)
      return {a->first + ' ' + found.wrong};
  }
  return {};
}

double absolute(const Tensor& t, const Tensor& p) { return K::mean(K::abs(t - p)).item<double>(); }

}  // namespace

TEST_CASE("the compile config has Keras 3's form") {
  const nn::Model model = small();
  CHECK(nn::compile_config(model).is_null());
  model.compile({.optimizer = nn::SGD({.learning_rate = nn::CosineDecay(0.5, 100), .momentum = 0.9}),
                 .loss = nn::Huber({.delta = 2}),
                 .metrics = {"mae", "accuracy", nn::AUC({.num_thresholds = 5})},
                 .weighted_metrics = {nn::RootMeanSquaredError()}});
  const Config config = nn::compile_config(model).config();
  CHECK(config.names() ==
        std::vector<std::string>{"optimizer", "loss", "loss_weights", "metrics", "weighted_metrics"});
  CHECK(config.at("optimizer").config().at("module") == Value("keras.optimizers"));
  const Config rate = config.at("optimizer").config().at("config").config().at("learning_rate").config();
  CHECK(rate.at("module") == Value("keras.optimizers.schedules"));
  CHECK(rate.at("class_name") == Value("CosineDecay"));
  CHECK(config.at("loss").config().at("module") == Value("keras.losses"));
  CHECK(config.at("loss_weights").is_null());
  CHECK(config.at("metrics").list()[1] == Value("accuracy"));
  const Tensor x = normal({4, 2}, 1, "float32"), y = normal({4, 1}, 2, "float32");
  const nn::Logs expected = model.test_on_batch(x, y);
  CHECK(same(step_of(model, x, y), expected));
  CHECK(expected.contains("mae"));
}

TEST_CASE("losses, weights and metrics of several outputs come back in every form") {
  const Tensor x = normal({4, 2}, 1, "float32");
  const ktape::TensorList y{normal({4, 1}, 2, "float32"), normal({4, 1}, 3, "float32")};
  const nn::CompileOptions forms[] = {
      {.loss = "mse"},
      {.loss = "mse", .loss_weights = {1.0, 0.5}, .metrics = {"mae"}},
      {.loss = {"mse", nn::Huber()}, .metrics = {{"b", {"mae", "mape"}}}},
      {.loss = {{"b", "mse"}}, .loss_weights = {{"b", 2.0}}, .weighted_metrics = {{"a", {"mae"}}}},
      {.loss = {"mse", nn::Loss()}},
  };
  for (const nn::CompileOptions& options : forms) {
    const nn::Model model = forked();
    model.compile(options);
    CAPTURE(nn::compile_config(model));
    const nn::Logs expected = model.test_on_batch(x, y);
    CHECK(same(step_of(model, x, y), expected));
  }
}

TEST_CASE("metrics for each of several outputs are lists, as in Keras") {
  const nn::Model model = forked();
  model.compile({.loss = "mse", .metrics = {"mae"}});
  const Value metrics = nn::compile_config(model).config().at("metrics");
  CHECK(metrics.list().size() == 2);
  CHECK(metrics.list()[0].is_list());
  Config flat = nn::compile_config(model).config();
  flat.set("metrics", Value::List{"mae", "mape"});
  nn::compile_from_config(model, flat);
  const nn::Logs logs = model.test_on_batch(K::ones({2, 2}), {K::ones({2, 1}), K::ones({2, 1})});
  CHECK(logs.contains("a_mae"));
  CHECK(logs.contains("b_mape"));
  CHECK(!logs.contains("a_mape"));
  for (const Value& all : {Value(Value::List{"mae"}), Value(Value::List{Value(Value::List{"mae"})})}) {
    flat.set("metrics", all);
    nn::compile_from_config(model, flat);
    const nn::Logs both = model.test_on_batch(K::ones({2, 2}), {K::ones({2, 1}), K::ones({2, 1})});
    CHECK(both.contains("a_mae"));
    CHECK(both.contains("b_mae"));
  }
  const Value::List mae{"mae"};
  flat.set("metrics", Value::List{mae, mae, mae});
  CHECK_THROWS_WITH_AS(nn::compile_from_config(model, flat),
                       "[compile] metrics must have one entry for each of the 2 outputs: received 3",
                       ValueError);
}

TEST_CASE("functions are written by name, and must be known when they are first used") {
  const auto far = [](const Tensor& t, const Tensor& p) { return K::mean(K::abs(t - p)); };
  const nn::Model model = small();
  model.compile({.optimizer = "sgd", .loss = far, .metrics = {{"far", far}}});
  const Value value = nn::compile_config(model);
  CHECK(nn::to_json(value.config().at("metrics")) ==
        R"([{"module":"builtins","class_name":"function","config":"far","registered_name":"far"}])");
  const Tensor x = normal({4, 2}, 1, "float32"), y = normal({4, 1}, 2, "float32");

  const nn::Model again = remade(model);
  nn::compile_from_config(again, value);
  CHECK(again.optimizer().class_name() == "SGD");
  CHECK(values(again.predict(x, {.verbose = 0})) == values(model.predict(x, {.verbose = 0})));
  CHECK_THROWS_WITH_AS(
      again.train_on_batch(x, y),
      Contains("[loss] a function must be registered before its model is loaded, or compile be called "
               "again: received 'function'"),
      ValueError);
  again.compile({.optimizer = again.optimizer(), .loss = far});
  CHECK(close(again.test_on_batch(x, y)["loss"], absolute(y, model(x)), {.rtol = 1e-5}));

  const nn::custom_object_scope scope({{"function", [far](const Config&) { return nn::Loss(far); }},
                                       {"far", [far](const Config&) { return nn::Metric("far", far); }}});
  CHECK(same(step_of(model, x, y), model.test_on_batch(x, y)));
}

TEST_CASE("bad compile arguments are errors and change nothing") {
  const nn::Model model = small();
  model.compile({.optimizer = "adam", .loss = "mse"});
  const Value before = nn::compile_config(model);
  const auto with = [&](const std::string& name, const Value& value) {
    Config config = before.config();
    config.set(name, value);
    return Value(config);
  };
  const auto refused = [&](const Value& value, const char* text) {
    CHECK_THROWS_WITH(nn::compile_from_config(model, value), Contains(text));
    CHECK(nn::compile_config(model) == before);
  };
  refused(with("optimizer", "addam"),
          "[optimizer] the name must be one of nn::registered_names(\"optimizer\"): received 'addam'; did "
          "you mean 'Adam'");
  refused(with("optimizer", Value()), "[compile] the optimizer must be given: received None");
  refused(with("loss", "mes"), "'mse'");
  refused(with("loss", Config{{"uot", "mse"}}),
          "[compile] loss must name outputs of 'small': received 'uot'");
  refused(with("loss", 3), "[loss] a name or a {class_name, config} must be a string: received 3");
  refused(with("loss_weights", "half"), "[compile] loss_weights must be a number: received \"half\"");
  refused(with("metrics", Value::List{Value(Value::List{"mea"})}),
          "[metric] the name must be one of nn::registered_names(\"metric\"): received 'mea'");
  refused(Value(), "[small] compile_config must be a config: received null");
  refused(Config(), "received name='optimizer'");
}
