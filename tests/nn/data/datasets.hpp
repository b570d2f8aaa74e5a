#pragma once
#include <ktape/nn/data/dataset.hpp>
#include <ktape/ops/operators.hpp>

#include <algorithm>

#include "../../ops/check.hpp"

/// Helpers for the tests of datasets: some datasets, and functions that read them.

/// Returns the first tensor of each element, as numbers in a row.
inline Values read(const ktape::data::Dataset& dataset) {
  Values all;
  for (const ktape::data::Element& element : dataset)
    for (double value : values(element[0])) all.push_back(value);
  return all;
}

/// Returns the extent of each element's first axis.
inline std::vector<std::int64_t> sizes(const ktape::data::Dataset& dataset) {
  std::vector<std::int64_t> all;
  for (const ktape::data::Element& element : dataset) all.push_back(element[0].shape()[0]);
  return all;
}

inline Values numbers(int stop) {
  Values all;
  for (int i = 0; i < stop; ++i) all.push_back(i);
  return all;
}

inline Values sorted(Values all) {
  std::sort(all.begin(), all.end());
  return all;
}

inline ktape::data::Dataset rows(int count) {
  return ktape::data::Dataset::from_tensor_slices(counted({count}));
}

/// Returns a dataset of these elements that is not a stream of rows.
inline ktape::data::Dataset plain(const ktape::data::Dataset& dataset) {
  return dataset.filter([](const ktape::data::Element&) { return true; });
}

inline ktape::data::Element doubled(const ktape::data::Element& e) { return {e[0] * 2.0}; }
