#pragma once
#include "activation.hpp"
#include "attention.hpp"
#include "convolution.hpp"
#include "core.hpp"
#include "merging.hpp"
#include "normalization.hpp"
#include "padding.hpp"
#include "pooling.hpp"
#include "preprocessing.hpp"
#include "recurrent.hpp"
#include "regularization.hpp"
#include "reshaping.hpp"
#include "strings.hpp"

/// Returns all rows.
inline const std::vector<Row>& table() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> all;
    for (const auto& family : {core_rows(), reshaping_rows(), regularization_rows(), normalization_rows(),
                               recurrent_rows(), attention_rows(), merging_rows(), convolution_rows(),
                               pooling_rows(), padding_rows(), preprocessing_rows(), activation_rows()})
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  return rows;
}
