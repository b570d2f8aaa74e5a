#include <doctest/doctest.h>
#include <ktape/autograd/base/suggestion.hpp>

using namespace ktape;
using Names = std::vector<std::string>;

TEST_CASE("names in quotes are a list with another word before the last") {
  CHECK(in_quotes({}) == "");
  CHECK(in_quotes({"a"}) == "'a'");
  CHECK(in_quotes({"a", "b"}) == "'a' and 'b'");
  CHECK(in_quotes({"a", "", "c d"}, " or ") == "'a', '' or 'c d'");
}

TEST_CASE("a message about an unknown name lists the nearest known names, nearest first") {
  CHECK(suggestion("rleu", {"tanh", "elu", "relu"}) == "; did you mean 'relu' or 'elu'?");
  CHECK(suggestion("featuers", {"features", "scores"}) == "; did you mean 'features'?");
  CHECK(suggestion("RELU", {"tanh", "relu"}) == "; did you mean 'relu'?");
  CHECK(suggestion("conv", {"dense", "flatten"}) == "; known are 'dense' and 'flatten'");
}

TEST_CASE("each kind of edit counts once: a letter more, less, replaced, or two neighbours exchanged") {
  // A name of four letters may be two edits away.
  CHECK(suggestion("relu", {"reluxy"}) == "; did you mean 'reluxy'?");
  CHECK(suggestion("relu", {"reluxyz"}) == "; known are 'reluxyz'");
  CHECK(suggestion("relu", {"re"}) == "; did you mean 're'?");
  CHECK(suggestion("relu", {"r"}) == "; known are 'r'");
  CHECK(suggestion("relu", {"rexy"}) == "; did you mean 'rexy'?");
  CHECK(suggestion("relu", {"rxyz"}) == "; known are 'rxyz'");
  CHECK(suggestion("relu", {"erul"}) == "; did you mean 'erul'?");
  CHECK(suggestion("relu", {"uler"}) == "; known are 'uler'");
}

TEST_CASE("at most three near names are listed, and twelve names where none is near") {
  CHECK(suggestion("a1", {"a2", "a3", "a4", "a5"}) == "; did you mean 'a2', 'a3' or 'a4'?");
  const Names twelve(12, "conv");
  CHECK(suggestion("something", twelve).starts_with("; known are 'conv', 'conv', "));
  const Names thirteen(13, "conv");
  CHECK(suggestion("something", thirteen) == "");
  CHECK(suggestion("x", {}) == "");
  CHECK(suggestion("", {"dense"}) == "; known are 'dense'");
  CHECK(suggestion("", {"a", "b"}) == "; did you mean 'a' or 'b'?");
}
