// Every name of keras.ops has a case whose gradient is compared with differences, or stands below with the reason why it has none.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "../catalogue.hpp"

namespace {

using Names = std::set<std::string>;

/// The names of keras.ops that the library has.
Names names_of_keras() {
  Names names;
#define KERAS_NAME(space, name) \
  if (std::string(#space) == "ops") names.insert(#name);
#define KERAS_MISSING(name, reason)
#include "keras_names.inc"
#undef KERAS_NAME
#undef KERAS_MISSING
  return names;
}

/// Returns the names of rows with or without a gradient: those of ops, and those of functions that ops takes from K.
Names catalogued(bool differentiable) {
  Names names;
  for (const CatalogueRow& row : Catalogue::rows())
    if ((row.f != nullptr) == differentiable)
      names.insert(row.name.starts_with("ops::") ? row.name.substr(5) : row.name);
  return names;
}

/// Returns the names of image functions, whose extents must be known, so that they are checked outside of the catalogue.
Names checked_images() {
  std::ostringstream text;
  text << std::ifstream("tests/ops/keras/image/image_test.cpp").rdbuf();
  const std::string code = text.str();
  const std::regex check("\\bcheck\\(\"(\\w+)\"");
  Names names;
  for (auto i = std::sregex_iterator(code.begin(), code.end(), check); i != std::sregex_iterator(); ++i)
    names.insert((*i)[1]);
  return names;
}

/// The names without a row, by the reason.
const std::map<std::string, Names> without_case{
    {"the caller gives the gradient", {"custom_gradient"}},
    {"the results are values, not recorded", {"jvp"}},
};

}  // namespace

TEST_CASE("every name of keras.ops has a case for its gradient, or has no gradient") {
  const Names with = catalogued(true), without = catalogued(false), images = checked_images();
  Names excused;
  for (const auto& [reason, names] : without_case) excused.insert(names.begin(), names.end());
  for (const std::string& each : names_of_keras()) {
    const std::string name = each;
    const bool has_case = with.count(name) + images.count(name) > 0;
    const std::size_t other = without.count(name) + excused.count(name);
    CHECK_MESSAGE((has_case || other > 0),
                  name << " must have a row with its gradient in the test of its family");
    CHECK_MESSAGE(!(has_case && excused.count(name)), name << " has a case and a reason to have none");
  }
}
