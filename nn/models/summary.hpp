#pragma once
#include <ktape/nn/models/model.hpp>

#include <functional>

namespace ktape::nn {

struct SummaryOptions {
  int line_length = 76;                                   ///< at least; longer names widen the table
  std::function<void(const std::string&)> print_fn = {};  ///< takes each line; standard output by default
  bool expand_nested = false;                             ///< the layers of models in the model, too
  bool show_trainable = false;
};

}  // namespace ktape::nn
