// Every public name of keras.ops and keras.random, as keras_names.py reads them from the sources of Keras.
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

namespace {

// A name that is not declared fails to compile.
#define KERAS_NAME(space, name) using ktape::space::name;
#define KERAS_MISSING(name, reason)
namespace declared {
#include "keras_names.inc"
}  // namespace declared
#undef KERAS_NAME
#undef KERAS_MISSING

}  // namespace

TEST_CASE("keras.ops has 355 names and keras.random 11: a name that is missing has a reason") {
  int ops = 0, random = 0;
#define KERAS_NAME(space, name) ++space;
#define KERAS_MISSING(name, reason) \
  ++ops;                            \
  CHECK_MESSAGE(!std::string(reason).empty(), #name);
#include "keras_names.inc"
#undef KERAS_NAME
#undef KERAS_MISSING
  CHECK(ops == 355);
  CHECK(random == 11);
}

TEST_CASE("every name of keras.ops stands in an example of a header") {
  std::set<std::string> shown;
  const std::regex name("\\bops::(\\w+)");
  for (const auto& entry : std::filesystem::recursive_directory_iterator("ops/keras")) {
    if (entry.path().extension() != ".hpp") continue;
    std::ifstream header(entry.path());
    for (std::string line; std::getline(header, line);)
      if (line.starts_with("///     "))
        for (auto i = std::sregex_iterator(line.begin(), line.end(), name); i != std::sregex_iterator(); ++i)
          shown.insert((*i)[1]);
  }
#define KERAS_NAME(space, name) \
  if (std::string(#space) == "ops") CHECK_MESSAGE(shown.count(#name) == 1, #name);
#define KERAS_MISSING(name, reason)
#include "keras_names.inc"
#undef KERAS_NAME
#undef KERAS_MISSING
}
