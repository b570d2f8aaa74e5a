#pragma once
#include "../../../ops/check.hpp"
#include "row.hpp"

/// Models of the rows, for tests of files and formats.

/// Returns random inputs of a row, the same in each call.
inline std::vector<Tensor> inputs_of(const Row& row) {
  std::vector<Tensor> inputs;
  int seed = 1;
  for (const Shape& shape : row.inputs)
    inputs.push_back(row.classes > 0 ? ktape::backend::random_uniform(
                                           shape, {.maxval = row.classes, .dtype = "int32", .seed = seed})
                                     : normal(shape, seed++, "float32"));
  return inputs;
}

/// Returns a model of one layer with an open batch, for inputs of these shapes and dtypes.
inline nn::Model model_of(const nn::Layer& layer, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> in;
  for (const Tensor& x : inputs)
    in.push_back(nn::Input(Shape(x.shape().begin() + 1, x.ndim() - 1), {.dtype = x.dtype()}));
  return nn::Model(in, layer.apply(in));
}
