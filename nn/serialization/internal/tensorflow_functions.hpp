#pragma once
#include <ktape/ops/schema/config.hpp>

#include <string>
#include <vector>

/// TensorFlow's functions as operations. Keras 2 writes a function between the layers of a model under its
/// name in TensorFlow, with TensorFlow's names for the arguments. Internal: sources only.
namespace ktape::nn::saving {

/// A function of TensorFlow and the operation that computes it.
struct TensorflowFunction {
  const char* name;       ///< "math.reduce_sum"
  const char* operation;  ///< "Sum"
  /// The arguments in TensorFlow's order, separated by spaces: "input_tensor:x axis keepdims" names the
  /// operation's argument after the colon, where the names differ. Behind the colon, a dash is an argument that
  /// changes nothing, an exclamation mark one that must be null, false or 0. A value after a question mark is
  /// TensorFlow's default, where the defaults differ.
  const char* arguments;
  /// Converts the arguments of the operation from TensorFlow's form, and to it. Null if the forms are equal.
  void (*from_tensorflow)(Config& arguments) = nullptr;
  void (*to_tensorflow)(Config& arguments) = nullptr;

  struct Argument {
    std::string name, ours;
    Value otherwise = {};
  };
  std::vector<Argument> parsed() const;
};

/// Returns the function for a name in TensorFlow with or without its module ("math.add", "AddV2"); null for
/// an unknown function.
const TensorflowFunction* find_tensorflow_function(const std::string& name);
/// Returns the first function that an operation computes; null if there is none.
const TensorflowFunction* tensorflow_function_of(const std::string& operation);

}  // namespace ktape::nn::saving
