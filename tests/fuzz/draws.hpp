#pragma once
/// Random shapes, tensors and axes, and arguments as text for reports.
#include <ktape/ktape.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "op_calls.hpp"

namespace draws {

namespace K = ktape::backend;
using ktape::DType, ktape::Shape, ktape::Tensor;
using reference::Array, reference::Axes, reference::Extents;
using In = const std::vector<Tensor>&;
using Arrays = const std::vector<Array>&;

inline const std::vector<std::string> floating = {"float16", "float32", "float64"},
                                      wide = {"float32", "float64"},
                                      signed_numbers = {"int8",    "int16",   "int32",  "int64",
                                                        "float16", "float32", "float64"},
                                      all_dtypes = {"bool",  "uint8",   "int8",    "int16",  "int32",
                                                    "int64", "float16", "float32", "float64"};

/// Draws extents around the widths of vectors, short and long, and seldom 0.
inline Shape shape(Random& random, int least = 0, int most = 4) {
  const std::vector<std::int64_t> extents = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 130};
  Shape out;
  std::int64_t count = 1;
  for (auto rank = least + random.below(most - least + 1); rank > 0; --rank) {
    std::int64_t extent = random.pick(extents);
    if (count * extent > 4000) extent = 1 + random.below(2);
    out.push_back(extent), count *= extent;
  }
  return out;
}

/// Returns random numbers that every dtype holds exactly.
inline Tensor tensor(Random& random, const Shape& shape, const DType& dtype) {
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (double& v : values) {
    v = dtype.is_floating() ? static_cast<double>(random.below(129) - 64) / 16
                            : static_cast<double>(random.below(11) - 5);
    if (dtype == "uint8" || dtype == "bool") v = std::abs(v);
    if (dtype == "bool") v = v > 2;
  }
  return K::cast(K::constant(values, {.dtype = "float64", .shape = shape}), dtype);
}

/// Replaces some elements of a floating tensor by infinities, NaN and other special numbers.
inline Tensor with_odd_values(Random& random, const Tensor& x) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> odd = {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity, -0.0, 0.0};
  std::vector<double> values(static_cast<std::size_t>(x.size()));
  ktape::convert(values.data(), "float64", x.raw(), x.dtype(), x.size());
  for (double& v : values)
    if (random.chance(0.2)) v = random.pick(odd);
  return K::cast(K::constant(values, {.dtype = "float64", .shape = x.shape()}), x.dtype());
}

/// Powers of two, so that products are exact and far from overflow.
inline Tensor powers_of_two(Random& random, const Shape& shape, const DType& dtype) {
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (double& v : values) v = std::ldexp(random.chance(0.5) ? 1 : -1, static_cast<int>(random.below(3)) - 1);
  return K::cast(K::constant(values, {.dtype = "float64", .shape = shape}), dtype);
}

/// Draws a shape that broadcasts to the shape: some extents become 1, some leading axes go.
inline Shape broadcasting(Random& random, Shape shape) {
  for (std::int64_t& n : shape)
    if (random.chance(0.3)) n = 1;
  if (!random.chance(0.3)) return shape;
  const auto dropped = random.below(shape.rank() + 1);
  return Shape(std::vector<std::int64_t>(shape.begin() + dropped, shape.end()));
}

/// Returns an axis of a tensor of this rank, counted from either end; seldom an axis that does not exist.
inline int axis(Random& random, int rank, OpCall& call) {
  if (rank == 0 || random.chance(0.05)) {
    call.fits = false;
    return static_cast<int>(random.chance(0.5) ? rank + random.below(3) : -rank - 1 - random.below(3));
  }
  const auto found = static_cast<int>(random.below(rank));
  return random.chance(0.5) ? found : found - rank;
}

inline std::size_t from_front(int axis, int rank) {
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

inline Axes counting(int rank) {
  Axes out(static_cast<std::size_t>(rank));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

inline Axes shuffled(Random& random, int rank) {
  Axes out = counting(rank);
  for (std::size_t i = out.size(); i > 1; --i)
    std::swap(out[i - 1], out[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  return out;
}

template <class List>
std::vector<int> as_ints(const List& list) {
  return std::vector<int>(list.begin(), list.end());
}

inline Extents as_extents(const Shape& shape) { return Extents(shape.begin(), shape.end()); }

std::string text(const auto& list) {
  std::string out = "{";
  for (const auto& each : list) out += (out.size() > 1 ? ", " : "") + std::to_string(each);
  return out + '}';
}

}  // namespace draws
