#pragma once
#include <ktape/nn/models/model.hpp>

#include <functional>

namespace ktape::nn {

/// Options of `Model::summary`.
///
///     nn::Sequential model({nn::Dense(4, {.input_shape = {3}}), nn::Dense(1)});
///     model.summary({.line_length = 60, .print_fn = [](const std::string& line) {
///                      std::cout << line << "\n";
///                    }});
struct SummaryOptions {
  int line_length = 76;                                   ///< the least width; longer names widen the table
  std::function<void(const std::string&)> print_fn = {};  ///< called with each line; prints by default
  bool expand_nested = false;                             ///< whether layers of inner models are listed
  bool show_trainable = false;
};

}  // namespace ktape::nn
