#include "eig.hpp"

#include <complex>

namespace golden_ops {
namespace {

using Complex = std::complex<double>;

/// Removes the number of `rest` that is nearest to z; returns the distance.
double take_nearest(Complex z, std::vector<Complex>& rest) {
  const auto nearest = std::min_element(
      rest.begin(), rest.end(), [z](Complex a, Complex b) { return std::abs(a - z) < std::abs(b - z); });
  const double distance = std::abs(*nearest - z);
  rest.erase(nearest);
  return distance;
}

}  // namespace

void check_eig(const Tensor& matrices, const std::vector<std::vector<double>>& got,
               const std::vector<Array>& want, double rtol, double atol,
               const std::function<void(const std::string&)>& problem) {
  const auto n = static_cast<std::size_t>(matrices.shape().back());
  const std::vector<double> a = values(matrices);
  const double slack = 10 * (rtol + atol);
  for (std::size_t m = 0; m * n < got[0].size(); ++m) {
    std::vector<Complex> expected;
    for (std::size_t j = 0; j < n; ++j)
      expected.emplace_back(want[0].data[m * n + j], want[1].data[m * n + j]);
    for (std::size_t j = 0; j < n; ++j) {
      const Complex w(got[0][m * n + j], got[1][m * n + j]);
      if (take_nearest(w, expected) > slack * (1 + std::abs(w))) problem("an eigenvalue is wrong");
      const auto v = [&](std::size_t i) {
        return Complex(got[2][(m * n + i) * n + j], got[3][(m * n + i) * n + j]);
      };
      double norm = 0, residual = 0;
      for (std::size_t i = 0; i < n; ++i) {
        Complex sum = -w * v(i);
        for (std::size_t k = 0; k < n; ++k) sum += a[(m * n + i) * n + k] * v(k);
        residual = std::max(residual, std::abs(sum)), norm += std::norm(v(i));
      }
      if (residual > slack * (1 + std::abs(w))) problem("A v is not w v");
      if (std::abs(norm - 1) > slack) problem("an eigenvector has not norm 1");
    }
  }
}

}  // namespace golden_ops
