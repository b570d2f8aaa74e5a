#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/layers/base/arguments.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::DType, ktape::None, ktape::Shape, ktape::TypeError, ktape::ValueError;
using nn::Config, nn::Value;

TEST_CASE("automatic names are counted for each class, from a name without a number") {
  K::clear_session();
  CHECK(nn::automatic_name("Conv2DTranspose") == "conv2d_transpose");
  CHECK(nn::automatic_name("Conv2DTranspose") == "conv2d_transpose_1");
  CHECK(nn::automatic_name("LSTM") == "lstm");
  CHECK(nn::automatic_name("Conv2DTranspose") == "conv2d_transpose_2");
  K::clear_session();
}

TEST_CASE("own_arguments returns the arguments that not every layer has, in order") {
  const Config config = nn::from_json(R"({"name": "d", "units": 3, "trainable": true, "dtype": "float32",
      "batch_input_shape": [null, 2], "activation": null, "build_config": {}, "autocast": true})")
                            .config();
  CHECK(nn::own_arguments(config) == Config{{"units", 3}, {"activation", Value()}});
  CHECK(config.size() == 8);
}

TEST_CASE("the dtype of a config is a name, a policy of Keras 3, or none") {
  CHECK_FALSE(nn::dtype_in(Config()).has_value());
  CHECK_FALSE(nn::dtype_in(Config{{"dtype", Value()}}).has_value());
  CHECK_FALSE(nn::dtype_in(Config{{"dtype", "string"}}).has_value());
  CHECK(nn::dtype_in(Config{{"dtype", "float64"}}) == DType::Float64);
  const Config policy{{"class_name", "DTypePolicy"}, {"config", Config{{"name", "float16"}}}};
  CHECK(nn::dtype_in(Config{{"dtype", policy}}) == DType::Float16);
  CHECK_THROWS_WITH_AS(nn::dtype_in(Config{{"dtype", 7}}, "[d] "), "[d] dtype must be a string: received 7",
                       TypeError);
  CHECK_THROWS_WITH_AS(nn::dtype_in(Config{{"dtype", "float33"}}), Contains("float33"), ValueError);
  CHECK_THROWS_WITH_AS(nn::dtype_in(Config{{"dtype", Config{{"name", "float64"}}}}),
                       Contains("the name must be that of a value: received name='config'"), ValueError);
}

TEST_CASE("the options of every layer are read from a config; null stands for the default") {
  const nn::LayerOptions none = nn::layer_options("Dense", Config{{"name", Value()}, {"trainable", Value()}});
  CHECK(none.name == "");
  CHECK(none.trainable);
  CHECK_FALSE(none.dtype.has_value());
  const nn::LayerOptions all =
      nn::layer_options("Dense", nn::from_json(R"({"name": "d", "trainable": false, "dtype": "float64",
          "batch_input_shape": [null, 2], "units": 3})")
                                     .config());
  CHECK(all.name == "d");
  CHECK_FALSE(all.trainable);
  CHECK(all.dtype == DType::Float64);
  CHECK(all.batch_input_shape == Shape{None, 2});
  CHECK_THROWS_WITH_AS(nn::layer_options("Dense", Config{{"name", 3}}),
                       "[Dense] name must be a string: received 3", TypeError);
  CHECK_THROWS_WITH_AS(nn::layer_options("Dense", Config{{"trainable", 1}}),
                       "[Dense] trainable must be true or false: received 1", TypeError);
  CHECK_THROWS_WITH_AS(nn::layer_options("Dense", Config{{"batch_input_shape", "x"}}),
                       Contains("[Dense] batch_input_shape must be"), TypeError);
}

TEST_CASE("a layer's description has Keras's form; a function is an error") {
  const nn::Dense layer(3, {.name = "d"});
  const Config described = nn::described(layer.impl(), Config{{"units", 3}}).config();
  CHECK(described.at("class_name") == Value("Dense"));
  CHECK(described.at("config") == Value(Config{{"units", 3}}));
  CHECK_FALSE(described.contains("shared_object_id"));
  const Config function{{"class_name", "function"}, {"config", Config()}};
  CHECK_THROWS_WITH_AS(
      nn::described(layer.impl(), Config{{"activation", function}}),
      "[d] a function has no config from which it could be made again: received activation of class "
      "Dense; write a class and register it",
      ValueError);
  const Config named{{"class_name", "function"}, {"config", "relu"}};
  CHECK(nn::described(layer.impl(), Config{{"activation", named}}).config().at("config") ==
        Value(Config{{"activation", named}}));
}

TEST_CASE("as a member of a model, a layer and its inner layers have no input shape") {
  const nn::TimeDistributed layer(nn::Dense(3, {.input_shape = {4}}), {.input_shape = {5, 4}});
  CHECK(nn::to_json(layer.to_value()).find("batch_input_shape") != std::string::npos);
  const Value member = nn::as_member(layer);
  CHECK(nn::to_json(member).find("batch_input_shape") == std::string::npos);
  CHECK(nn::Layer::from_value(member).class_name() == "TimeDistributed");
}

TEST_CASE("seeds follow each other and continue from an archive; without a seed there are none") {
  nn::SeedGenerator none({});
  CHECK_FALSE(none.next().has_value());
  nn::SeedGenerator seeds(7), equal(7);
  CHECK(seeds.next() == 7);
  const auto second = seeds.next();
  // 2^64 divided by the golden ratio, as a signed number.
  CHECK(second == static_cast<std::int64_t>(7 + 0x9e3779b97f4a7c15u));
  nn::Archive archive;
  seeds.state(archive);
  none.state(archive);
  REQUIRE(archive.entries().size() == 1);
  nn::Archive again(archive.entries());
  equal.state(again);
  CHECK(equal.next() == seeds.next());
}

TEST_CASE("numbers out of range are errors that name layer and argument") {
  CHECK_THROWS_WITH_AS(nn::expect_at_least("Dense", "units", 0, 1),
                       "[Dense] units must be at least 1: received units=0", ValueError);
  CHECK_THROWS_WITH_AS(nn::expect_at_least<double>("Noise", "stddev", NAN, 0),
                       "[Noise] stddev must be at least 0: received stddev=nan", ValueError);
  nn::expect_count("Dense", "units", (std::int64_t{1} << 31) - 1);
  CHECK_THROWS_WITH_AS(nn::expect_count("Dense", "units", std::int64_t{1} << 31),
                       "[Dense] units must be below 2 ** 31: received units=2147483648", ValueError);
  CHECK_THROWS_WITH_AS(nn::expect_count("Dense", "units", -1),
                       "[Dense] units must be at least 1: received units=-1", ValueError);
  nn::expect_rate("Dropout", "rate", 0);
  for (const double rate : {1., -0.5, static_cast<double>(NAN)})
    CHECK_THROWS_WITH_AS(nn::expect_rate("Dropout", "rate", rate),
                         Contains("[Dropout] rate must be in [0, 1): received rate="), ValueError);
}
