#include "../saving/remade_models.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using namespace remade_models;
using ktape::None, ktape::Shape, ktape::Tensor;
using nn::Config, nn::Value;

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
  CHECK(dense.at("module") == Value("keras.layers"));
  CHECK(dense.at("name") == Value("out"));
  CHECK(nn::to_json(dense.at("inbound_nodes")) ==
        R"([{"args":[{"class_name":"__keras_tensor__","config":{"shape":[null,2],"dtype":"float32",)"
        R"("keras_history":["in",0,0]}}],"kwargs":{}}])");
  CHECK(nn::to_json(own.at("input_layers")) == R"(["in",0,0])");
  CHECK(nn::to_json(own.at("output_layers")) == R"(["out",0,0])");
  check_remade(model, {normal({3, 2}, 1, "float32")});
}

TEST_CASE("JSON is written on one line or on several lines") {
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

TEST_CASE("a model from the middle of another model gets a new input") {
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
  const nn::Dense frozen(4, {.trainable = false, .dtype = "float64", .name = "frozen"});
  const nn::Model model(in, nn::Dense(1, {.dtype = "float64", .name = "free"})(frozen(in)),
                        {.name = "named"});
  const nn::Model again = remade(model);
  CHECK(again.input().shape() == Shape{2, 3});
  CHECK(again.input().dtype() == "float64");
  CHECK(!again.get_layer("frozen").trainable());
  CHECK(again.get_layer("free").trainable());
  CHECK(again.trainable());
  CHECK(again.trainable_weights().size() == 2);
  CHECK(again.weights()[0].name() == "frozen/kernel");
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
  CHECK(same.built());
  CHECK(same.layers().size() == 1);
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

TEST_CASE("a layer that two inner models share is one layer again") {
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

TEST_CASE("a clone has the architecture and new weights") {
  const nn::Model model = small(), clone = nn::clone_model(model);
  CHECK(clone.to_json() == model.to_json());
  CHECK(!clone.weights()[0].is(model.weights()[0]));
  CHECK(values(clone.weights()[0].value()) != values(model.weights()[0].value()));
}
