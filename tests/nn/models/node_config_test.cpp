#include "../../ops/check.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/models/node_config.hpp>

#include <map>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Tensor, ktape::TypeError, ktape::ValueError;
using nn::Config, nn::TensorPlace, nn::Value;

namespace {

constexpr const char* what = "[m] the layer 'y':";

/// Tensors by name. The place of a tensor is [name, 0, output].
struct Places {
  std::map<std::string, Tensor> named;

  TensorPlace operator()(const Tensor& x) const {
    for (const auto& [name, tensor] : named)
      if (tensor.get()->symbol.get() == x.get()->symbol.get()) return {name, 0, x.get()->output};
    throw std::runtime_error("unknown tensor");
  }
  Tensor at(const TensorPlace& place) const { return named.at(place.layer); }
};

struct Tensors {
  const Tensor x = nn::Input({5, 3}), mask = nn::Input({5}, {.dtype = "bool"}), h = nn::Input({2}),
               c = nn::Input({2});
  const Places places{{{"x", x}, {"mask", mask}, {"h", h}, {"c", c}}};

  Value written(const Tensor& made) const { return nn::call_config(*nn::call_of(made), places); }
  nn::CallInputs read(const Value& call) const {
    return nn::call_from(
        call, [this](const TensorPlace& place) { return places.at(place); }, what);
  }
  nn::CallInputs read_json(const char* json) const { return read(of_json(json)); }

  /// A call in which "#x" stands for the tensor x.
  static Value of_json(std::string json) {
    for (std::size_t at; (at = json.find('#')) != std::string::npos;) {
      std::size_t end = at + 1;
      while (std::isalpha(static_cast<unsigned char>(json[end])) != 0) ++end;
      const std::string name = json.substr(at + 1, end - at - 1);
      json.replace(
          at, end - at,
          R"({"class_name": "__keras_tensor__", "config": {"keras_history": [")" + name + R"(", 0, 0]}})");
    }
    return nn::from_json(json);
  }
};

std::vector<std::string> layers_of(const std::vector<TensorPlace>& places) {
  std::vector<std::string> names;
  for (const TensorPlace& place : places) names.push_back(place.layer);
  return names;
}

}  // namespace

TEST_CASE("the place of a tensor is [layer, call, output]") {
  const TensorPlace place = TensorPlace::from_value(nn::from_json(R"(["a", 2, 1])"), what);
  CHECK(place.layer == "a");
  CHECK(place.call == 2);
  CHECK(place.output == 1);
  CHECK(place.to_value() == nn::from_json(R"(["a", 2, 1])"));
  const auto check = [](const char* json, const char* text) {
    CHECK_THROWS_WITH(TensorPlace::from_value(nn::from_json(json), what), text);
  };
  check(R"(["a", 0])",
        "[m] the layer 'y': the place of a tensor must be [layer, call, output]: received [\"a\",0]");
  check(R"(["a", -1, 0])",
        "[m] the layer 'y': the place of a tensor must be [layer, call, output]: received [\"a\",-1,0]");
  check(R"(["a", 0, 0.5])", "[m] the layer 'y': an output must be an integer: received 0.5");
  check(R"([null, 0, 0])", "[m] the layer 'y': a layer must be a string: received null");
  check("3", "[m] the layer 'y': the place of a tensor must be a list: received 3");
}

TEST_CASE("the name of a layer is beside the config or in the config") {
  CHECK(nn::layer_name(nn::from_json(R"({"name": "a", "config": {"name": "b"}})"), "m") == "a");
  CHECK(nn::layer_name(nn::from_json(R"({"name": null, "config": {"name": "b"}})"), "m") == "b");
  CHECK(nn::layer_name(nn::from_json(R"({"config": null})"), "m") == "");
  CHECK_THROWS_WITH_AS(nn::layer_name(Value(3), "m"), "[m] a layer must be a config: received 3", TypeError);
  CHECK_THROWS_WITH_AS(nn::layer_name(nn::from_json(R"({"name": 3})"), "m"),
                       "[m] the name of a layer must be a string: received 3", TypeError);
}

TEST_CASE_FIXTURE(Tensors, "a call of one input is written with shape, dtype and place") {
  const nn::Dense dense(2);
  CHECK(written(dense(x)) == nn::from_json(R"({"args": [{"class_name": "__keras_tensor__", "config":
      {"shape": [null, 5, 3], "dtype": "float32", "keras_history": ["x", 0, 0]}}], "kwargs": {}})"));
}

TEST_CASE_FIXTURE(Tensors, "arguments of calls are written and read: masks, states, flags and training") {
  const nn::LSTM lstm(2);
  const Value call = written(lstm({x, h, c}, {.training = false, .mask = mask}));
  const Config& kwargs = call.config().at("kwargs").config();
  CHECK(call.config().at("args").list().size() == 1);
  CHECK(kwargs.at("initial_state").list().size() == 2);
  CHECK(kwargs.at("training") == Value(false));
  CHECK(call.config().at(nn::fixed_training) == Value(true));
  CHECK(layers_of(nn::places_in(call, what)) == std::vector<std::string>{"x", "h", "c", "mask"});
  const nn::CallInputs got = read(call);
  REQUIRE(got.inputs.size() == 1);
  CHECK(got.inputs[0].get() == x.get());
  CHECK(got.arguments.training == false);
  CHECK(got.arguments.mask[0].get() == mask.get());
  CHECK(got.arguments.initial_state[1].get() == c.get());

  const nn::MultiHeadAttention attention(1, 2);
  const std::vector<Tensor> scored =
      attention.apply({x, x}, {.use_causal_mask = true, .return_attention_scores = true});
  const nn::CallInputs heads = read(written(scored[0]));
  CHECK(heads.inputs.size() == 2);
  CHECK(heads.arguments.use_causal_mask);
  CHECK(heads.arguments.return_attention_scores);
  CHECK_FALSE(heads.arguments.training.has_value());
}

