#pragma once
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>

#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <vector>

/// Tensors that store only some of their elements; the other elements are 0.
namespace ktape {

/// A sparse tensor: the coordinates of the stored elements, (n, rank) of int64 in row-major order without
/// repetitions; the values, (n,); and the shape of the whole tensor. Gradients flow to the values.
///
///     SparseTensor s({{0, 1}, {1, 0}}, {3.f, 4.f}, {2, 2});
///
/// Values that are given as numbers have the dtype floatx. Mirrors `tf.SparseTensor`.
///
///     ktape::SparseTensor s({{0, 1}, {1, 0}}, {3.f, 4.f}, {2, 2});
///     std::cout << K::to_dense(s) << "\n" << K::dot(s, K::ones({2, 1}));
class SparseTensor {
 public:
  SparseTensor() = default;
  /// Throws ValueError for indices and values whose shapes do not fit, a coordinate outside of dense_shape,
  /// and coordinates that repeat or are out of order; TypeError for indices that are not integers.
  SparseTensor(const ArrayLike& indices, const ArrayLike& values, const Shape& dense_shape);
  /// Makes a sparse tensor whose values are a tensor or variable, so that gradients flow to it.
  template <class V>
  requires std::convertible_to<const V&, const Tensor&> SparseTensor(const ArrayLike& indices,
                                                                     const V& values,
                                                                     const Shape& dense_shape)
      : SparseTensor(Parts{tensor_of("indices", indices, DType::Int64), values, dense_shape}) {}

  const Tensor& indices() const { return indices_; }
  const Tensor& values() const { return values_; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return values_.dtype(); }
  int ndim() const { return shape_.rank(); }

 private:
  struct Parts {
    Tensor indices, values;
    Shape shape;
  };
  explicit SparseTensor(const Parts& parts);
  static Tensor tensor_of(const char* name, const ArrayLike& value, DType dtype);
  void check_coordinates() const;

  Tensor indices_, values_;
  Shape shape_;
};

/// Writes the coordinates, the values and the shape.
std::ostream& operator<<(std::ostream& out, const SparseTensor& x);
std::string to_string(const SparseTensor& x);

/// A sparse tensor whose values are a variable. Converts to a SparseTensor with the current values; updates,
/// gradients and optimizers use `values()`.
///
///     ktape::SparseTensor s({{0, 1}, {1, 0}}, {3.f, 4.f}, {2, 2});
///     ktape::SparseVariable w = K::variable(s);
///     std::cout << K::is_sparse(s);
class SparseVariable {
 public:
  SparseVariable(const Tensor& indices, const Variable& values, const Shape& shape)
      : indices_(indices), values_(values), shape_(shape) {}
  Variable& values() { return values_; }
  const Variable& values() const { return values_; }
  const Shape& shape() const { return shape_; }
  operator SparseTensor() const { return SparseTensor(indices_, values_, shape_); }

 private:
  Tensor indices_;
  Variable values_;
  Shape shape_;
};

}  // namespace ktape

namespace ktape::backend {

/// Returns whether x is sparse. `K.is_sparse`.
bool is_sparse(const Tensor& x);
bool is_sparse(const SparseTensor& x);

/// Returns a dense tensor with the elements of x; a dense x is returned unchanged. Differentiable to any
/// order. `K.to_dense`.
Tensor to_dense(const SparseTensor& x);
Tensor to_dense(const Tensor& x);

/// Returns a sparse variable with the coordinates, shape and values of `value`. `K.variable`.
template <std::same_as<SparseTensor> S>
SparseVariable variable(const S& value, const VariableOptions& options = {}) {
  return {value.indices(), variable(value.values(), options), value.shape()};
}

/// Returns the shape, the number of axes or the dtype of a sparse tensor.
inline Shape int_shape(const SparseTensor& x) { return x.shape(); }
inline int ndim(const SparseTensor& x) { return x.ndim(); }
inline DType dtype(const SparseTensor& x) { return x.dtype(); }

/// Computes the matrix product of a sparse x, (m, k), and a dense y, (k, n), of one number dtype. Gradients
/// flow to the values of x and to y, to any order. Throws ValueError for other ranks and extents that differ,
/// TypeError for dtypes that differ and for bool. `K.dot`.
///
///     Tensor a = K::constant({{1., 2.}, {3., 4.}});
///     std::cout << K::dot(a, a) << "\n" << K::matmul(a, a, {.transpose_b = true});
Tensor dot(const SparseTensor& x, const Tensor& y);

/// Joins sparse tensors along an axis to a sparse tensor. Throws the errors of `concatenate` for dense
/// tensors. `K.concatenate`.
///
///     Tensor a = K::constant({{1., 2.}}), b = K::constant({{3., 4.}});
///     std::cout << K::concatenate({a, b}, 0) << "\n" << K::concatenate({a, b});
SparseTensor concatenate(const std::vector<SparseTensor>& tensors, int axis = -1);

/// A list of dense and sparse tensors.
class MixedList {
 public:
  class Entry {
   public:
    Entry(const Tensor& x) : dense_(x) {}
    Entry(const Variable& x) : dense_(x) {}
    Entry(const SparseTensor& x) : dense_(to_dense(x)) {}
    Entry(const SparseVariable& x) : dense_(to_dense(x)) {}
    const Tensor& dense() const { return dense_; }

   private:
    Tensor dense_;
  };
  MixedList(std::initializer_list<Entry> entries) : MixedList(std::vector<Entry>(entries)) {}
  MixedList(const std::vector<Entry>& entries);
  const std::vector<Tensor>& dense() const { return dense_; }

 private:
  std::vector<Tensor> dense_;
};

/// Implements `concatenate` for a mixed list.
///
///     ktape::SparseTensor s({{0, 1}, {1, 0}}, {3.f, 4.f}, {2, 2});
///     std::cout << K::concatenate({K::MixedList::Entry(s), K::ones({2, 1})}, 1);
Tensor concatenate_mixed(const MixedList& tensors, int axis);

/// Joins dense and sparse tensors to a dense tensor. The function is a template so that overload resolution
/// prefers the overloads for lists of one kind.
template <class = void>
Tensor concatenate(const MixedList& tensors, int axis = -1) {
  return concatenate_mixed(tensors, axis);
}

}  // namespace ktape::backend
