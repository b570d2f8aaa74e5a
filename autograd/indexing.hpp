#pragma once
#include <ktape/autograd/tensor.hpp>

#include <vector>

namespace ktape {

struct NewAxisType {};
struct EllipsisType {};
/// Special entries of an index: NewAxis (or None) adds an axis of extent 1, like NumPy's `newaxis`; Ellipsis
/// stands for as many whole axes as fit, like `...`.
inline constexpr NewAxisType NewAxis{};
inline constexpr EllipsisType Ellipsis{};

/// Python's `start:stop:step` in an index. A bound of None reaches to the end, so a Slice without arguments
/// takes the whole axis. Negative bounds count from the end, bounds out of range are moved to the ends, a
/// negative step runs backwards. The use of a step of 0 is a ValueError.
///
///     Slice()   Slice(0, 2)   Slice(1, None)   Slice(None, None, -1)
///
/// For example:
///
///     Tensor x = K::reshape(K::arange(6), {2, 3});
///     std::cout << x[{All, Slice(None, None, -1)}] << " "
///               << x[{ktape::NewAxis, 1}].shape() << " " << x[{ktape::Ellipsis, 0}];
class Slice {
 public:
  class Bound {
   public:
    constexpr Bound(NoneType) {}
    template <std::integral T>
    constexpr Bound(T value) : value_(static_cast<std::int64_t>(value)), given_(true) {}
    constexpr std::int64_t value_or(std::int64_t otherwise) const { return given_ ? value_ : otherwise; }
    constexpr bool given() const { return given_; }
    friend bool operator==(const Bound&, const Bound&) = default;

   private:
    std::int64_t value_ = 0;
    bool given_ = false;
  };

  constexpr Slice() : Slice(None, None) {}
  constexpr Slice(Bound start, Bound stop, Bound step = None) : start(start), stop(stop), step(step) {}
  Bound start, stop, step;
  friend bool operator==(const Slice&, const Slice&) = default;
};

/// The whole axis, Python's `:`.
inline constexpr Slice All{};

/// One entry of an index: a position, which removes the axis (a negative position counts from the end), a
/// slice, NewAxis or Ellipsis.
class Index {
 public:
  enum Kind : std::uint8_t { Position, Range, New, Rest };

  template <std::integral T>
  Index(T position) : kind_(Position), position_(static_cast<std::int64_t>(position)) {}
  Index(const Slice& slice) : kind_(Range), slice_(slice) {}
  Index(NewAxisType) : kind_(New) {}
  Index(NoneType) : kind_(New) {}
  Index(EllipsisType) : kind_(Rest) {}

  Kind kind() const { return kind_; }
  std::int64_t position() const { return position_; }
  const Slice& slice() const { return slice_; }
  friend bool operator==(const Index&, const Index&) = default;

 private:
  Kind kind_;
  std::int64_t position_ = 0;
  Slice slice_;
};

/// The index in the brackets of `x[...]`: one entry, or several entries in braces. Axes after the last entry
/// are taken whole.
///
///     x[0]   x[{1, -1}]   x[{Slice(0, 2), All}]   x[{Ellipsis, NewAxis}]   x[Slice(None, None, -1)]
class Indices {
 public:
  Indices(std::initializer_list<Index> entries) : entries_(entries) {}
  Indices(std::vector<Index> entries) : entries_(std::move(entries)) {}
  template <class T>
  requires std::convertible_to<T, Index> Indices(const T& entry) : entries_{Index(entry)} {}

  const std::vector<Index>& entries() const { return entries_; }

 private:
  std::vector<Index> entries_;
};

}  // namespace ktape
