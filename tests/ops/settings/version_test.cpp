#include <doctest/doctest.h>

#include <fstream>
#include <ktape/ktape.hpp>
#include <sstream>

#include "../catalogue.hpp"

namespace K = ktape::backend;

TEST_CASE("the library, its headers and the changelog have one version") {
  std::ostringstream of_headers;
  of_headers << KTAPE_VERSION_MAJOR << '.' << KTAPE_VERSION_MINOR << '.' << KTAPE_VERSION_PATCH;
  CHECK(K::version() == of_headers.str());
  std::ifstream changelog("CHANGELOG.md");
  std::string line;
  while (std::getline(changelog, line) && !line.starts_with("## ")) continue;
  CHECK(line == "## " + K::version());
}

namespace {

const Catalogue catalogue([]() -> Catalogue::Rows { return {{"version", no_gradient}}; });

}  // namespace
