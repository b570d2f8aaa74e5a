#include <ktape/nn/metrics/overlap.hpp>
#include <ktape/ops/operators.hpp>

#include "../../close.hpp"
#include "../../ops/check.hpp"

using namespace ktape;

TEST_CASE("F1 is the harmonic mean of precision and recall, of each class or averaged") {
  const Tensor hot = doubles({{1, 0}, {0, 1}, {1, 0}}),
               scores = doubles({{0.9, 0.1}, {0.6, 0.4}, {0.7, 0.3}});
  CHECK(close(nn::F1Score({.average = "micro"})(hot, scores).item<double>(), 2 / 3.0, {.rtol = 1e-5}));
  CHECK(close(nn::F1Score({.average = "weighted"})(hot, scores).item<double>(), 0.8 * 2 / 3, {.rtol = 1e-5}));
}

TEST_CASE("IoU is the overlap over the union of the pixels of a class") {
  const Tensor y = ints({0, 0, 1, 1, 2}), p = ints({0, 1, 1, 1, 0});
  CHECK(close(nn::IoU({.num_classes = 3, .target_class_ids = {1}})(y, p).item<double>(), 2 / 3.0,
              {.rtol = 1e-6}));
  CHECK(close(nn::MeanIoU({.num_classes = 3})(y, p).item<double>(), (1 / 3.0 + 2 / 3.0 + 0) / 3,
              {.rtol = 1e-6}));
  CHECK(close(nn::MeanIoU({.num_classes = 3, .ignore_class = 2})(y, p).item<double>(), (0.5 + 2 / 3.0) / 2,
              {.rtol = 1e-6}));
}

TEST_CASE("BinaryIoU compares predictions with a threshold") {
  const nn::BinaryIoU metric({.target_class_ids = {1}, .threshold = 0.4});
  CHECK(close(metric(doubles({0, 1, 1, 0}), doubles({0.1, 0.4, 0.2, 0.5})).item<double>(), 1 / 3.0,
              {.rtol = 1e-6}));
}
