#include "../../close.hpp"
#include "../../ops/check.hpp"
#include "changes.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/layers/arguments.hpp>
#include <ktape/nn/saving/model_config.hpp>

#include <filesystem>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::TypeError, ktape::ValueError;
using nn::Config, nn::Value;

namespace {

/// The model of its own JSON, with the same weights.
nn::Model remade(const nn::Model& model, const nn::CustomObjects& objects = {}) {
  const nn::Model again = nn::model_from_json(model.to_json(), objects);
  again.set_weights(model.get_weights());
  return again;
}

std::vector<std::string> names_of(const nn::Model& model) {
  std::vector<std::string> names;
  for (const nn::Layer& layer : model.layers()) names.push_back(layer.name());
  return names;
}

/// Checks that the model made of the model's JSON has its layers and weights, and gives its outputs.
void check_remade(const nn::Model& model, const std::vector<Tensor>& inputs,
                  const nn::CustomObjects& objects = {}) {
  const nn::Model again = remade(model, objects);
  CHECK(names_of(again) == names_of(model));
  CHECK(again.to_json() == model.to_json());
  CHECK((again.name() == model.name() && !again.is(model)));
  const std::vector<Tensor> expected = model.apply(inputs), outputs = again.apply(inputs);
  REQUIRE(outputs.size() == expected.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) CHECK(values(outputs[i]) == values(expected[i]));
}

struct ScaleImpl : nn::LayerImpl {
  double by;
  explicit ScaleImpl(double by, const nn::LayerOptions& options = {})
      : nn::LayerImpl("Scale", options), by(by) {}
  Tensor call(const Tensor& x) override { return x * by; }
  Config get_config() const override { return {{"by", by}}; }
};
using Scale = nn::LayerOf<ScaleImpl>;
Scale make_scale(const Config& config) { return Scale(config.at("by").number()); }

/// A model class of the user's.
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

/// One without a config.
struct PlainImpl : nn::ModelImpl {
  nn::Dense dense = add_layer(nn::Dense(2));
  PlainImpl() : nn::ModelImpl("Plain") {}
  Tensor call(const Tensor& x) override { return dense(x); }
};
using Plain = nn::ModelOf<PlainImpl>;

nn::Model small() {
  const Tensor in = nn::Input({2}, {.name = "in"});
  return nn::Model(in, nn::Dense(1, {.name = "out"})(in), {.name = "small"});
}

}  // namespace

// --- Functional -------------------------------------------------------------------------------------------

TEST_CASE("a functional model is written as Keras 3 writes it") {
  const nn::Model model = small();
  const Config config = nn::model_config(model).config();
  CHECK(config.names() == std::vector<std::string>{"module", "class_name", "config", "registered_name"});
  CHECK(config.at("class_name").string() == "Functional");
  const Config own = config.at("config").config();
  CHECK(own.names() ==
        std::vector<std::string>{"name", "trainable", "layers", "input_layers", "output_layers"});
  CHECK(nn::to_json(own.at("layers").list()[0]) ==
        R"({"module":"keras.layers","class_name":"InputLayer","config":{"name":"in","dtype":"float32",)"
        R"("batch_shape":[null,2],"sparse":false},"registered_name":null,"name":"in","inbound_nodes":[]})");
  const Config dense = own.at("layers").list()[1].config();
  CHECK((dense.at("module") == Value("keras.layers") && dense.at("name") == Value("out")));
  CHECK(nn::to_json(dense.at("inbound_nodes")) ==
        R"([{"args":[{"class_name":"__keras_tensor__","config":{"shape":[null,2],"dtype":"float32",)"
        R"("keras_history":["in",0,0]}}],"kwargs":{}}])");
  CHECK(nn::to_json(own.at("input_layers")) == R"(["in",0,0])");
  CHECK(nn::to_json(own.at("output_layers")) == R"(["out",0,0])");
  check_remade(model, {normal({3, 2}, 1, "float32")});
}

TEST_CASE("JSON comes on one line or on several") {
  const nn::Model model = small();
  CHECK(model.to_json().find('\n') == std::string::npos);
  CHECK(model.to_json(2).find("\n  \"class_name\": \"Functional\"") != std::string::npos);
  CHECK(nn::model_from_json(model.to_json(2)).to_json() == model.to_json());
}

