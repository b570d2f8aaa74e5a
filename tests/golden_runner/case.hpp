#pragma once
#include <ktape/autograd/base/dtype.hpp>
#include <ktape/autograd/base/shape.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace golden {

/// An attribute as the file spells it.
struct Value {
  enum Kind { None, Bool, Integer, Real, Text, List, Object } kind = None;
  double number = 0;
  std::string text;
  std::vector<Value> list;        ///< the entries of a list, or the values of an object
  std::vector<std::string> keys;  ///< the keys of an object

  friend bool operator==(const Value&, const Value&) = default;
};

/// Numbers of a tensor.
struct Array {
  ktape::Shape shape;
  std::vector<double> data;
  std::optional<std::string> dtype;  ///< empty for gradients, which have the name of their input
};

using Named = std::vector<std::pair<std::string, Array>>;

struct Expected {
  std::vector<Array> outputs;
  double rtol = 0, atol = 0;
};

/// One case of a file; tests/golden/README.md says what the parts mean.
///
/// A sparse tensor x is read as its parts: the tensors x.indices, x.values and x.shape.
struct Case {
  std::string family;  ///< the file's name without .json
  std::string id, op;
  Named inputs;
  std::map<std::string, Value> attributes;
  Expected expected;
  std::optional<Expected> float32;
  std::vector<std::optional<Array>> cotangents;
  Named gradients, vectors, hvp;
  bool error = false;
  std::optional<Value> returns;
};

/// Reads every *.json of the folder, sorted by name. Throws std::runtime_error, with the file and the case,
/// for anything that it does not know.
std::vector<Case> read_cases(const std::filesystem::path& folder);

}  // namespace golden
