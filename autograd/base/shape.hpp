#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace ktape {

/// Python's None in the place of a number: an unknown dimension of a placeholder, or all axes of a reduction.
struct NoneType {
  constexpr operator std::int64_t() const { return -1; }
};
inline constexpr NoneType None{};

/// The extents of a tensor, outermost first, stored inline; also a short list of integers as an argument of
/// an op (a start, a pattern). More than 8 dimensions are a ValueError.
///
///     shape[0]   shape[-1]   shape == Shape{2, 3}   for (std::int64_t extent : shape)
///
/// Negative positions count from the end; a position out of range is a ValueError.
///
///     Shape shape{2, 3};
///     std::cout << shape << " " << shape[-1] << " " << (shape == Shape{2, 3});
class Shape {
 public:
  static constexpr int max_rank = 8;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : Shape(dims.begin(), static_cast<int>(dims.size())) {}
  template <std::integral T>
  Shape(const std::vector<T>& dims) {
    for (const T dim : dims) push_back(static_cast<std::int64_t>(dim));
  }
  Shape(const std::int64_t* dims, int rank);

  int rank() const { return rank_; }
  std::size_t size() const { return static_cast<std::size_t>(rank_); }
  bool empty() const { return rank_ == 0; }
  std::int64_t operator[](int i) const { return dims_[position(i, rank_)]; }
  std::int64_t& operator[](int i) { return dims_[position(i, rank_)]; }
  std::int64_t back() const { return (*this)[-1]; }
  const std::int64_t* begin() const { return dims_.data(); }
  const std::int64_t* end() const { return dims_.data() + rank_; }
  std::int64_t* begin() { return dims_.data(); }
  std::int64_t* end() { return dims_.data() + rank_; }

  void push_back(std::int64_t dim);
  /// Inserts an extent before the position `at`; a position equal to the rank appends the extent.
  void insert(int at, std::int64_t dim);
  void erase(int at);

  /// Returns the product of the extents from `first` up to, not including, `last` (all extents by default): 1
  /// for an empty range, None where the product depends on an unknown extent.
  std::int64_t count(int first = 0) const { return count(first, rank_); }
  std::int64_t count(int first, int last) const;

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a.dims_[i] != b.dims_[i]) return false;
    return true;
  }

 private:
  /// Returns the position `i` of `count` positions as an index from 0. Negative positions count from the end.
  std::size_t position(int i, int count) const {
    const int at = i < 0 ? i + count : i;
    if (static_cast<unsigned>(at) >= static_cast<unsigned>(count)) fail_position(i);
    return static_cast<std::size_t>(at);
  }
  [[noreturn]] void fail_position(int i) const;

  std::array<std::int64_t, max_rank> dims_{};
  int rank_ = 0;
};

/// An optional shape, for options that may be left out. `{}` means no shape, `Shape()` the shape of a scalar.
///
///     Tensor x = K::placeholder({K::None, 3});
///     std::cout << K::int_shape(x);
struct OptionalShape : std::optional<Shape> {
  OptionalShape() = default;
  OptionalShape(std::initializer_list<std::int64_t> dims) : std::optional<Shape>(Shape(dims)) {}
  OptionalShape(const Shape& shape) : std::optional<Shape>(shape) {}
};

/// Writes a shape as Python prints a tuple: `()`, `(3,)`, `(None, 2)`.
///
///     std::cout << ktape::to_string(Shape{2, 3}) << " "
///               << ktape::to_string(K::ones({2}));
std::ostream& operator<<(std::ostream& out, const Shape& shape);
std::string to_string(const Shape& shape);

/// The axes of an op: one axis, several axes, or None for all axes. Negative axes count from the end.
///
///     sum(x)   sum(x, -1)   sum(x, {0, 2})   sum(x, None)
///
/// For example:
///
///     Tensor x = K::ones({2, 3, 4});
///     std::cout << K::sum(x, {0, 2}) << " " << K::sum(x, None);
class Axes {
 public:
  Axes() = default;  ///< all axes
  Axes(NoneType) {}  ///< all axes
  Axes(int axis) : list_{axis}, all_(false) {}
  Axes(std::initializer_list<int> axes) : list_(axes), all_(false) {}
  Axes(const std::vector<int>& axes) : list_(axes), all_(false) {}

  bool all() const { return all_; }
  const std::vector<int>& list() const { return list_; }

 private:
  std::vector<int> list_;
  bool all_ = true;
};

/// Returns `axis` as an index from 0. Throws ValueError, naming the op, for an axis outside [-rank, rank).
///
///     std::cout << ktape::canonical_axis("sum", -1, 3);
int canonical_axis(const char* op, int axis, int rank);

/// Returns one bit per reduced axis (bit 0 = axis 0). Throws ValueError for an axis out of range or named
/// twice.
///
///     std::cout << ktape::canonical_axes("sum", {0, -1}, 3);  // bits 0 and 2
unsigned canonical_axes(const char* op, const Axes& axes, int rank);

/// Throws ValueError for an extent below 0 and for a tensor that exceeds the memory of the machine. With `waits` (a
/// deferred op), an extent may be None. The size is `element_size` times the product of the extents above 0.
///
///     try {
///       ktape::check_extents("my_op", {2, -3}, sizeof(float));
///     } catch (const ktape::ValueError& error) {
///       std::cout << error.what();
///     }
void check_extents(const char* op, const Shape& shape, std::size_t element_size, bool waits = false);

/// Throws ValueError, naming the op, for a result with more dimensions than a tensor can have.
///
///     try {
///       ktape::expect_rank("my_op", 9);
///     } catch (const ktape::ValueError& error) {
///       std::cout << error.what();
///     }
void expect_rank(const char* op, int rank);

/// Returns a list of numbers as Python prints a tuple: `(-1, 4)`. A Shape would be printed as `(None, 4)`.
///
///     std::cout << ktape::numbers({-1, 4}) << " as a shape: " << Shape{-1, 4};
std::string numbers(const Shape& list);

}  // namespace ktape
