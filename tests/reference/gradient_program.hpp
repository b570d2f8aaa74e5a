#pragma once
#include <ktape/ktape.hpp>

#include <random>
#include <sstream>
#include <string>
#include <vector>

/// Random programs whose losses mix gradients of orders 0 to 3 of several tensors, variables, watched
/// constants and intermediate tensors, taken by `gradients`, along directions, by nested tapes and as
/// jacobians, through functions, stop_gradient and custom_gradient.
namespace reference {

class GradientProgram {
 public:
  explicit GradientProgram(std::uint64_t seed) : seed_(seed) {}

  /// Returns the first element of a gradient that differs from central differences, or from the gradient of the same
  /// program in a function; empty where all agree.
  std::string problem() {
    namespace K = ktape::backend;
    draw_leaves();
    ktape::GradientTape tape;
    std::vector<ktape::Tensor> leaves(variables_.begin(), variables_.end());
    const ktape::Tensor watched = K::constant(K::get_value<double>(variables_.back()), {.dtype = "float64"});
    tape.watch(watched);
    leaves.back() = watched;
    frozen_.clear(), constants_.clear(), records_ = true;
    const ktape::Tensor loss = loss_of(leaves);
    records_ = false;
    const std::vector<ktape::Tensor> gradients = values_of(K::gradients(loss, leaves), leaves);
    std::string wrong = by_differences(gradients);
    return wrong.empty() ? by_function(leaves, gradients) : wrong;
  }

 private:
  using Tensor = ktape::Tensor;
  using Draws = std::mt19937_64;

  static std::size_t below(Draws& draws, std::size_t n) { return static_cast<std::size_t>(draws() % n); }
  static const Tensor& any(Draws& draws, const std::vector<Tensor>& list) {
    return list[below(draws, list.size())];
  }

  void draw_leaves() {
    namespace K = ktape::backend;
    Draws draws(seed_ ^ 0x9e3779b97f4a7c15u);
    std::uniform_real_distribution<double> number(-1, 1);
    variables_.clear();
    for (std::size_t i = 0; i < 3; ++i) {
      std::vector<double> values;
      for (int j = 0; j < 4; ++j) values.push_back(number(draws));
      variables_.emplace_back(K::constant(values, {.dtype = "float64", .shape = ktape::Shape{2, 2}}));
    }
  }

  /// Returns a constant for gradients. Differences of the loss keep its value from the time of the gradient.
  Tensor frozen(const Tensor& x) {
    if (records_) frozen_.push_back(ktape::backend::stop_gradient(x));
    const Tensor& value = frozen_[next_frozen_++];
    return ktape::is_symbolic(x) ? ktape::backend::stop_gradient(x) : value;
  }

  /// Returns the slope or, if no gradient leads to the slope, a constant, as in a program without functions:
  /// a function has symbols also for constants, and can be differentiated with respect to these.
  Tensor slope_or_constant(const Tensor& slope) {
    if (records_) {
      const bool constant = !slope.defined() || !slope.node();
      constants_.push_back(!constant         ? Tensor()
                           : slope.defined() ? slope
                                             : ktape::backend::zeros({2, 2}, {.dtype = "float64"}));
    }
    const Tensor& constant = constants_[next_constant_++];
    return constant.defined() ? constant : slope;
  }

  Tensor step(Draws& draws, const std::vector<Tensor>& values) {
    namespace K = ktape::backend;
    const Tensor &x = any(draws, values), &y = any(draws, values);
    switch (below(draws, 12)) {
      case 0:
        return K::tanh(x);
      case 1:
        return K::sin(x) + y;
      case 2:
        return x * y;
      case 3:
        return K::dot(x, y) * 0.5;
      case 4:
        return K::exp(K::tanh(x));
      case 5:
        return K::transpose(x) - y;
      case 6:
        return K::square(x) / (K::square(y) + 2.);
      case 7:
        return K::reshape(x, {2, 2}) * K::sum(y, 0, true);
      case 8:
        return frozen(x) * y;
      case 9:
        return ktape::custom_gradient([](const Tensor& a) {
          return std::pair{ktape::backend::sigmoid(a) * a, [a](const Tensor& g) {
                             const Tensor s = ktape::backend::sigmoid(a);
                             return g * (s + a * s * (1. - s));
                           }};
        })(x);
      case 10:
        return slope_at_constant(x, y);
      default:
        return K::concatenate({x[{ktape::Slice(1, 2)}], y[{ktape::Slice(0, 1)}]}, 0);
    }
  }

  /// Returns the slope of a function of a watched constant that also depends on y.
  Tensor slope_at_constant(const Tensor& x, const Tensor& y) {
    namespace K = ktape::backend;
    const Tensor at = frozen(x);
    ktape::GradientTape outer, inner;
    if (!ktape::is_symbolic(at)) outer.watch(at), inner.watch(at);
    return inner.gradient(K::sum(K::square(K::sin(at) * y)), at) + outer.gradient(at * y, at);
  }

