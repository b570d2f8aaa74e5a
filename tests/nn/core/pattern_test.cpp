#include <doctest/doctest.h>
#include <ktape/nn/core/pattern.hpp>

#include <stdexcept>

using ktape::nn::Pattern;

TEST_CASE("Pattern: a match covers the whole text") {
  const Pattern layer("block([0-9]+)/kernel");
  CHECK(layer.matches("block12/kernel"));
  CHECK_FALSE(layer.matches("block12/kernel2"));
  CHECK_FALSE(layer.matches("my/block12/kernel"));
}

TEST_CASE("Pattern: groups that took no part are empty") {
  const Pattern weight("(weight|bias)_l([0-9])(_reverse)?");
  CHECK(weight.groups("bias_l1") == std::vector<std::string>{"bias_l1", "bias", "1", ""});
  CHECK(weight.groups("weight_l0_reverse") ==
        std::vector<std::string>{"weight_l0_reverse", "weight", "0", "_reverse"});
  CHECK(weight.groups("gain_l0").empty());
}

TEST_CASE("Pattern: replaced puts groups where the format names them") {
  CHECK(Pattern("layer([0-9]+)\\.weight").replaced("layer3.weight", "dense_$1/kernel") == "dense_3/kernel");
}

TEST_CASE("Pattern: texts beyond the limit match nothing, and hostile patterns end") {
  CHECK_FALSE(Pattern("a*").matches(std::string(Pattern::longest_text + 1, 'a')));
  CHECK(Pattern("a*").groups(std::string(Pattern::longest_text + 1, 'a')).empty());
  CHECK_FALSE(Pattern("(a+)+b", Pattern::Time::Polynomial).matches(std::string(500, 'a')));
}

TEST_CASE("Pattern: a malformed expression is an error with a reason") {
  CHECK_THROWS_AS(Pattern("(a"), std::runtime_error);
  CHECK_THROWS_AS(Pattern("[a", Pattern::Time::Polynomial), std::runtime_error);
}
