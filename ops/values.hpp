#pragma once
#include <ktape/autograd/xtensor.hpp>
#include <ktape/ops/sparse.hpp>

/// Functions that copy the values of tensors to xtensor arrays.
namespace ktape::backend {

/// Returns a copy of the elements as an xtensor array, converted to T by the rules of `cast`. Throws
/// ValueError for a symbolic tensor, naming the placeholders that the tensor needs. `K.eval`, `K.get_value`.
///
///     Variable w = K::variable({1.f, 2.f});
///     auto array = K::get_value(w);
///     std::cout << array(0) + array(1) << " " << K::eval(2 * w)(1);
template <class T = float>
xt::xarray<T> get_value(const Tensor& x) {
  expect_value("get_value", x);
  xt::xarray<T> out = xt::xarray<T>::from_shape(std::vector<std::size_t>(x.shape().begin(), x.shape().end()));
  convert(out.data(), dtype_of<T>(), x.raw(), x.dtype(), x.size());
  return out;
}
template <class T = float>
xt::xarray<T> get_value(const Variable& x) {
  return get_value<T>(x.value());
}
template <class T = float>
xt::xarray<T> eval(const Tensor& x) {
  expect_value("eval", x);
  return get_value<T>(x);
}
/// Returns the elements of the dense tensor as an xtensor array. `K.eval`.
template <class T = float>
xt::xarray<T> eval(const SparseTensor& x) {
  return get_value<T>(to_dense(x));
}
/// Returns the values of several tensors. `K.batch_get_value`.
///
///     Variable a = K::variable({1.f}), b = K::variable({2.f});
///     K::batch_set_value({{a, {5.f}}, {b, {6.f}}});
///     std::cout << K::batch_get_value({a, b})[1](0);
template <class T = float>
std::vector<xt::xarray<T>> batch_get_value(const TensorList& tensors) {
  for (const Tensor& x : tensors) expect_value("batch_get_value", x);
  std::vector<xt::xarray<T>> values;
  for (const Tensor& x : tensors) values.push_back(get_value<T>(x));
  return values;
}

}  // namespace ktape::backend
