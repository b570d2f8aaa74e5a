#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/core/constraints.hpp>
#include <ktape/nn/core/initializers.hpp>
#include <ktape/nn/core/regularizers.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

#include <cmath>

#include "kinds.hpp"

namespace golden_nn {
namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace {

template <class Handle>
Handle made(const Run& run) {
  return Handle(Value(Config{{"class_name", run.at(Handle::Impl::kind)}, {"config", run.config()}}));
}

/// Runs a case of a function of one tensor.
template <class Handle>
void run_function(Run& run) {
  const Handle f = made<Handle>(run);
  const Config input = run.at("inputs").list().at(0).config();
  const Variable x = run.variable(input);
  const Tensor y = f(x);
  run.compare_outputs({y});
  run.compare_gradients({y}, {{input.at("name").string(), x}});
}

double largest(const Tensor& x) { return K::max(K::abs(x)).item<double>(); }

/// Returns the allowed difference between the deviation of n samples and the deviation of their distribution.
double allowance(std::int64_t n) { return 6 / std::sqrt(static_cast<double>(n)); }

void check_samples(Run& run, const nn::Initializer& f, const Shape& shape, const Config& property) {
  const double limit = property.contains("limit") ? property.at("limit").number() : HUGE_VAL;
  const double stddev = property.contains("stddev") ? property.at("stddev").number() : limit / std::sqrt(3.0);
  std::vector<Tensor> draws;
  for (int i = 0; i < 200; ++i) draws.push_back(K::cast(f(shape, run.floatx()), "float64"));
  const Tensor samples = K::stack(draws);
  if (largest(samples) > limit * (1 + 1e-6))
    run.problem("a sample is beyond ", limit, ": ", largest(samples));
  const double deviation = K::sqrt(K::mean(K::square(samples))).item<double>();
  if (std::fabs(deviation / stddev - 1) > allowance(samples.size()))
    run.problem("the samples must have the deviation ", stddev, ", have ", deviation);
}

}  // namespace

void check_orthogonal(Run& run, const Tensor& value, double gain) {
  const std::int64_t columns = value.shape().back();
  const Tensor q = K::reshape(value, {-1, columns}) / gain;
  const bool tall = q.shape()[0] >= columns;
  const Tensor product = K::matmul(q, q, {.transpose_a = tall, .transpose_b = !tall});
  const double off = largest(product - K::eye(product.shape()[0], {.dtype = product.dtype()}));
  if (off > 1e-5) run.problem("the matrix must be orthogonal; off by ", off);
}

namespace {

void run_initializer(Run& run) {
  const auto f = made<nn::Initializer>(run);
  const Shape shape = run.at("shape").shape();
  const Tensor value = f(shape, run.floatx());
  if (run.has("outputs")) return run.compare_outputs({value});
  const Config& property = run.at("property").config();
  if (property.at("kind").string() == "orthogonal")
    return check_orthogonal(run, value, property.at("gain").number());
  check_samples(run, f, shape, property);
}

}  // namespace

void add_functions(Table& table) {
  table["activation"] = run_function<nn::ActivationFunction>;
  table["regularizer"] = run_function<nn::Regularizer>;
  table["constraint"] = run_function<nn::Constraint>;
  table["initializer"] = run_initializer;
}

}  // namespace golden_nn
