#include <ktape/nn/operations/operations.hpp>
#include <ktape/nn/serialization/internal/tensorflow_functions.hpp>

#include <doctest/doctest.h>

namespace nn = ktape::nn;
using nn::saving::find_tensorflow_function, nn::saving::tensorflow_function_of;

TEST_CASE("functions of TensorFlow are found by their names, with or without modules, and as graph nodes") {
  CHECK(std::string(find_tensorflow_function("math.add")->operation) == "Add");
  CHECK(find_tensorflow_function("AddV2") == find_tensorflow_function("__operators__.add"));
  CHECK(std::string(find_tensorflow_function("Mean")->name) == "math.reduce_mean");
  CHECK(find_tensorflow_function("math.betainc") == nullptr);
  CHECK(std::string(tensorflow_function_of("Sum")->name) == "math.reduce_sum");
  CHECK(tensorflow_function_of("Celu") == nullptr);
}

TEST_CASE("arguments of functions of TensorFlow have the names of the operation's parameters") {
  for (const char* name :
       {"math.add", "gather", "pad", "split", "clip_by_value", "linalg.matmul", "einsum"}) {
    CAPTURE(name);
    const auto* const function = find_tensorflow_function(name);
    REQUIRE(function);
    const nn::Operation* const operation = nn::find_operation(function->operation);
    REQUIRE(operation);
    for (const auto& argument : function->parsed()) {
      if (argument.ours == "-" || argument.ours == "!") continue;
      bool known = false;
      for (const auto& parameter : operation->parameters()) known = known || parameter.name == argument.ours;
      CHECK_MESSAGE(known, argument.ours);
    }
  }
}
