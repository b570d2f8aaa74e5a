#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/layers/base/layer_call.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::TypeError, ktape::ValueError;
using nn::Config, nn::Value;

namespace {

nn::Layer from_json(const char* config) {
  return nn::Layer::from_value(Config{{"class_name", "InputLayer"}, {"config", nn::from_json(config)}});
}

}  // namespace

TEST_CASE("an input has an unknown batch, a shape, a dtype and a counted name") {
  K::clear_session();
  const Tensor first = nn::Input({4}), second = nn::Input({None, 3}, {.batch_size = 7, .dtype = "int32"});
  CHECK(first.shape() == Shape{None, 4});
  CHECK(first.dtype() == "float32");
  CHECK(second.shape() == Shape{7, None, 3});
  CHECK(second.dtype() == "int32");
  CHECK(nn::call_of(first)->layer.name() == "input_1");
  CHECK(nn::call_of(second)->layer.name() == "input_2");
  CHECK(K::is_keras_tensor(first));
  CHECK(nn::Input({}).shape() == Shape{None});
  CHECK(nn::Input({2}, {.batch_size = 0}).shape() == Shape{0, 2});
  CHECK(nn::call_of(nn::Input({2}, {.name = "pixels"}))->layer.name() == "pixels");
  K::clear_session();
}

TEST_CASE("a batch below 0 is an error") {
  CHECK_THROWS_WITH_AS(nn::Input({2}, {.batch_size = -1}),
                       "[Input] batch_size must be at least 0: received batch_size=-1", ValueError);
}

TEST_CASE("input_of returns new tensors for an InputLayer, and none for other layers") {
  const nn::Layer layer = nn::call_of(nn::Input({4}, {.dtype = "float64", .name = "x"}))->layer;
  const Tensor again = nn::input_of(layer);
  CHECK(again.shape() == Shape{None, 4});
  CHECK(again.dtype() == "float64");
  CHECK(nn::call_of(again)->layer.is(layer));
  CHECK_FALSE(nn::input_of(nn::Dense(1)).defined());
  CHECK_FALSE(nn::input_of(nn::Identity()).defined());
}

TEST_CASE("the config of an input has its shape, and no trainable") {
  const nn::Layer layer = nn::call_of(nn::Input({None, 3}, {.dtype = "int32", .name = "ids"}))->layer;
  const Config config = layer.to_value().config().at("config").config();
  CHECK(config.at("batch_shape") == nn::from_json("[null, null, 3]"));
  CHECK(config.at("dtype") == Value("int32"));
  CHECK_FALSE(config.contains("trainable"));
  const nn::Layer again = nn::Layer::from_value(layer.to_value());
  CHECK(nn::input_of(again).shape() == Shape{None, None, 3});
  CHECK(nn::input_of(again).dtype() == "int32");
  CHECK(again.to_value() == layer.to_value());
}

TEST_CASE("configs of other versions: flags of ragged and optional inputs, and no name") {
  K::clear_session();
  const nn::Layer layer =
      from_json(R"({"batch_shape": [null, 2], "ragged": false, "optional": false, "dtype": null})");
  CHECK(layer.name() == "input_1");
  CHECK(layer.dtype() == "float32");
  K::clear_session();
  CHECK_THROWS_WITH_AS(from_json(R"({"batch_shape": [null, 2], "ragged": true})"),
                       Contains("[InputLayer] inputs are not ragged: received ragged=true"), ValueError);
  CHECK_THROWS_WITH_AS(from_json(R"({"dtype": "float32"})"),
                       Contains("[InputLayer] batch_shape must be given: received {"), ValueError);
  CHECK_THROWS_WITH_AS(from_json(R"({"batch_shape": "all"})"), Contains("[InputLayer] batch_shape must be"),
                       TypeError);
}

TEST_CASE("a model from an input straight to an output passes values and masks on") {
  const Tensor in = nn::Input({3});
  const nn::Model model(in, in);
  const Tensor x = K::constant({{1.f, 2.f, 3.f}});
  CHECK(values(model(x)) == Values{1, 2, 3});
  CHECK(values(nn::model_from_json(model.to_json())(x)) == Values{1, 2, 3});
}
