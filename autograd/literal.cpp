#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/autograd/literal.hpp>

#include <algorithm>

namespace ktape {

ArrayLike::ArrayLike(std::initializer_list<ArrayLike> rows)
    : ArrayLike(std::span(rows.begin(), rows.size())) {}

ArrayLike::ArrayLike(std::span<const ArrayLike> rows) {
  for (const ArrayLike& row : rows) {
    if (row.fault_) fault_ = row.fault_;
    else if (row.from_tensor_)
      fault_ = std::make_shared<Fault>(Fault{
          .reason = "must hold numbers only: received a tensor inside a nested literal", .of_type = true});
    else if (row.shape_ != rows[0].shape_)
      fault_ =
          std::make_shared<Fault>(Fault{.reason = "must have rows of one shape: received " +
                                                  to_string(rows[0].shape_) + " and " + to_string(row.shape_),
                                        .of_type = false});
    if (fault_) {
      shape_ = {1};
      return;
    }
    numbers_.insert(numbers_.end(), row.numbers_.begin(), row.numbers_.end());
  }
  if (!rows.empty()) shape_ = rows[0].shape_;
  shape_.insert(0, static_cast<std::int64_t>(rows.size()));
}

void ArrayLike::fail_as_no_array(const char* op, const char* name) const {
  if (fault_->of_type) fail<TypeError>("[", op, "] ", name, ' ', fault_->reason);
  fail("[", op, "] ", name, ' ', fault_->reason);
}

Tensor ArrayLike::tensor(std::optional<DType> dtype, DType otherwise, const char* op) const {
  if (fault_) fail_as_no_array(op, "a literal");
  if (from_tensor_) return converted(tensor_, dtype.value_or(tensor_.dtype()));
  const bool all_bool = !numbers_.empty() && std::all_of(numbers_.begin(), numbers_.end(),
                                                         [](Scalar s) { return s.kind() == Scalar::Bool; });
  const DType result = dtype.value_or(all_bool ? DType(DType::Bool) : otherwise);
  for (const Scalar number : numbers_) expect_fits(op, number, result);
  Tensor out = Tensor::empty(shape_, result, op);
  dispatch(result, [&]<class T>() {
    std::transform(numbers_.begin(), numbers_.end(), out.pointer<T>(), [](Scalar s) { return s.to<T>(); });
  });
  return out;
}

ArrayLike ArrayLike::truncated() const {
  ArrayLike out = *this;
  for (Scalar& number : out.numbers_) number = number.real() < 0 ? number.ceil() : number.floor();
  return out;
}

Tensor converted(const Tensor& tensor, DType dtype) {
  if (is_symbolic(tensor))
    return defer("cast", {tensor.shape(), dtype}, converted, WithoutGradient{tensor}, dtype);
  if (tensor.dtype() == dtype) return tensor.detach();
  Tensor out = Tensor::empty(tensor.shape(), dtype);
  convert(out.raw(), dtype, tensor.raw(), tensor.dtype(), tensor.size());
  return out;
}

}  // namespace ktape
