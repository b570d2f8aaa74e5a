#include <ktape/ktape.hpp>
#include <ktape/ops/help/declared_text.hpp>
#include <ktape/ops/help/header_index.hpp>
#include <ktape/ops/schema/described_call.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "../../nn/data/files.hpp"
#include "../check.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::All, ktape::Slice, ktape::Tensor;

namespace {

/// The values that the symbol of a result keeps, as JSON: an option after its name.
std::vector<std::string> kept(const Tensor& result) {
  std::vector<std::string> out;
  const auto* const described = ktape::described_arguments(*result.get()->symbol);
  REQUIRE(described != nullptr);
  for (const ktape::DescribedArgument& argument : *described) {
    if (!argument.values) continue;
    const auto values = argument.values(argument.value);
    REQUIRE(values.has_value());
    for (const auto& [name, value] : *values)
      out.push_back(*name ? std::string(name) + '=' + nn::to_json(value) : nn::to_json(value));
  }
  return out;
}

using Names = std::vector<std::string>;

Names members(const std::string& name) {
  static const Files files;
  static const ktape::help_text::HeaderIndex headers = [] {
    std::filesystem::create_directory_symlink(std::filesystem::current_path(), files.folder() + "/ktape");
    return ktape::help_text::HeaderIndex(files.folder());
  }();
  Names names;
  for (const auto& place : headers.places(name))
    for (const auto& [field, line] : ktape::help_text::fields_of(ktape::help_text::lines_around(place),
                                                                 place.line - 1, place.last_line - 1))
      names.push_back(field);
  return names;
}

}  // namespace

TEST_CASE("symbols keep options with their names") {
  const Tensor x = K::placeholder({2, 3, 4});
  CHECK(kept(K::relu(x, {.alpha = 0.5, .max_value = 6.})) ==
        Names{"alpha=0.5", "max_value=6.0", "threshold=0.0"});
  CHECK(kept(K::relu(x, {.threshold = 1})) == Names{"alpha=0.0", "max_value=null", "threshold=1.0"});
  CHECK(kept(K::sum(x, {0, -1}, true)) == Names{"[0,-1]", "true"});
  CHECK(kept(K::cast(x, "float64")) == Names{"\"float64\""});
  CHECK(kept(x[{0, Slice(1, ktape::None), ktape::NewAxis, ktape::Ellipsis}]) ==
        Names{R"([0,{"start":1,"stop":null,"step":null},null,"..."])"});
  CHECK(kept(K::split(x, {1, 2}, 1)[0]) == Names{"[1]", "1"});
  CHECK(kept(K::split(x, 2, 0)[0]) == Names{"2", "0"});
}

TEST_CASE("a number stands beside the mode of padding that uses it") {
  const Tensor x = K::placeholder({2, 3});
  CHECK(kept(K::pad(x, {{1, 1}, {0, 0}}, {.constant_values = 2})) ==
        Names{"[[1,1],[0,0]]", "mode=\"constant\"", "constant_values=2"});
  CHECK(kept(K::pad(x, {{1, 1}, {0, 0}}, {.mode = "reflect"})) == Names{"[[1,1],[0,0]]", "mode=\"reflect\""});
}

TEST_CASE("the format of images that a program has when it builds a model is kept") {
  const Tensor x = K::placeholder({2, 3, 4}), bias = K::placeholder({ktape::None});
  CHECK(kept(K::bias_add(x, bias)) == Names{"data_format=\"channels_last\""});
}

TEST_CASE("an op's source names all members of its options") {
  const std::regex begin("^void fields\\((\\w+Options)& options.*"), field(".*field\\(\"(\\w+)\".*");
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("ops")) {
    if (entry.path().extension() != ".cpp") continue;
    std::ifstream file(entry.path());
    std::string space, options;
    Names named;
    std::smatch match;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("namespace ktape::")) space = line.substr(17, line.find(' ', 17) - 17);
      if (std::regex_match(line, match, begin)) options = match[1], named.clear();
      else if (!options.empty() && std::regex_match(line, match, field)) named.push_back(match[1]);
      if (options.empty() || line != "}") continue;
      CAPTURE(entry.path().string());
      CAPTURE(options);
      Names wanted = members(space + "::" + options);
      std::erase(wanted, "name");  // of the tensor that is made
      CHECK(named == wanted);
      options.clear();
      ++compared;
    }
  }
  CHECK(compared > 20);
}

TEST_CASE("arguments without a form in configs are not kept") {
  struct Unknown {};
  CHECK(!bool(ktape::describe(Unknown()).values));
  CHECK(bool(ktape::describe(true).values));
}