TEST_CASE("shared layers, several inputs, outputs and results of a layer") {
  const Tensor a = nn::Input({4, 3}, {.name = "a"}), b = nn::Input({4, 3}, {.name = "b"});
  const nn::LSTM reader(2, {.return_sequences = true, .return_state = true, .name = "reader"});
  const std::vector<Tensor> left = reader.apply(a);
  const std::vector<Tensor> right = reader.apply(b, {.initial_state = {left[1], left[2]}});
  const Tensor both = nn::Concatenate({.name = "both"})({left[0], right[0]});
  const nn::Dense twice(4, {.name = "twice"});
  const nn::Model model({a, b}, {twice(twice(both)), right[2]}, {.name = "pair"});
  check_remade(model, {normal({2, 4, 3}, 1, "float32"), normal({2, 4, 3}, 2, "float32")});
  const Config config = nn::model_config(model).config().at("config").config();
  CHECK(nn::to_json(config.at("output_layers")) == R"([["twice",1,0],["reader",1,2]])");
  CHECK(nn::model_from_json(model.to_json()).weights().size() == 5);
}

TEST_CASE("the layers of a remade model keep their order, whatever that of the calls") {
  const Tensor in = nn::Input({3}, {.name = "in"});
  const nn::Dense a(3, {.name = "a"}), b(3, {.name = "b"}), c(3, {.name = "c"});
  const nn::Model model(in, c(a(b(a(in)))), {.name = "loop"});
  CHECK(names_of(model) == std::vector<std::string>{"in", "a", "b", "c"});
  check_remade(model, {normal({2, 3}, 1, "float32")});
}

TEST_CASE("the arguments of calls are part of the config") {
  const Tensor x = nn::Input({4, 6}, {.name = "x"}), y = nn::Input({5, 6}, {.name = "y"});
  const Tensor keep = nn::Input({4}, {.dtype = "bool", .name = "keep"});
  const Tensor seen = nn::Input({4, 5}, {.dtype = "bool", .name = "seen"});
  const nn::MultiHeadAttention attend(2, 3, {.name = "attend"});
  const Tensor attended = attend.apply({x, y}, {.attention_mask = seen, .return_attention_scores = true})[0];
  const Tensor causal = nn::Attention({.name = "causal"})({attended, attended}, {.use_causal_mask = true});
  const Tensor rows = nn::GRU(2, {.name = "rows"})(causal, {.mask = keep});
  const Tensor out = nn::Dropout(0.9, {.name = "drop"})(rows, {.training = false});
  const nn::Model model({x, y, keep, seen}, out, {.name = "arguments"});
  const Tensor mask = K::cast(K::constant({{1, 1, 0, 0}, {1, 1, 1, 1}}), "bool");
  const std::vector<Tensor> inputs{normal({2, 4, 6}, 1, "float32"), normal({2, 5, 6}, 2, "float32"), mask,
                                   K::cast(K::greater(normal({2, 4, 5}, 3), 0.f), "bool")};
  check_remade(model, inputs);
  const K::learning_phase_scope training(1);
  CHECK(values(remade(model)(inputs)) == values(model(inputs)));  // nothing is dropped
  const std::string json = model.to_json();
  for (const char* part : {R"("kwargs":{"training":false})", R"("use_causal_mask":true)",
                           R"("attention_mask":{)", R"("return_attention_scores":true)", R"("mask":{)"})
    CHECK_MESSAGE(json.find(part) != std::string::npos, part);
}

TEST_CASE("a model from the middle of another gets an input of its own") {
  const Tensor in = nn::Input({3}, {.name = "in"});
  const nn::Dense first(4, {.name = "first"});
  const Tensor middle = first(in);
  const nn::Model tail(middle, nn::Dense(2, {.name = "last"})(middle), {.name = "tail"});
  const nn::Model again = remade(tail);
  CHECK(names_of(again) == std::vector<std::string>{"first", "last"});
  CHECK(again.get_layer("first").class_name() == "InputLayer");
  const Tensor x = normal({2, 4}, 1, "float32");
  CHECK(values(again(x)) == values(tail(x)));
}

