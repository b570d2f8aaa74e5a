#include <ktape/nn/core/loading.hpp>

#include "../saving/changes.hpp"
#include "../saving/remade_models.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using namespace remade_models;
using doctest::Contains;
using ktape::None, ktape::Tensor, ktape::TypeError, ktape::ValueError;
using nn::Config, nn::Value;

namespace {

/// Returns the config of small() with a piece of its text replaced.
std::string broken(const std::string& piece, const std::string& by) {
  std::string json = small().to_json();
  const std::size_t at = json.find(piece);
  REQUIRE(at != std::string::npos);
  return json.replace(at, piece.size(), by);
}

}  // namespace

TEST_CASE("a bad config is an error that names the layer") {
  const struct {
    std::string piece, by, text;
  } cases[] = {
      {R"(["in",0,0]}}])", R"(["inn",0,0]}}])",
       "[small] the layer 'out': the model must have the layer: received 'inn'; did you mean 'in'?"},
      {R"(["in",0,0]}}])", R"(["in",1,0]}}])",
       "[small] the layer 'out': the index of a call of 'in' must be below 1: received 1"},
      {R"(["in",0,0]}}])", R"(["in",0,3]}}])",
       "[small] the layer 'out': the index of an output of 'in' must be below 1: received 3"},
      {R"(["in",0,0]}}])", R"(["in",-1,0]}}])", "must be [layer, call, output]: received [\"in\",-1,0]"},
      {R"(["in",0,0]}}])", R"(["out",0,0]}}])",
       "[small] the layer 'out': the inputs of a call must not depend on its own outputs: received a cycle"},
      {R"("output_layers":["out",0,0])", R"("output_layers":["out",1,0])",
       "[small] output_layers the index of a call of 'out' must be below 1: received 1"},
      {R"("output_layers":["out",0,0])", R"("output_layers":[])", "[small] output_layers must name a tensor"},
      {R"("class_name":"Dense")", R"("class_name":"Dence")",
       "[layer] the name must be one of nn::registered_names(\"layer\"): received 'Dence'; did you mean "
       "'Dense'?; register a class of the "
       "program "
       "before the config is read: nn::register_object(\"Dence\", [](const nn::Config& config) { return "
       "Dence(...); }) (in the layer 'out' of 'small')"},
      {R"("units":1)", R"("units":"one")",
       "[Dense] units must be an integer: received \"one\" (in the layer 'out'"},
      {R"("units":1)", R"("units":1,"unit":2)", "[Dense] an argument must be 'units', 'activation', "},
      {R"("units":1)", R"("units":0)", "[Dense] units must be at least 1"},
      {R"("kwargs":{})", R"("kwargs":{"trainin":true})",
       "[small] the layer 'out': an argument of a call must be 'training', 'mask', "},
      {R"("kwargs":{})", R"("kwargs":{"training":1})", "training must be true or false: received 1"},
      {R"("batch_shape":[null,2])", R"("batch_shape":[null,-2])", "extents must be None or at least 0"},
      {R"("batch_shape":[null,2],)", "", "[InputLayer] batch_shape must be given"},
      {R"("layers":[)", R"("layerz":[)",
       "the name must be that of a value: received name='layers'; did you mean 'layerz'?"},
      {R"("dtype":"float32","batch_shape")", R"("dtype":"float33","batch_shape")", "float33"},
      {R"("class_name":"Functional")", R"("class_name":"Dense")", "[Dense]"},
  };
  for (const auto& [piece, given_by, text] : cases) {
    const auto& by = given_by;
    CAPTURE(by);
    CHECK_THROWS_WITH(nn::model_from_json(broken(piece, by)), Contains(text.c_str()));
  }
  const Value twice =
      nn::from_json(broken(R"("name":"out","inbound_nodes")", R"("name":"in","inbound_nodes")"));
  CHECK_THROWS_WITH_AS(nn::Layer::from_value(twice),
                       "[small] layers must have different names: received two layers named 'in'",
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::model_from_json("3"), Contains("must be a config: received 3"), TypeError);
  CHECK_THROWS_WITH_AS(nn::model_from_json("{"), Contains("[from_json] the text must be JSON"), ValueError);
  CHECK_THROWS_WITH_AS(nn::model_from_json(R"({"class_name": "Dense", "config": {"units": 3}})"),
                       Contains("[Model] the layer must be a model: received 'dense"), ValueError);
}

TEST_CASE("configs that are nested too deeply are errors") {
  Value value = nn::Dense(1).to_value();
  for (int i = 0; i < 2000; ++i)
    value = Config{{"class_name", "TimeDistributed"}, {"config", Config{{"layer", value}}}};
  CHECK_THROWS_WITH_AS(nn::Layer::from_value(value), Contains("layers may be nested 100 deep"), ValueError);
}

TEST_CASE("no change of a config crashes or leaks") {
  const Tensor in = nn::Input({3, 2}, {.name = "in"});
  const nn::Sequential inner({nn::Input({2}, {.name = "step"}), nn::Dense(2, {.name = "dense"})},
                             {.name = "inner"});
  const nn::Model model(in, nn::GRU(1, {.name = "last"})(nn::TimeDistributed(inner, {.name = "each"})(in)),
                        {.name = "outer"});
  const std::vector<std::string> before = nn::registered_names("layer");
  const Config own = nn::model_config(model).config().at("config").config();
  int errors = 0, models = 0;
  const auto count = [&](auto&& make, const Value& value) {
    const nn::weight_limit_scope limit(1000);
    try {
      make(value);
      ++models;
    } catch (const ktape::Error&) {
      ++errors;
    }
  };
  each_change(own, [&](const Value& changed) {
    const Value value = Config{{"class_name", "Functional"}, {"config", changed}};
    count(nn::model_from_config, value);
    count([](const Value& v) { nn::Layer::from_value(v); }, value);
  });
  CHECK(errors > 500);
  CHECK(models > 50);
  CHECK(nn::registered_names("layer") == before);
  check_remade(model, {normal({2, 3, 2}, 1, "float32")});
}

