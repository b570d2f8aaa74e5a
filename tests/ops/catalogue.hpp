#pragma once
/// The catalogue has a row for every name of the backend API. The rows of a family stand at the end of its
/// test:
///
///     const Catalogue catalogue([]() -> Catalogue::Rows {
///       return {
///           {"square", of(K::square), {awkward_numbers()}},
///           {"round", no_gradient},
///       };
///     });
///
/// catalogue_test.cpp compares their gradients with central differences, of first and second order, for every
/// subset of the inputs, catalogue_function_test.cpp runs them inside of functions, and names_test.cpp checks
/// that none is missing.
#include <ktape/ops/nn/activations.hpp>

#include <functional>
#include <string>
#include <vector>

#include "check.hpp"

/// A name, called with some inputs of float64; a row without a function is for a name without a gradient.
struct CatalogueRow {
  std::string name;
  std::function<ktape::Tensor(const std::vector<ktape::Tensor>&)> f;
  std::vector<ktape::Tensor> inputs = {};
  double step = 1e-6;        ///< the step of the differences
  bool second_order = true;  ///< not at a tie, where the gradient jumps
};
inline constexpr std::nullptr_t no_gradient = nullptr;

class Catalogue {
 public:
  using Rows = std::vector<CatalogueRow>;

  /// Adds the rows of a family, which are made when a test asks for them: not before main.
  explicit Catalogue(Rows (*family)()) { families().push_back(family); }

  /// Returns all rows; some names have several.
  static Rows rows() {
    Rows all;
    for (const auto family : families())
      for (const CatalogueRow& row : family()) all.push_back(row);
    return all;
  }
  static Rows differentiable() {
    Rows all = rows();
    std::erase_if(all, [](const CatalogueRow& row) { return row.f == nullptr; });
    return all;
  }

 private:
  /// Returns the list of families, which the first test that adds a family creates.
  static std::vector<Rows (*)()>& families() {
    static std::vector<Rows (*)()> families;
    return families;
  }
};

inline auto of(ktape::Tensor (*f)(const ktape::Tensor&)) {
  return [f](In in) { return f(in[0]); };
}
template <class F>
auto of2(F f) {
  return [f](In in) { return f(in[0], in[1]); };
}

/// Returns numbers that are difficult: ties of magnitude, near saturation, large; not at kinks, where a
/// derivative does not exist.
inline ktape::Tensor awkward_numbers() { return doubles({{0.5, -0.5, 1.5}, {-12., 30., 0.125}}); }
inline ktape::Tensor positive_numbers() { return doubles({{0.5, 2., 1.5}, {0.25, 30., 1e-2}}); }
inline ktape::Tensor random_probabilities(const ktape::Shape& shape) {
  return ktape::backend::softmax(normal(shape, 9)).detach();
}
