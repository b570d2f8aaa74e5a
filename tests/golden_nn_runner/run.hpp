#pragma once
#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/nn/core/registry.hpp>

#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace golden_nn {

using ktape::DType;
using ktape::Shape;
using ktape::Tensor;
using ktape::TensorList;
using ktape::Variable;
using ktape::nn::Config;
using ktape::nn::Value;

/// One case, run in one floating dtype: reads the case, compares, and collects the differences. A part of a
/// case that no runner reads is a failure, too.
class Run {
 public:
  Run(const Config& json, DType floatx);

  DType floatx() const { return floatx_; }
  bool has(const std::string& key) const { return json_.contains(key); }
  const Value& at(const std::string& key) const;
  /// Returns whether the case expects an error.
  bool error() const { return has("error"); }

  /// Returns the constructor arguments.
  Config config() const { return at("config").config(); }
  /// Returns the dtype of a name in the file; "float32" stands for the dtype of this run.
  DType dtype(const std::string& name) const { return name == "float32" ? floatx_ : DType(name); }
  /// Returns a tensor of the file; "float32", and a missing dtype, stand for the dtype of this run. Null is
  /// undefined.
  Tensor tensor(const Value& json) const;
  Tensor optional_tensor(const std::string& key) const;
  /// Returns the tensor as a variable, for gradients.
  Variable variable(const Value& json, const std::string& name = "x") const;

  void compare(const std::string& what, const Tensor& got, const Value& want);
  void compare(const std::string& what, const std::vector<double>& got, const Shape& shape,
               const Value& want);
  /// Compares with the case's outputs.
  void compare_outputs(const std::vector<Tensor>& got);
  /// Compares the gradients that the case has for these names: of the outputs, weighed by the cotangents.
  void compare_gradients(const std::vector<Tensor>& outputs,
                         const std::vector<std::pair<std::string, Variable>>& sources);

  template <class... Parts>
  void problem(const Parts&... parts) {
    std::ostringstream text;
    text << json_.at("id").string() << ' ' << floatx_ << ": ";
    (text << ... << parts);
    problems_.push_back(text.str());
  }
  /// Returns one line for each difference.
  std::vector<std::string> finish();

 private:
  const Config& json_;
  DType floatx_;
  double rtol_, atol_;
  std::vector<std::string> problems_;
  mutable std::set<std::string> seen_;
};

/// Runs a case, from the config on; its errors are the library's.
using Runner = std::function<void(Run&)>;
/// The runners by kind, such as "layer", the key under which a case has the name of its class; functions are
/// listed by kind and name, "function normalize".
using Table = std::map<std::string, Runner>;

}  // namespace golden_nn
