#pragma once
#include <ktape/nn/data/dataset.hpp>

namespace ktape::data {

struct TrainTestSplitOptions {
  double test_size = 0.25;  ///< the part of the rows, rounded up; from 1 on how many they are
  std::optional<std::int64_t> seed =
      {};               ///< the seed of the order; by default drawn from the global generator
  bool shuffle = true;  ///< without, the last rows are the test's
};

struct TrainTestSplit {
  Element train, test;
};

/// The rows of tensors that have as many each, dealt out to two sets. Throws ValueError for tensors that
/// differ in rows, and unless both sets get some. Mirrors scikit-learn's `train_test_split`.
///
///     auto split = data::train_test_split({x, y}, {.test_size = 0.2, .seed = 1});
///     model.fit(split.train[0], split.train[1]);
TrainTestSplit train_test_split(const TensorList& tensors, const TrainTestSplitOptions& options = {});

}  // namespace ktape::data
