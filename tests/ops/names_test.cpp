// Every name that the public headers export as K: declared with its contract, tested for its values and,
// where it is differentiable, for its gradient. The names are read from the headers, the tests from their
// sources and the golden vectors; a name in quotes or in a comment tests nothing.
#include <doctest/doctest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include "catalogue.hpp"

namespace {

using Names = std::set<std::string>;

std::string read(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

struct Declaration {
  bool documented = false;  ///< all of its overloads are
  bool procedure = false;   ///< it returns nothing, or is a scope: what it did is seen afterwards
};

/// Adds the functions, scopes and used names of namespace ktape::backend in a header.
void add_declarations(const std::string& header, std::map<std::string, Declaration>& names) {
  static const std::regex function(R"(^(?:inline )?([A-Za-z_][\w:<>&*, ]*?)[ &*]*\b(\w+)\(.*)"),
      scope(R"(^class ([a-z]\w*) \{)"), used(R"(^using ktape::([a-z]\w*);)");
  std::istringstream lines(header);
  std::vector<std::string> namespaces;
  bool documented = false;
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    const auto add = [&](const std::string& name, bool procedure) {
      const auto [entry, first] = names.try_emplace(name, Declaration{documented, procedure});
      if (!first) entry->second.documented = entry->second.documented && documented;
    };
    if (line.empty()) documented = false;
    else if (line.starts_with("///")) documented = true;
    else if (line.starts_with("namespace ")) namespaces.push_back(line);
    else if (line.starts_with("}  // namespace")) namespaces.pop_back();
    else if (namespaces != std::vector<std::string>{"namespace ktape::backend {"}) continue;
    else if (std::regex_match(line, match, used)) documented = true, add(match[1], false);
    else if (std::regex_match(line, match, scope)) add(match[1], true);
    else if (std::regex_match(line, match, function)) add(match[2], match[1] == "void");
  }
}

/// The names in the headers that ktape.hpp includes, directly or by the header with the backend alone.
const std::map<std::string, Declaration>& declared() {
  static const auto names = [] {
    std::map<std::string, Declaration> names;
    std::smatch backend;
    std::string all = read("ktape.hpp");
    if (std::regex_search(all, backend, std::regex("<ktape/(ops/[\\w/]*backend\\.hpp)>")))
      all += read(backend[1].str());
    const std::regex include("<ktape/(ops/[\\w/]+\\.hpp)>");
    for (auto i = std::sregex_iterator(all.begin(), all.end(), include); i != std::sregex_iterator(); ++i)
      add_declarations(read((*i)[1].str()), names);
    return names;
  }();
  return names;
}

/// Returns the code without comments and without text in quotes.
std::string bare(const std::string& code) {
  std::string out;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code.compare(i, 2, "//") == 0) i = std::min(code.find('\n', i), code.size()) - 1;
    else if (code[i] == '"' || (code[i] == '\'' && !(i > 0 && std::isalnum(code[i - 1])))) {
      const char quote = code[i];
      while (++i < code.size() && code[i] != quote) i += code[i] == '\\';
    } else out += code[i];
  }
  return out;
}

/// Returns the position of the parenthesis that closes the parenthesis at `open`.
std::size_t closing(const std::string& code, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    depth += (code[i] == '(') - (code[i] == ')');
    if (depth == 0) return i;
  }
  return code.size();
}

void add_names(const std::string& code, Names& names) {
  static const std::regex name("\\bK::(\\w+)");
  for (auto i = std::sregex_iterator(code.begin(), code.end(), name); i != std::sregex_iterator(); ++i)
    names.insert((*i)[1]);
}

/// Adds the names inside the parentheses of checks that are not checks of errors, and the names before such a
/// check in its test case.
void add_checked(const std::string& code, Names& inside, Names& before) {
  static const std::regex check(R"(\b((?:CHECK|REQUIRE|check_|expect_)\w*)\()");
  std::size_t next = 0;
  for (std::size_t start = code.find("TEST_CASE("); start < code.size(); start = next) {
    next = std::min(code.find("TEST_CASE(", start + 1), code.size());
    const std::string test = code.substr(start, next - start);
    std::size_t last = 0;
    for (auto i = std::sregex_iterator(test.begin(), test.end(), check); i != std::sregex_iterator(); ++i) {
      if ((*i)[1].str().find("THROWS") != std::string::npos) continue;
      last = static_cast<std::size_t>(i->position());
      const std::size_t open = last + (*i)[1].length();
      add_names(test.substr(open, closing(test, open) - open), inside);
    }
    add_names(test.substr(0, last), before);
  }
}

