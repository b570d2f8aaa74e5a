#include <doctest/doctest.h>
#include <ktape/ops/kernels/sequence/ctc.hpp>

#include "../references.hpp"

namespace {

using Labels = std::vector<i64>;

/// Returns steps of numbers of at least 0.
template <class T>
Array<T> predictions(i64 steps, i64 classes, std::mt19937& random) {
  Array<T> y(steps * classes);
  for (i64 i = 0; i < y.size(); ++i)
    y[i] = random() % 9 == 0 ? T(0) : T(static_cast<float>(1 + random() % 64) / 64);
  return y;
}

/// Labels that often repeat the one before.
Labels draw_labels(i64 count, i64 classes, std::mt19937& random) {
  Labels labels;
  for (i64 i = 0; i < count; ++i)
    labels.push_back(i > 0 && random() % 3 == 0 ? labels.back() : static_cast<i64>(random()) % (classes - 1));
  return labels;
}

i64 fewest_steps(const Labels& labels) {
  i64 steps = static_cast<i64>(labels.size());
  for (std::size_t i = 1; i < labels.size(); ++i)
    steps += labels[i] == labels[i - 1];  // a blank between them
  return steps;
}

template <class T>
void check_ctc(k::Ctc<T>& kernel, const Array<T>& y, const Labels& labels, i64 steps, i64 classes,
               double epsilon, double error = tolerance<T>()) {
  INFO(steps, " steps of ", classes, " classes, ", labels.size(), " labels, epsilon=", epsilon);
  const auto wanted =
      reference::ctc(as_reference(y, {steps, classes}), {labels.begin(), labels.end()}, epsilon);
  const Array<T> slope(y.size());
  const i64 count = static_cast<i64>(labels.size());
  const double alone = kernel.cost(y.data(), labels.data(), count, steps, nullptr),
               cost = kernel.cost(y.data(), labels.data(), count, steps, slope.data());
  CHECK(close(cost, wanted.cost, {.rtol = 1e-11}));
  CHECK(close(alone, cost, exactly));
  const double steepest = 1 / (1. / 64 + epsilon);
  CHECK(close(as_list(slope), wanted.gradient, {.rtol = 10 * error, .atol = error * steepest}));
}

}  // namespace

TEST_CASE_TEMPLATE("kernels: the cost of CTC and its gradient are those of the forward-backward algorithm", T,
                   float, double) {
  std::mt19937 random(3);
  for (const i64 classes : {2, 3, 9, 40})
    for (const double epsilon : {1e-7, 0.25}) {
      k::Ctc<T> kernel(classes, epsilon);
      for (const i64 count : {0, 1, 2, 5, 17})
        for (const i64 more : {0, 1, 7, 60}) {
          const Labels labels = draw_labels(count, classes, random);
          const i64 steps = std::max<i64>(1, fewest_steps(labels) + more);
          check_ctc(kernel, predictions<T>(steps, classes, random), labels, steps, classes, epsilon);
        }
    }
}

TEST_CASE("kernels: CTC of hundreds of improbable steps keeps its digits") {
  std::mt19937 random(5);
  const i64 steps = 700, classes = 30;
  const Labels labels = draw_labels(200, classes, random);
  Array<double> y = predictions<double>(steps, classes, random);
  for (i64 t = 0; t < steps; ++t) y[t * classes + t % (classes - 1)] = 1e6;
  k::Ctc<double> kernel(classes, 1e-7);
  check_ctc(kernel, y, labels, steps, classes, 1e-7, 1e-10);  // the reference adds logarithms
}

TEST_CASE("kernels: labels that fill every step are spelled by one path") {
  const Array<double> y(3 * 4);
  std::fill_n(y.data(), y.size(), 0.25);
  const Labels labels{1, 0, 2};
  k::Ctc<double> kernel(4, 1e-7);
  CHECK(close(kernel.cost(y.data(), labels.data(), 3, 3, nullptr), 3 * std::log(4.)));
}
