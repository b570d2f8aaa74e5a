#include <ktape/ops/schema/config.hpp>

#include <cmath>
#include <limits>
#include <sstream>

#include <doctest/doctest.h>

using namespace ktape;
using nn::Config, nn::Value;

TEST_CASE("a config holds values under names, in order") {
  Config config{
      {"units", 3}, {"name", "scores"}, {"use_bias", true}, {"rate", 0.5}, {"shape", Shape{2, None}}};
  CHECK(config.at("units").integer() == 3);
  CHECK(config.at("units").number() == 3.0);
  CHECK(config.at("name").string() == "scores");
  CHECK(config.at("use_bias").boolean());
  CHECK(config.at("rate").number() == 0.5);
  CHECK(config.at("shape").shape() == Shape{2, None});
  CHECK(config.get("seed", 7).integer() == 7);
  CHECK(config.get("seed").is_null());
  config.set("units", 4);
  config.erase("name");
  CHECK(config.names() == std::vector<std::string>{"units", "use_bias", "rate", "shape"});
  CHECK(config.at("units").integer() == 4);
}

TEST_CASE("values convert to the types of options") {
  CHECK(Value(2).as<double>() == 2);
  CHECK(Value(2.0).as<int>() == 2);
  CHECK(Value().as<std::optional<int>>() == std::nullopt);
  CHECK(Value(std::optional<int>(3)).as<std::optional<int>>() == 3);
  CHECK(Value(std::vector<double>{1, 2.5}).as<std::vector<double>>() == std::vector<double>{1, 2.5});
  CHECK(Value(std::array<std::int64_t, 2>{1, 2}).as<std::array<std::int64_t, 2>>()[1] == 2);
  CHECK(Value(Axes{0, 1}).axes().list() == std::vector<int>{0, 1});
  CHECK(Value(Axes(2)).integer() == 2);
  CHECK(Value(Axes()).axes().all());
  using Three = std::array<int, 3>;
  CHECK_THROWS_WITH_AS((Value(Shape{1, 2}).as<Three>("[Conv] strides")),
                       "[Conv] strides must have 3 entries: received [1,2]", ValueError);
}

TEST_CASE("a value of another type is an error that names the type") {
  CHECK_THROWS_WITH_AS(Value("x").number(), "[Config] the value must be a number: received \"x\"", TypeError);
  CHECK_THROWS_WITH_AS(Value(2.5).integer("[Dense] units"), "[Dense] units must be an integer: received 2.5",
                       TypeError);
  CHECK_THROWS_WITH_AS(Value(1).boolean(), "[Config] the value must be true or false: received 1", TypeError);
  CHECK_THROWS_AS(Value(1e300).integer(), TypeError);
  CHECK_THROWS_AS(Value(NAN).integer(), TypeError);
  CHECK_THROWS_AS(Value(true).string(), TypeError);
  CHECK_THROWS_AS(Value().list(), TypeError);
  CHECK_THROWS_AS(Value(3).config(), TypeError);
  CHECK_THROWS_WITH_AS((Config{{"units", 3}, {"name", "x"}}.at("unit")),
                       "[Config] the name must be that of a value: received name='unit'; did you mean "
                       "'units'?",
                       ValueError);
}

TEST_CASE("an integer that the option cannot hold is an error") {
  constexpr std::int64_t large = (std::int64_t{1} << 32) + 1;
  CHECK_THROWS_WITH_AS(
      Value(large).as<int>("[Concatenate] axis"),
      "[Concatenate] axis must be an integer from -2147483648 to 2147483647: received 4294967297",
      ValueError);
  CHECK_THROWS_AS((Value(Value::List{1, -large}).as<std::vector<int>>()), ValueError);
  CHECK_THROWS_AS(Value(large).as<ktape::Axes>(), ValueError);
  CHECK(Value(large).as<std::int64_t>() == large);
  CHECK(Value(-1).as<std::uint64_t>() == UINT64_MAX);  // seeds are written so
}

TEST_CASE("a config is written as JSON and read back") {
  const Config config{{"name", "a \"quoted\" name"},           {"by", 0.1},    {"units", 3}, {"seed", None},
                      {"inner", Config{{"axis", Axes{0, 1}}}}, {"flag", false}};
  const std::string text = to_json(config);
  CHECK(text ==
        R"({"name":"a \"quoted\" name","by":0.1,"units":3,"seed":null,"inner":{"axis":[0,1]},"flag":false})");
  CHECK(nn::from_json(text) == Value(config));
  CHECK(nn::from_json("[1, 2.0, \"x\"]").list().size() == 3);
  CHECK(nn::from_json("18446744073709551615").number() == 18446744073709551615.0);
  CHECK(nn::from_json("{\"a\": 1, \"b\": 2}") == nn::from_json("{\"b\": 2.0, \"a\": 1}"));
  CHECK_FALSE(nn::from_json("{\"a\": 1}") == nn::from_json("{\"a\": 2}"));
  CHECK(to_json(Config{{"a", 1}}, 2) == "{\n  \"a\": 1\n}");
}

TEST_CASE("text that is not JSON is an error") {
  for (const char* text : {"", "{", "{\"a\" 1}", "[1,]", "nan", "1e999", "\"\x80\""}) {
    CAPTURE(text);
    CHECK_THROWS_AS(nn::from_json(text), ValueError);
  }
  CHECK_THROWS_WITH_AS(nn::from_json(std::string(100000, '[') + std::string(100000, ']')),
                       "[from_json] values may be nested 200 deep: received a deeper text", ValueError);
  CHECK_THROWS_WITH_AS(nn::to_json(Config{{"a", std::numeric_limits<double>::infinity()}}),
                       "[to_json] numbers must be finite: received one that is not", ValueError);
}

TEST_CASE("a config of many names keeps their order, replaces and forgets values") {
  constexpr int many = 20000;
  nn::Config config;
  for (int i = 0; i < many; ++i) config.set("name" + std::to_string(i), i);
  config.set("name7", "seven");
  config.erase("name3");
  CHECK(config.size() == many - 1);
  CHECK(config.at("name7").string() == "seven");
  CHECK_FALSE(config.contains("name3"));
  CHECK(config.at("name4").integer() == 4);
  CHECK(config.begin()[3].first == "name4");
  config.set("name3", 3);
  CHECK(config.names().back() == "name3");
  const std::string json = nn::to_json(config);
  CHECK(nn::to_json(nn::from_json(json)) == json);
  CHECK(nn::from_json(R"({"a": 1, "b": 2, "a": 3})") == nn::Value(nn::Config{{"a", 3}, {"b", 2}}));
}
