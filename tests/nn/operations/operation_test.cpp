#include <ktape/nn/operations/operations.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "run_operation.hpp"

namespace nn = ktape::nn;

namespace {

/// An operation of Keras from the list of all operations.
struct KerasOperation {
  std::string module, name;
  std::vector<std::string> call, init;  ///< the names of the arguments
};

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  std::string name;
  int depth = 0;
  for (const char c : list + ',') {
    depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    if (c != ',' || depth > 0) {
      if (c != ' ') name += c;
      continue;
    }
    name = name.substr(0, name.find('='));
    if (!name.empty() && !name.starts_with("**")) names.push_back(name);
    name.clear();
  }
  return names;
}

std::vector<KerasOperation> operations_of_keras() {
  std::vector<KerasOperation> all;
  std::ifstream file("tests/nn/serialization/keras_operations.txt");
  for (std::string line; std::getline(file, line);) {
    const std::size_t space = line.find(' '), open = line.find('('), semicolon = line.find("; ");
    all.push_back({line.substr(0, space), line.substr(space + 1, open - space - 1),
                   names_in(line.substr(open + 1, semicolon - open - 1)),
                   names_in(line.substr(semicolon + 2, line.size() - semicolon - 3))});
  }
  return all;
}

/// The operations of Keras that the library does not load, by the reason.
const std::map<std::string, std::set<std::string>>& missing() {
  static const std::map<std::string, std::set<std::string>> all{
      {"it calls functions of Python, which no config holds",
       {"AssociativeScan", "Cond", "ForiLoop", "Function", "JVP", "Map", "Scan", "Switch", "VectorizedMap",
        "WhileLoop"}},
      {"there are no complex tensors", {"ViewAsComplex", "ViewAsReal"}},
      {"it is the base of other classes", {"SegmentReduction"}}};
  return all;
}

bool is_missing(const std::string& name) {
  for (const auto& [reason, names] : missing())
    if (names.contains(name)) return true;
  return false;
}

}  // namespace

TEST_CASE("each operation that Keras can write loads, or has a reason") {
  const std::vector<KerasOperation> all = operations_of_keras();
  REQUIRE(all.size() > 300);
  std::set<std::string> names;
  for (const KerasOperation& keras : all) {
    CAPTURE(keras.name);
    names.insert(keras.name);
    const nn::Operation* const operation = nn::find_operation(keras.name);
    CHECK((operation != nullptr) != is_missing(keras.name));
    if (!operation) continue;
    CHECK(operation->module == keras.module);
    std::vector<std::string> call, init;
    for (const nn::Operation::Parameter& parameter : operation->parameters())
      if (!parameter.is_rest)
        (parameter.in_call ? call : init).push_back((parameter.spreads ? "*" : "") + parameter.name);
    CHECK(call == keras.call);
    CHECK(init == keras.init);
  }
  for (const auto& [reason, of_reason] : missing())
    for (const std::string& name : of_reason) CHECK_MESSAGE(names.contains(name), name);
  for (const nn::Operation& operation : nn::all_operations())
    if (operation.in_keras()) CHECK_MESSAGE(names.contains(operation.name), operation.name);
}

TEST_CASE("operands may be constants, which live as long as the call") {
  using namespace run_operation;
  const Tensor x = K::constant({-1.f, 2.f});
  const OperationArgument two =
      value(R"({"class_name": "__numpy__", "config": {"value": [3.0, 0.5], "dtype": "float32"}})");
  CHECK(values(run("Multiply", {{"x1", of(x)}, {"x2", two}})) == Values{-3, 1});
  CHECK(values(run("Maximum", {{"x1", two}, {"x2", of(x)}})) == Values{3, 2});
  CHECK(values(run("Where", {{"condition", of(x > 0)}, {"x1", two}, {"x2", of(x)}})) == Values{-1, 0.5});
  const Tensor in = nn::Input({2});
  const nn::Model model(in, K::minimum(K::maximum(in, -INFINITY), INFINITY)), again = nn::clone_model(model);
  CHECK(values(again(K::reshape(x, {1, 2}))) == Values{-1, 2});
}