TEST_CASE("names, frozen layers and dtypes are kept") {
  const Tensor in = nn::Input({3}, {.batch_size = 2, .dtype = "float64", .name = "in"});
  const nn::Dense frozen(4, {.name = "frozen", .trainable = false, .dtype = "float64"});
  const nn::Model model(in, nn::Dense(1, {.name = "free", .dtype = "float64"})(frozen(in)),
                        {.name = "named"});
  const nn::Model again = remade(model);
  CHECK((again.input().shape() == Shape{2, 3} && again.input().dtype() == "float64"));
  CHECK((!again.get_layer("frozen").trainable() && again.get_layer("free").trainable() && again.trainable()));
  CHECK((again.trainable_weights().size() == 2 && again.weights()[0].name() == "frozen/kernel"));
  CHECK(again.get_layer("free").dtype() == "float64");
  model.set_trainable(false);
  CHECK(!remade(model).trainable());
}

TEST_CASE("the JSON of older versions of Keras is a model, too") {
  const nn::Model model = nn::model_from_json(R"({"class_name": "Model", "keras_version": "2.2.4", "config": {
      "name": "old", "layers": [
        {"name": "in", "class_name": "InputLayer", "inbound_nodes": [],
         "config": {"batch_input_shape": [null, 2], "dtype": "float32", "sparse": false, "name": "in"}},
        {"name": "out", "class_name": "Dense", "inbound_nodes": [[["in", 0, 0, {}]], [["out", 0, 0, {}]]],
         "config": {"name": "out", "trainable": true, "units": 2, "activation": "relu", "use_bias": false}}],
      "input_layers": [["in", 0, 0]], "output_layers": [["out", 1, 0]]}})");
  CHECK(names_of(model) == std::vector<std::string>{"in", "out"});
  model.set_weights({K::constant({{1.f, -1.f}, {2.f, 1.f}})});
  CHECK(values(model(K::ones({1, 2}))) == Values{3, 0});
  check_remade(model, {normal({3, 2}, 1, "float32")});
}

// --- Sequential -------------------------------------------------------------------------------------------

TEST_CASE("a Sequential has an InputLayer first where its input is known") {
  const nn::Sequential early({nn::Input({4}, {.name = "in"}), nn::Dense(3, {.name = "a"}), nn::Dense(2)},
                             {.name = "early"});
  const Config config = nn::model_config(early).config().at("config").config();
  CHECK(nn::model_config(early).config().at("module") == Value("keras"));
  REQUIRE(config.at("layers").list().size() == 3);
  CHECK(config.at("layers").list()[0].config().at("class_name") == Value("InputLayer"));
  CHECK(config.at("build_input_shape") == Value(Shape{None, 4}));
  check_remade(early, {normal({2, 4}, 1, "float32")});

  const nn::Sequential late({nn::Dense(3)}, {.name = "late"});
  CHECK(nn::model_config(late).config().at("config").config().at("layers").list().size() == 1);
  CHECK(!nn::model_from_json(late.to_json()).built());
  late(K::ones({2, 4}));
  check_remade(late, {normal({2, 4}, 1, "float32")});
}

TEST_CASE("a Sequential takes the layers of a model, its input among them") {
  const nn::Model model = small();
  const nn::Sequential same(model.layers());
  CHECK((same.built() && same.layers().size() == 1));
  const Tensor x = normal({3, 2}, 1, "float32");
  CHECK(values(same(x)) == values(model(x)));
}

// --- Models in models -------------------------------------------------------------------------------------

TEST_CASE("models of both kinds nest, and stand in wrappers") {
  const Tensor photo = nn::Input({4, 3}, {.name = "photo"}), step = nn::Input({3}, {.name = "step"});
  const nn::Sequential inner({nn::Dense(3, {.name = "hidden"}), nn::ReLU()}, {.name = "inner"});
  const nn::Model middle(step, nn::Dense(3, {.name = "scores"})(inner(step)), {.name = "middle"});
  const nn::Model model(photo, nn::TimeDistributed(middle, {.name = "each"})(photo), {.name = "outer"});
  check_remade(model, {normal({2, 4, 3}, 1, "float32")});

  const nn::Model twice(step, middle(middle(step)), {.name = "twice"});
  const Config config = nn::model_config(twice).config().at("config").config();
  CHECK(nn::to_json(config.at("output_layers")) == R"(["middle",2,0])");  // which Keras counts from 1
  check_remade(twice, {normal({2, 3}, 1, "float32")});
  const nn::Sequential around({nn::Input({3}, {.name = "in"}), middle, nn::Dense(2)}, {.name = "around"});
  check_remade(around, {normal({2, 3}, 1, "float32")});
}