/// Returns the names that have golden vectors with results.
Names golden() {
  Names names;
  for (const auto& entry : std::filesystem::directory_iterator("tests/golden")) {
    if (entry.path().extension() != ".json") continue;
    for (const nlohmann::json& test : nlohmann::json::parse(std::ifstream(entry.path())))
      if (test.contains("outputs") || test.contains("returns")) names.insert(test["op"].get<std::string>());
  }
  if (names.erase("switch")) names.insert("switch_");
  return names;
}

/// Returns the names of rows with or without a gradient.
Names catalogued(bool differentiable) {
  Names names;
  for (const CatalogueRow& row : Catalogue::rows())
    if ((row.f != nullptr) == differentiable && !row.name.starts_with("ops::"))
      names.insert(row.name == "switch" ? "switch_" : row.name);
  return names;
}

// clang-format off
// Beyond Keras's backend.
const Names extras = {
    "slice", "set_random_seed", "where", "matmul", "einsum", "erf", "gelu", "log_softmax", "layer_normalization",
    "lstm", "gru", "simple_rnn", "scaled_dot_product_attention", "split", "unstack", "pad", "scatter_nd",
    "gather_nd", "top_k", "sort", "argsort", "norm", "is_nan", "is_finite", "set_deterministic", "deterministic",
    "broadcast_to", "sum_to", "adam_update", "full", "expm1", "log1p", "index", "random_key",
    "current_name_scope", "concatenate_mixed", "version", "help"};
// clang-format on

}  // namespace

TEST_CASE("the public headers declare the 157 names of Keras's documents and more") {
  CHECK(declared().size() >= 157 + extras.size());
  for (const std::string& name : extras) CHECK_MESSAGE(declared().count(name), name << " is not declared");
}

TEST_CASE("every name is declared with a contract") {
  for (const auto& [given_name, declaration] : declared()) {
    const auto& name = given_name;
    CHECK_MESSAGE(declaration.documented, name << " has no /// above its declaration");
  }
}

TEST_CASE("every name has golden vectors, or is called inside of a check") {
  Names tested = golden(), inside, before;
  for (const char* folder : {"tests/ops", "tests/contract", "tests/autograd"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".cpp") add_checked(bare(read(entry.path())), inside, before);
  for (const auto& [given_name, declaration] : declared()) {
    const auto& name = given_name;
    const bool found =
        tested.count(name) || inside.count(name) || (declaration.procedure && before.count(name));
    CHECK_MESSAGE(found, name << " has no test of its values");
  }
}

TEST_CASE(
    "every name has a row in the catalogue: its gradient is compared with differences, or it has none") {
  const Names with = catalogued(true), without = catalogued(false);
  for (const auto& [given_name, declaration] : declared()) {
    const auto& name = given_name;
    CHECK_MESSAGE(
        with.count(name) + without.count(name) == 1,
        name << " must have rows with a gradient, or one with no_gradient, in the test of its family");
  }
  for (const Names& listed : {with, without})
    for (const std::string& name : listed)
      CHECK_MESSAGE(declared().count(name), name << " has a row and is not declared");
}

TEST_CASE("a name in quotes, in a comment or in a check of errors is no test of its values") {
  Names inside, before;
  add_checked(bare(R"code(
TEST_CASE("K::title") {
  const auto kept = K::assigned(1);  // CHECK(K::comment(1));
  CHECK(kept == call("K::quoted", K::inner(')')));
  CHECK_THROWS_AS(K::thrown(1), Error);
})code"),
              inside, before);
  CHECK(inside == Names{"inner"});
  CHECK(before == Names{"assigned"});
}
