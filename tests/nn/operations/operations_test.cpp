#include <doctest/doctest.h>
#include <ktape/nn/operations/operations.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace nn = ktape::nn;

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("the list of operations has the rows of all sources") {
  const std::string list = text_of("nn/operations/operations.cpp");
  const std::regex table("\nOperations (\\w+)\\(\\) \\{"), row("\n      \\{\"\\w+\", \"\\w*\",");
  std::size_t rows = 0;
  for (const char* folder : {"ops", "nn"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() != ".cpp") continue;
      const std::string text = text_of(entry.path());
      std::smatch match;
      if (!std::regex_search(text, match, table)) continue;
      CHECK_MESSAGE(list.find("Operations " + match[1].str() + "();") != std::string::npos, match[1].str());
      rows +=
          static_cast<std::size_t>(std::distance(std::sregex_iterator(text.begin(), text.end(), row), {}));
    }
  CHECK(rows == nn::all_operations().size());
}

TEST_CASE("an operation is found by its name, which no other has") {
  std::set<std::string> names;
  for (const nn::Operation& operation : nn::all_operations()) {
    CHECK_MESSAGE(names.insert(operation.name).second, operation.name);
    CHECK(nn::find_operation(operation.name) == &operation);
    CHECK(!operation.parameters().empty());
  }
  CHECK(nn::find_operation("Softsing") == nullptr);
  CHECK(nn::snake_name(*nn::find_operation("ExpandDims")) == "expand_dims");
}
