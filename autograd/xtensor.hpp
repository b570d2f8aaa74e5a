#pragma once
#include <ktape/autograd/tensor.hpp>

#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xnoalias.hpp>

/// Tensors as xtensor arrays, and xtensor expressions as tensors.
namespace ktape {

/// Returns the elements as an xtensor array over the memory of the tensor (no copy). The view is valid while
/// the tensor lives, and must not be written to while the tape could still read the tensor. Throws TypeError
/// when T is not the element type.
///
///     Tensor x = K::constant({1., 2., 3.});
///     std::cout << ktape::view<float>(x)(1);
template <class T>
auto view(const Tensor& tensor) {
  const T* data = tensor.data<T>();
  std::vector<std::size_t> shape(tensor.shape().begin(), tensor.shape().end());
  return xt::adapt(const_cast<T*>(data), static_cast<std::size_t>(tensor.size()), xt::no_ownership(), shape);
}

template <XtensorExpression E>
Tensor::Tensor(const E& expression) {
  using T = typename E::value_type;
  Shape shape;
  for (std::size_t n : expression.shape()) shape.push_back(static_cast<std::int64_t>(n));
  *this = empty(shape, dtype_of<T>());
  std::vector<std::size_t> extents(shape.begin(), shape.end());
  auto target = xt::adapt(pointer<T>(), static_cast<std::size_t>(size()), xt::no_ownership(), extents);
  xt::noalias(target) = expression;
}

}  // namespace ktape