  std::vector<Tensor> derivatives(Draws& draws, const Tensor& y, const std::vector<Tensor>& values) {
    namespace K = ktape::backend;
    const Tensor &x = any(draws, values), &other = any(draws, values);
    const ktape::GradientTape inner;
    switch (below(draws, 5)) {
      case 0:
        return {inner.gradient(K::sum(y), x)};
      case 1:
        return K::gradients(y, {x}, {other});
      case 2:
        return K::gradients({y, other}, {x, any(draws, values)});
      case 3:
        return {K::sum(inner.batch_jacobian(y, x), 1)};
      default:
        return K::gradients(K::sum(y), {x});
    }
  }

  Tensor loss_of(const std::vector<Tensor>& leaves) {
    namespace K = ktape::backend;
    Draws draws(seed_);
    next_frozen_ = next_constant_ = 0;
    std::vector<Tensor> values = leaves;
    for (std::size_t steps = 2 + below(draws, 4); steps > 0; --steps) values.push_back(step(draws, values));
    for (std::size_t orders = 1 + below(draws, 3); orders > 0; --orders) {
      const Tensor y = below(draws, 3) == 0 ? any(draws, values) : values.back();
      const std::vector<Tensor>& by = below(draws, 3) == 0 ? values : leaves;
      for (const Tensor& slope : derivatives(draws, y, by)) values.push_back(slope_or_constant(slope));
      if (below(draws, 2) == 0) values.push_back(step(draws, values));
    }
    Tensor loss = K::mean(values.back());
    for (std::size_t terms = 1 + below(draws, 3); terms > 0; --terms)
      loss = loss + K::mean(K::tanh(any(draws, values)) * any(draws, values));
    return loss;
  }

  static std::vector<Tensor> values_of(std::vector<Tensor> gradients, const std::vector<Tensor>& leaves) {
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (!gradients[i].defined()) gradients[i] = ktape::backend::zeros_like(leaves[i]);
    return gradients;
  }

  double loss_at(std::size_t leaf, std::size_t element, double moved) {
    namespace K = ktape::backend;
    const auto before = K::get_value<double>(variables_[leaf]);
    auto there = before;
    there.flat(element) += moved;
    K::set_value(variables_[leaf], there);
    const double loss = loss_of({variables_.begin(), variables_.end()}).item<double>();
    K::set_value(variables_[leaf], before);
    return loss;
  }

  std::string by_differences(const std::vector<Tensor>& gradients) {
    for (std::size_t leaf = 0; leaf < gradients.size(); ++leaf)
      for (std::size_t element = 0; element < 4; ++element) {
        const double h = 1e-5, computed = ktape::backend::get_value<double>(gradients[leaf]).flat(element);
        const double numeric = (loss_at(leaf, element, h) - loss_at(leaf, element, -h)) / (2 * h);
        const double scale = std::max({1.0, std::abs(computed), std::abs(numeric)});
        if (!(std::abs(computed - numeric) <= 1e-5 * scale))
          return mismatch_text("by differences", leaf, element, computed, numeric);
      }
    return "";
  }

  std::string by_function(const std::vector<Tensor>& leaves, const std::vector<Tensor>& gradients) {
    namespace K = ktape::backend;
    std::vector<Tensor> placeholders;
    for (std::size_t i = 0; i < leaves.size(); ++i)
      placeholders.push_back(K::placeholder({.shape = {2, 2}, .dtype = "float64"}));
    const Tensor loss = loss_of(placeholders);
    const std::vector<Tensor> symbols = values_of(K::gradients(loss, placeholders), placeholders);
    const std::vector<Tensor> found = K::function(placeholders, symbols)(leaves);
    for (std::size_t leaf = 0; leaf < gradients.size(); ++leaf)
      for (std::size_t element = 0; element < 4; ++element) {
        const double computed = K::get_value<double>(found[leaf]).flat(element);
        const double eager = K::get_value<double>(gradients[leaf]).flat(element);
        if (!(std::abs(computed - eager) <= 1e-9 * std::max(1.0, std::abs(eager))))
          return mismatch_text("in a function, and eagerly", leaf, element, computed, eager);
      }
    return "";
  }

  std::string mismatch_text(const char* how, std::size_t leaf, std::size_t element, double computed,
                            double other) const {
    std::ostringstream out;
    out.precision(10);
    out << "program of seed " << seed_ << ": the gradient of tensor " << leaf << " at index [" << element / 2
        << ", " << element % 2 << "] is " << computed << ", " << how << ' ' << other;
    return out.str();
  }

  const std::uint64_t seed_;
  std::vector<ktape::Variable> variables_;
  std::vector<Tensor> frozen_, constants_;
  std::size_t next_frozen_ = 0, next_constant_ = 0;
  bool records_ = false;
};

}  // namespace reference
