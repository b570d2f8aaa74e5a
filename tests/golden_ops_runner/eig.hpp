#pragma once
#include "case.hpp"

namespace golden_ops {

std::vector<double> values(const Tensor& tensor);

/// Checks the real and imaginary parts of eigenvalues and eigenvectors, in any order and phase: A v = w v, vectors of
/// norm 1, and the eigenvalues as a set. Calls `problem` for each fault.
void check_eig(const Tensor& matrices, const std::vector<std::vector<double>>& got,
               const std::vector<Array>& want, double rtol, double atol,
               const std::function<void(const std::string&)>& problem);

}  // namespace golden_ops
