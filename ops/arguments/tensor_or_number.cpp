#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/ops/arguments/tensor_or_number.hpp>
#include <ktape/ops/settings/config.hpp>

namespace ktape {

const Tensor& TensorOrNumber::tensor(const char* op, DType dtype) const {
  if (!is_number()) return *tensor_;
  expect_fits(op, number_, dtype);
  made_ = Tensor::empty({}, dtype);
  dispatch(dtype, [&]<class T>() { *made_.pointer<T>() = number_.to<T>(); });
  return made_;
}

const Tensor& TensorOrNumber::tensor(const char* op, const TensorOrNumber& other) const {
  if (!is_number()) return *tensor_;
  const bool beside_tensor = !other.is_number() && other.tensor_->defined();
  return tensor(op, beside_tensor ? other.tensor_->dtype() : backend::floatx());
}

}  // namespace ktape
