#include <ktape/nn/files/json_part.hpp>

#include "../../ops/check.hpp"
#include "../data/files.hpp"

namespace nn = ktape::nn;
using doctest::Contains;
using ktape::IOError;
using namespace nn::saving;

TEST_CASE("json_part parses a text, and an error says in which file and where") {
  CHECK(json_part("load_model", "m.keras", "config.json", R"({"a": [1]})").config().at("a").list().size() ==
        1);
  CHECK_THROWS_WITH_AS(
      json_part("load_model", "m.keras", "config.json", "{\n  1"),
      Contains("[load_model] the file must hold JSON: received m.keras (config.json: line 2, "
               "column 3: "),
      IOError);
  CHECK_THROWS_WITH_AS(json_part("load_model", "m.json", "", "["),
                       Contains("received m.json (line 1, column 2: "), IOError);
}

TEST_CASE("reason_of leaves out the names of operations") {
  CHECK(reason_of(ktape::ValueError("[load] [config] no layer")) == "[config] no layer");
  CHECK(reason_of(ktape::ValueError("no [layer] here")) == "no [layer] here");
}
