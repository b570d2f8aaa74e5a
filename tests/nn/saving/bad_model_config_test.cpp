#include <ktape/nn/core/loading.hpp>

#include "changes.hpp"
#include "remade_models.hpp"

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
