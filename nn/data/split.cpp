#include <ktape/autograd/base/error.hpp>
#include <ktape/nn/data/split.hpp>
#include <ktape/nn/data/stream.hpp>
#include <ktape/ops/random/random.hpp>

#include <cmath>
#include <numeric>
#include <random>

namespace ktape::data {

TrainTestSplit train_test_split(const TensorList& tensors, const TrainTestSplitOptions& options) {
  constexpr const char* op = "train_test_split";
  const std::int64_t rows = expect_rows(op, tensors.vector());
  const double size = options.test_size;
  const double wanted = size < 1 ? std::ceil(size * static_cast<double>(rows)) : size;
  if (!(size > 0) || !(wanted < static_cast<double>(rows)) || std::trunc(wanted) != wanted)
    fail("[", op, "] test_size must be a part of the ", rows,
         " rows, or a number of them, and leave some: received ", "test_size=", size);
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  if (options.shuffle) {
    std::mt19937_64 generator(backend::random_key(options.seed));
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[generator() % i]);
  }
  const auto cut = order.end() - static_cast<std::int64_t>(wanted);
  return {gathered_rows(tensors.vector(), {order.begin(), cut}),
          gathered_rows(tensors.vector(), {cut, order.end()})};
}

}  // namespace ktape::data