TEST_CASE("a layer that two models in a model share is one again") {
  const Tensor a = nn::Input({3}, {.name = "a"}), b = nn::Input({3}, {.name = "b"});
  const nn::Dense shared(3, {.name = "shared"});
  const nn::Model left(a, shared(a), {.name = "left"}),
      right(b, nn::ReLU({.name = "relu"})(shared(b)), {.name = "right"});
  const nn::Model model({a, b}, {left(a), right(b)}, {.name = "both"});
  CHECK(model.to_json().find("shared_object_id") != std::string::npos);
  CHECK(left.to_json().find("shared_object_id") == std::string::npos);
  const nn::Model again = nn::model_from_json(model.to_json());
  CHECK(again.weights().size() == 2);
  CHECK(nn::Model(again.get_layer("left"))
            .get_layer("shared")
            .is(nn::Model(again.get_layer("right")).get_layer("shared")));
  check_remade(model, {normal({2, 3}, 1, "float32"), normal({2, 3}, 2, "float32")});
}

TEST_CASE("a clone has new weights of the same architecture") {
  const nn::Model model = small(), clone = nn::clone_model(model);
  CHECK(clone.to_json() == model.to_json());
  CHECK(!clone.weights()[0].is(model.weights()[0]));
  CHECK(values(clone.weights()[0].value()) != values(model.weights()[0].value()));
}

// --- Classes of the user's --------------------------------------------------------------------------------

TEST_CASE("layers of the user's are found among the custom objects, at any depth") {
  const nn::Sequential inner({nn::Input({2}, {.name = "in"}), Scale(0.5, nn::LayerOptions{.name = "half"})},
                             {.name = "inner"});
  const Tensor in = nn::Input({3, 2}, {.name = "rows"});
  const nn::Model model(in, nn::TimeDistributed(inner, {.name = "each"})(in), {.name = "outer"});
  CHECK_THROWS_WITH_AS(nn::model_from_json(model.to_json()),
                       Contains("[layer] the name must be known: received 'Scale'"), ValueError);
  CHECK_THROWS_WITH_AS(nn::model_from_json(model.to_json()),
                       Contains("(in the layer 'half' of 'inner') (in the layer 'each' of 'outer')"),
                       ValueError);
  check_remade(model, {normal({2, 3, 2}, 1, "float32")}, {{"Scale", make_scale}});
  CHECK(!nn::is_registered("layer", "Scale"));
  const Config layer = Scale(2).to_value().config();
  CHECK((layer.at("module").is_null() && layer.at("registered_name") == Value("Scale")));
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
  CHECK_THROWS_WITH_AS(nn::model_from_json(json, {{"my_ones", ones}, {"Shrink", shrink}}),
                       Contains("[activation] the name must be known: received 'twice'"), ValueError);
}