TEST_CASE_FIXTURE(Tensors, "several inputs are one list, and the states of a cell are another list") {
  const Value added = written(nn::Add()({h, c}));
  CHECK(added.config().at("args").list().size() == 1);
  CHECK(added.config().at("args").list()[0].list().size() == 2);
  const Tensor step = nn::Input({3});
  const Places with_step{{{"x", step}, {"h", h}, {"c", c}}};
  const nn::LSTMCell cell(2);
  const Value called = nn::call_config(*nn::call_of(cell.apply({step, h, c})[0]), with_step);
  REQUIRE(called.config().at("args").list().size() == 2);
  CHECK(called.config().at("args").list()[1].list().size() == 2);
  CHECK(nn::call_from(
            called, [&](const TensorPlace& place) { return with_step.at(place); }, what)
            .inputs.size() == 3);
}

TEST_CASE_FIXTURE(Tensors, "nulls in a call are arguments that were not given, and masks of None") {
  const nn::CallInputs call =
      read_json(R"({"args": [#x], "kwargs": {"mask": null, "training": null, "states": null}})");
  CHECK(call.arguments.mask.empty());
  CHECK_FALSE(call.arguments.training.has_value());
  const nn::CallInputs masks = read_json(R"({"args": [#x, #x], "kwargs": {"mask": [null, #mask]}})");
  REQUIRE(masks.arguments.mask.size() == 2);
  CHECK_FALSE(masks.arguments.mask[0].defined());
  CHECK(masks.arguments.mask[1].get() == mask.get());
  CHECK(read_json(R"({"args": [#x], "kwargs": {"mask": [null, null]}})").arguments.mask.empty());
  const nn::CallInputs of_key = read_json(R"({"args": [#x, #x], "kwargs": {"key_mask": #mask}})");
  CHECK(of_key.arguments.mask.size() == 3);
  CHECK(of_key.arguments.mask[2].get() == mask.get());
  CHECK(read_json(R"({"args": [], "kwargs": {"query": #x, "value": #h, "key": #c}})").inputs.size() == 3);
}

TEST_CASE_FIXTURE(Tensors, "bad calls are errors that name the layer") {
  const auto check = [this](const char* json, const char* text) {
    CHECK_THROWS_WITH(read_json(json), Contains(text));
  };
  check(R"({"args": [], "kwargs": {}})", "[m] the layer 'y': a call must have an input: received {");
  check(R"({"args": [3]})", "[m] the layer 'y': the call takes tensors of the model: received 3");
  check(R"({"args": [#x], "kwargs": {"attention_mask": 1}})",
        "[m] the layer 'y': the call takes tensors of the model as attention_mask: received 1");
  check(R"({"args": [#x], "kwargs": {"maks": #mask}})", "or 'return_attention_scores': received maks=");
  check(R"({"args": [#x], "kwargs": {"maks": #mask}})", "did you mean 'mask'?");
  check(R"({"args": [#x], "kwargs": {"training": "yes"}})",
        "[m] the layer 'y': training must be true or false: received \"yes\"");
  check(R"({"args": #x})", "[m] the layer 'y': args must be a list");
  check(R"({"args": [#x], "kwargs": []})", "[m] the layer 'y': kwargs must be a config");
  check("[]", "[m] the layer 'y': a call must be a config");
  check(R"({"args": [{"class_name": "__keras_tensor__", "config": null}]})",
        "[m] the layer 'y': the config of a tensor must be a config: received null");
}

TEST_CASE("a call on a tensor with a value has no config") {
  const nn::Add add({.name = "add"});
  const Tensor x = nn::Input({3});
  const Places places{{{"x", x}}};
  CHECK_THROWS_WITH_AS(nn::call_config(*nn::call_of(add({x, K::ones({1, 3})})), places),
                       "[add] the layer is called on a tensor with a value, which has no place in a config: "
                       "received shape=(1, 3)",
                       ValueError);
}

TEST_CASE("layers of a model come from its LayerSource while the source lives") {
  const Value config = nn::Dense(2, {.name = "d"}).to_value();
  const nn::Dense mine(3);
  {
    const nn::LayerSource source(
        "m", [&](const std::string& name) { return name == "d" ? nn::Layer(mine) : nn::Layer(); });
    CHECK(nn::layer_from(config, "m").is(mine));
    CHECK_FALSE(nn::layer_from(config, "other").is(mine));
    CHECK_FALSE(nn::layer_from(nn::Dense(2, {.name = "e"}).to_value(), "m").is(mine));
  }
  CHECK_FALSE(nn::layer_from(config, "m").is(mine));
  CHECK_THROWS_WITH_AS(
      nn::layer_from(nn::from_json(R"({"class_name": "Dense", "config": {"name": "d", "units": 0}})"), "m"),
      Contains(" (in the layer 'd' of 'm')"), ValueError);
  CHECK_THROWS_WITH_AS(
      nn::layer_from(nn::from_json(R"({"class_name": "Dense", "config": {"name": "d", "units": "x"}})"), "m"),
      Contains(" (in the layer 'd' of 'm')"), TypeError);
}
