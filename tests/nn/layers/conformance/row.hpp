#pragma once
#include <ktape/ktape.hpp>

/// The rows of conformance_test.cpp, by families of layers: the facts about a layer that the tests need.
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor;

/// The fate of a mask on the (first) input.
enum class Mask { Passes, Ends };

struct Row {
  std::string name;  ///< the name of the class
  std::function<nn::Layer()> make;
  std::vector<Shape> inputs;         ///< the shapes of the inputs, with a batch of 4
  Shape output;                      ///< the shape of the output, with a batch of 4
  std::vector<std::string> weights;  ///< the ends of their names
  Mask mask = Mask::Ends;
  std::vector<Shape> bad_inputs = {};  ///< shapes of inputs that the layer refuses; empty if it accepts all
  int classes = 0;                     ///< above 0: the inputs are integers below it
};

/// The layers that are called on strings.
struct StringRow {
  std::string name;
  std::function<nn::Layer()> make;
  std::function<Tensor(const nn::Layer&)> call;
  Shape output;
};
