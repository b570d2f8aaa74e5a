#pragma once
#include <ktape/nn/data/dataset.hpp>

namespace ktape::data {

struct TrainTestSplitOptions {
  double test_size = 0.25;  ///< the fraction of the rows, rounded up; from 1 on, the number of rows
  std::optional<std::int64_t> seed =
      {};               ///< the seed of the order; by default drawn from the global generator
  bool shuffle = true;  ///< whether rows are drawn at random; otherwise the last rows become the test set
};

struct TrainTestSplit {
  Element train, test;
};

/// Divides the rows of tensors into a training set and a test set. Throws ValueError for tensors that differ
/// in their number of rows, and if a set would be empty. Mirrors scikit-learn's `train_test_split`.
///
///     auto split = data::train_test_split({x, y}, {.test_size = 0.2, .seed = 1});
///     model.fit(split.train[0], split.train[1]);
///
/// For example:
///
///     auto split =
///         data::train_test_split({K::arange(10)}, {.test_size = 0.2, .seed = 1});
///     std::cout << split.train[0].shape() << " " << split.test[0].shape();
TrainTestSplit train_test_split(const TensorList& tensors, const TrainTestSplitOptions& options = {});

}  // namespace ktape::data