TEST_CASE("a model class of the user's comes again, built, from its own config") {
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

TEST_CASE("what has no config says so, and what to do") {
  const Tensor in = nn::Input({3}, {.name = "in"});
  CHECK_THROWS_WITH_AS(
      nn::Model(in, K::sum(nn::Dense(2)(in), 1), {.name = "sums"}).to_json(),
      "[sums] the op 'sum' between layers has no config from which it could be made again: make it "
      "the call of a layer class of your own (nn::LayerOf)",
      ValueError);
  const nn::Lambda lambda([](const Tensor& x) { return x * 2.f; }, {.name = "double"});
  CHECK_THROWS_WITH_AS(nn::Sequential({lambda}).to_json(), Contains("[double] a Lambda has no config"),
                       ValueError);
  const nn::Dense sine(2, {.activation = [](const Tensor& x) { return K::sin(x); }, .name = "sine"});
  CHECK_THROWS_WITH_AS(
      nn::Sequential({sine}).to_json(),
      "[sine] a function has no config from which it could be made again: received activation of "
      "class Dense; make it a class of its own and register it",
      ValueError);
  CHECK_THROWS_WITH_AS(
      Plain().to_json(),
      Contains("must override get_config, or be registered, to be saved: received class Plain"), ValueError);
  CHECK_THROWS_AS(nn::clone_model(nn::Sequential({lambda})), ValueError);
  nn::plot_model(nn::Sequential({nn::Input({3, 2}), nn::TimeDistributed(lambda)}),
                 (std::filesystem::temp_directory_path() / "ktape_config_plot.svg").string());
}

TEST_CASE("what a functional model reports is left out") {
  const Tensor in = nn::Input({3}, {.name = "in"});
  const Tensor out = nn::Dense(1, {.name = "out"})(in);
  const nn::Model model(in, out, {.name = "m"});
  const std::string before = model.to_json();
  model.add_loss(K::mean(K::square(out)));
  CHECK(model.to_json() == before);
}

// --- Values that are no models ----------------------------------------------------------------------------

namespace {

/// small()'s config, changed by replacing a piece of its text.
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
       "[layer] the name must be known: received 'Dence'; did you mean 'Dense'? (in the layer 'out' of "
       "'small')"},
      {R"("units":1)", R"("units":"one")",
       "[Dense] units must be an integer: received \"one\" (in the layer 'out'"},
      {R"("units":1)", R"("units":1,"unit":2)", "[Dense] an argument must be known: received unit=2"},
      {R"("units":1)", R"("units":0)", "[Dense] units must be at least 1"},
      {R"("kwargs":{})", R"("kwargs":{"trainin":true})",
       "[small] the layer 'out': an argument of a call must be known: received trainin=true; did you mean "
       "'training'?"},
      {R"("kwargs":{})", R"("kwargs":{"training":1})", "training must be true or false: received 1"},
      {R"("batch_shape":[null,2])", R"("batch_shape":[null,-2])", "extents must be None or at least 0"},
      {R"("batch_shape":[null,2],)", "", "[InputLayer] batch_shape must be given"},
      {R"("layers":[)", R"("layerz":[)",
       "there must be a value of the name: received name='layers'; did you mean 'layerz'?"},
      {R"("dtype":"float32","batch_shape")", R"("dtype":"float33","batch_shape")", "float33"},
      {R"("class_name":"Functional")", R"("class_name":"Dense")", "[Dense]"},
  };
  for (const auto& [piece, by, text] : cases) {
    CAPTURE(by);
    CHECK_THROWS_WITH(nn::model_from_json(broken(piece, by)), Contains(text.c_str()));
  }
  const Value twice =
      nn::from_json(broken(R"("name":"out","inbound_nodes")", R"("name":"in","inbound_nodes")"));
  CHECK_THROWS_WITH_AS(nn::Layer::from_value(twice),
                       "[small] each layer must have a name of its own: received two layers named 'in'",
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

TEST_CASE("no change of a config crashes, and none leaves anything behind") {
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
  CHECK((errors > 500 && models > 50));
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

// --- How a model was compiled -----------------------------------------------------------------------------

namespace {

/// A model of two outputs, "a" and "b".
nn::Model forked() {
  const Tensor in = nn::Input({2}, {.name = "in"});
  return nn::Model(in, {nn::Dense(1, {.name = "a"})(in), nn::Dense(1, {.name = "b"})(in)},
                   {.name = "forked"});
}

/// The logs of one step of a model that is compiled like another, behind JSON.
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

TEST_CASE("how a model was compiled is written as Keras 3 writes it") {
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
  CHECK((rate.at("module") == Value("keras.optimizers.schedules") &&
         rate.at("class_name") == Value("CosineDecay")));
  CHECK((config.at("loss").config().at("module") == Value("keras.losses") &&
         config.at("loss_weights").is_null()));
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
  CHECK((metrics.list().size() == 2 && metrics.list()[0].is_list()));
  Config flat = nn::compile_config(model).config();
  flat.set("metrics", Value::List{"mae", "mape"});
  nn::compile_from_config(model, flat);
  const nn::Logs logs = model.test_on_batch(K::ones({2, 2}), {K::ones({2, 1}), K::ones({2, 1})});
  CHECK((logs.contains("a_mae") && logs.contains("b_mape") && !logs.contains("a_mape")));
  flat.set("metrics", Value::List{"mae"});
  CHECK_THROWS_WITH_AS(nn::compile_from_config(model, flat),
                       "[compile] metrics must have one entry for each of the 2 outputs: received 1",
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
  CHECK(values(again.predict(x)) == values(model.predict(x)));
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
          "[optimizer] the name must be known: received 'addam'; did you mean 'Adam'");
  refused(with("optimizer", Value()), "[compile] the optimizer must be given: received None");
  refused(with("loss", "mes"), "'mse'");
  refused(with("loss", Config{{"uot", "mse"}}),
          "[compile] loss must name outputs of 'small': received 'uot'");
  refused(with("loss", 3), "[loss] a name or a {class_name, config} must be a string: received 3");
  refused(with("loss_weights", "half"), "[compile] loss_weights must be a number: received \"half\"");
  refused(with("metrics", Value::List{Value::List{"mea"}}),
          "[metric] the name must be known: received 'mea'");
  refused(Value(), "[small] compile_config must be a config: received null");
  refused(Config(), "received name='optimizer'");
}

// --- Every class of the library ---------------------------------------------------------------------------

namespace {

/// The arguments of the classes that cannot do without.
Config arguments_of(const std::string& name) {
  static const Config all{
      {"IoU", Config{{"num_classes", 3}, {"target_class_ids", Value::List{0, 2}}}},
      {"BinaryIoU", Config{{"target_class_ids", Value::List{0, 1}}}},
      {"OneHotIoU", Config{{"num_classes", 3}, {"target_class_ids", Value::List{1}}}},
      {"MeanIoU", Config{{"num_classes", 3}}},
      {"OneHotMeanIoU", Config{{"num_classes", 3}}},
      {"SensitivityAtSpecificity", Config{{"specificity", 0.5}}},
      {"SpecificityAtSensitivity", Config{{"sensitivity", 0.5}}},
      {"PrecisionAtRecall", Config{{"recall", 0.5}}},
      {"RecallAtPrecision", Config{{"precision", 0.5}}},
      {"ExponentialDecay", Config{{"initial_learning_rate", 0.1}, {"decay_steps", 9}, {"decay_rate", 0.5}}},
      {"InverseTimeDecay", Config{{"initial_learning_rate", 0.1}, {"decay_steps", 9}, {"decay_rate", 0.5}}},
      {"PiecewiseConstantDecay",
       Config{{"boundaries", Value::List{2, 5}}, {"values", Value::List{0.3, 0.2, 0.1}}}},
      {"PolynomialDecay", Config{{"initial_learning_rate", 0.1}, {"decay_steps", 9}}},
      {"CosineDecay", Config{{"initial_learning_rate", 0.1}, {"decay_steps", 9}}},
      {"CosineDecayRestarts", Config{{"initial_learning_rate", 0.1}, {"first_decay_steps", 9}}},
  };
  return all.get(name, Config()).config();
}

/// Checks that each class of the kind is made again of its JSON, and then does what `same` looks at.
template <class H, class Same>
void check_kind(Same same) {
  const std::vector<std::string> names = nn::registered_names(H::Impl::kind);
  CHECK(!names.empty());
  for (const std::string& name : names) {
    CAPTURE(name);
    const H object{Value(Config{{"class_name", name}, {"config", arguments_of(name)}})};
    const Value value = nn::with_module(H::Impl::kind, object.to_value());
    if (value.is_config() && value.config().at("module").is_null()) continue;  // of another test
    const H again{nn::from_json(nn::to_json(value))};
    CHECK((again.class_name() == object.class_name() && again.get_config() == object.get_config()));
    CHECK(same(object, again));
  }
}

}  // namespace

TEST_CASE("each loss, metric, optimizer, schedule, initializer and so on is made again of its JSON") {
  const Tensor t = K::constant({{0.f, 1.f, 0.f}, {1.f, 0.f, 0.f}}),
               p = K::constant({{.1f, .7f, .2f}, {.6f, .3f, .1f}});
  const Tensor classes = ints({1, 0});
  const auto equal = [](const Tensor& a, const Tensor& b) { return values(a) == values(b); };
  check_kind<nn::Loss>([&](const nn::Loss& a, const nn::Loss& b) {
    if (a.class_name() == "CTC") return true;  // of other shapes
    const bool sparse = a.class_name().starts_with("Sparse") || a.class_name() == "Circle" ||
                        a.class_name() == "CategoricalGeneralizedCrossEntropy";
    const Tensor& y = sparse ? classes : t;
    return equal(a(y, p), b(y, p));
  });
  check_kind<nn::Metric>([&](const nn::Metric& a, const nn::Metric& b) {
    if (a.class_name() == "Mean" || a.class_name() == "Sum") return equal(a(Tensor(), p), b(Tensor(), p));
    const bool of_classes = a.class_name() == "IoU" || a.class_name() == "MeanIoU";
    const bool sparse = a.class_name().starts_with("Sparse");
    const Tensor &y = sparse || of_classes ? classes : t, &z = of_classes ? classes : p;
    return equal(a(y, z), b(y, z)) && a.name() == b.name();
  });
  check_kind<nn::Optimizer>([&](const nn::Optimizer& a, const nn::Optimizer& b) {
    const ktape::Variable v = K::variable(p), w = K::variable(p);
    a.apply({t}, {v}), b.apply({t}, {w});
    return equal(v.value(), w.value());
  });
  check_kind<nn::Schedule>([](const nn::Schedule& a, const nn::Schedule& b) { return a(7) == b(7); });
  check_kind<nn::Regularizer>(
      [&](const nn::Regularizer& a, const nn::Regularizer& b) { return equal(a(p), b(p)); });
  check_kind<nn::Constraint>(
      [&](const nn::Constraint& a, const nn::Constraint& b) { return equal(a(p), b(p)); });
  check_kind<nn::ActivationFunction>([](const nn::ActivationFunction& a, const nn::ActivationFunction& b) {
    const Tensor x = normal({2, 4});
    return values(a(x)) == values(b(x));
  });
  check_kind<nn::Initializer>([](const nn::Initializer&, const nn::Initializer&) { return true; });
}

TEST_CASE("what a layer learned of data is made again") {
  const nn::StringLookup words;
  words.adapt({"cat", "dog", "cat"});
  const nn::StringLookup again(nn::Layer::from_value(nn::from_json(nn::to_json(words.to_value()))));
  CHECK(again.get_vocabulary() == words.get_vocabulary());
  CHECK(values(again({"dog", "owl"})) == values(words({"dog", "owl"})));

  const nn::TextVectorization texts({.output_mode = "tf_idf"});
  texts.adapt({"a cat", "a dog", "the cat"});
  const nn::TextVectorization texts_again(
      nn::Layer::from_value(nn::from_json(nn::to_json(texts.to_value()))));
  CHECK(values(texts_again({"the dog"})) == values(texts({"the dog"})));

  const nn::IntegerLookup numbers;
  numbers.adapt(ints({7, 7, 9}));
  const nn::Layer numbers_again = nn::Layer::from_value(nn::from_json(nn::to_json(numbers.to_value())));
  CHECK(values(numbers_again(ints({9, 1}))) == values(numbers(ints({9, 1}))));

  const nn::Discretization bins({.num_bins = 3});
  bins.adapt(normal({50}, 1, "float32"));
  const nn::Layer bins_again = nn::Layer::from_value(nn::from_json(nn::to_json(bins.to_value())));
  const Tensor x = normal({9}, 2, "float32");
  CHECK(values(bins_again(x)) == values(bins(x)));

  const nn::Normalization scaled;
  scaled.adapt(normal({50, 3}, 1, "float32"));
  const nn::Sequential model({nn::Input({3}, {.name = "in"}), scaled}, {.name = "scaled"});
  check_remade(model, {normal({4, 3}, 2, "float32")});  // which are weights

  const nn::TextVectorization own({.standardize = [](const std::string& text) { return text + "!"; }});
  CHECK_THROWS_WITH_AS(own.to_value(), Contains("received standardize of class TextVectorization"),
                       ValueError);
}