TEST_CASE("reading a model takes no automatic names") {
  const int before = K::get_uid("dense");
  nn::model_from_json(small().to_json());
  CHECK(K::get_uid("dense") == before + 1);
}

TEST_CASE("the weights of an architecture can be limited") {
  const std::string json = small().to_json();
  {
    const nn::weight_limit_scope three(3);
    CHECK(nn::model_from_json(json).count_params() == 3);
  }
  const nn::weight_limit_scope two(2);
  CHECK_THROWS_WITH_AS(
      nn::model_from_json(json),
      Contains("[out] the weights must not be larger than the file that they are to come from: "
               "received 'bias' of shape=(1,)"),
      ValueError);
  CHECK_THROWS_AS(nn::model_from_json(broken(R"("units":1)", R"("units":1152921504606846975)")), ValueError);
}

TEST_CASE("a config names layers, their calls, and the inputs and outputs") {
  const Tensor a = nn::Input({2}, {.name = "a"}), b = nn::Input({2}, {.name = "b"});
  const nn::Dense twice(2, {.name = "twice"});
  const nn::Model model({a, b}, nn::Add({.name = "add"})({twice(a), twice(b)}), {.name = "m"});
  const Config config = nn::model_config(model).config().at("config").config();
  CHECK(config.at("input_layers") == nn::from_json(R"([["a", 0, 0], ["b", 0, 0]])"));
  CHECK(config.at("output_layers") == nn::from_json(R"(["add", 0, 0])"));
  const Value::List layers = config.at("layers").list();
  REQUIRE(layers.size() == 4);
  CHECK(layers[2].config().at("name") == Value("twice"));
  CHECK(layers[2].config().at("inbound_nodes").list().size() == 2);
  check_remade(model, {normal({3, 2}, 1, "float32"), normal({3, 2}, 2, "float32")});
}

TEST_CASE("a model that starts in the middle of another graph gets a new input") {
  const Tensor in = nn::Input({2}, {.name = "in"});
  const Tensor hidden = nn::Dense(3, {.name = "hidden"})(in);
  const nn::Model upper(hidden, nn::Dense(1, {.name = "out"})(hidden), {.name = "upper"});
  const nn::Model again = nn::model_from_json(upper.to_json());
  CHECK(names_of(again) == std::vector<std::string>{"hidden", "out"});
  again.set_weights(upper.get_weights());
  const Tensor x = normal({4, 3}, 1, "float32");
  CHECK(values(again(x)) == values(upper(x)));
  // A layer of the part may have the name of the input.
  const nn::Model one(hidden, nn::Dense(1, {.name = "hidden"})(hidden), {.name = "one"});
  const nn::Model read = nn::model_from_json(one.to_json());
  CHECK(names_of(read) == std::vector<std::string>{"hidden_input", "hidden"});
}

TEST_CASE("layers of a config may have any order, and calls keep the order of the list") {
  Config config = nn::model_config(small()).config().at("config").config();
  const Value::List layers = config.at("layers").list();
  config.set("layers", Value::List(layers.rbegin(), layers.rend()));
  const nn::Model turned = nn::model_from_config(Config{{"class_name", "Functional"}, {"config", config}});
  CHECK(turned.weights().size() == 2);
  const Tensor x = K::ones({1, 2});
  turned.set_weights({K::ones({2, 1}), K::ones({1})});
  CHECK(values(turned(x)) == Values{3});
}

TEST_CASE("a nested model with a mask is written and read, and weighs samples equally") {
  const Tensor words = nn::Input({4}, {.name = "words"}), ids = nn::Input({4}, {.name = "ids"});
  const nn::Model embed(words, nn::Embedding(5, 3, {.mask_zero = true, .name = "table"})(words),
                        {.name = "embed"});
  const nn::Model model(ids, nn::LSTM(2, {.return_sequences = true, .name = "lstm"})(embed(ids)),
                        {.name = "m"});
  const Tensor x = K::constant({{1.f, 2.f, 0.f, 0.f}, {4.f, 0.f, 3.f, 0.f}});
  check_remade(model, {x});
  const nn::Model again = remade(model);
  CHECK(values(nn::mask_of(again(x))) == Values{1, 1, 0, 0, 1, 0, 1, 0});
  for (const nn::Model& each : {model, again}) each.compile({.optimizer = nn::SGD(0.), .loss = "mae"});
  const Tensor y = K::zeros({2, 4, 2}), w = K::constant({2.f, 0.5f});
  CHECK(again.evaluate(x, y, {.verbose = 0, .sample_weight = w})["loss"] ==
        model.evaluate(x, y, {.verbose = 0, .sample_weight = w})["loss"]);
}

TEST_CASE("an op between layers is made again from the config") {
  const Tensor in = nn::Input({2}, {.name = "in"});
  const nn::Model model(in, nn::Dense(1, {.kernel_initializer = "ones"})(K::relu(in)), {.name = "m"});
  CHECK(values(remade(model)(K::constant({{-1.f, 3.f}}))) == Values{3});
}
