#include <ktape/ops/elementwise_op.hpp>

namespace ktape::op_helpers {

void fail_for_dtypes(const char* op, const Tensor& x, const Tensor& y, const char* y_name) {
  fail<TypeError>("[", op, "] both tensors must have one dtype: received x=", x.dtype(), ", ", y_name, '=',
                  y.dtype(), " (K::cast(", y_name, ", \"", x.dtype(), "\") converts)");
}

}  // namespace ktape::op_helpers
