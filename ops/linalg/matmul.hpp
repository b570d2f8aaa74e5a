#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/ops/hiding.hpp>
#include <ktape/ops/kernels/blas.hpp>
#include <ktape/ops/linalg/linalg.hpp>

/// Matrix products. Internal: sources only.
namespace ktape::op_helpers {

/// c = a b, (rows x inner) times (inner x columns), c dense row-major; c += a b with `accumulate`. float
/// and double by the engine, integers in a loop that wraps around; an inner extent of 0 gives zeros. bfloat16 is
/// multiplied by the engine where the processor has the instructions; otherwise half precision is multiplied in
/// float. Sums are floats, which are rounded once.
void matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, kernels::Matrix<float> a,
            kernels::Matrix<float> b, float* c, bool accumulate = false);
void matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, kernels::Matrix<double> a,
            kernels::Matrix<double> b, double* c, bool accumulate = false);
void matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, kernels::Matrix<float16> a,
            kernels::Matrix<float16> b, float16* c);
void matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, kernels::Matrix<bfloat16> a,
            kernels::Matrix<bfloat16> b, bfloat16* c);
void matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, kernels::Matrix<std::int64_t> a,
            kernels::Matrix<std::int64_t> b, std::int64_t* c, bool accumulate = false);

/// Returns K::matmul(a, b, options), in which zeros of the hiding operands hide infinity and NaN.
Tensor hiding_matmul(const Tensor& a, const Tensor& b, Hiding hiding,
                     const backend::MatmulOptions& options = {});
/// Returns the sums of the values, weighed: a weight of 0 hides its values.
Tensor weighed_sum(const Tensor& weights, const Tensor& values);

}  // namespace ktape::op_helpers
