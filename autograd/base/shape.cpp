#include <ktape/autograd/base/error.hpp>
#include <ktape/autograd/base/memory.hpp>
#include <ktape/autograd/base/shape.hpp>

#include <algorithm>
#include <ostream>

namespace ktape {
namespace {
constexpr std::int64_t max_bytes = std::int64_t{1} << 47;
}

void expect_rank(const char* op, int rank) {
  if (rank > Shape::max_rank)
    fail("[", op, "] a tensor has at most ", Shape::max_rank, " dimensions: received rank=", rank);
}

Shape::Shape(const std::int64_t* dims, int rank) : rank_(rank) {
  expect_rank("shape", rank);
  std::copy_n(dims, rank, dims_.begin());
}

void Shape::push_back(std::int64_t dim) { insert(rank_, dim); }

void Shape::insert(int at, std::int64_t dim) {
  expect_rank("shape", rank_ + 1);
  std::int64_t* const place = begin() + position(at, rank_ + 1);
  std::copy_backward(place, end(), end() + 1);
  *place = dim;
  ++rank_;
}

void Shape::erase(int at) {
  std::int64_t* const place = begin() + position(at, rank_);
  std::copy(place + 1, end(), place);
  --rank_;
}

void Shape::fail_position(int i) const {
  fail("[shape] the position must be one of the ", rank_, " of ", *this, ": received ", i);
}

std::int64_t Shape::count(int first, int last) const {
  if (first < 0) fail_position(first);
  if (last > rank_) fail_position(last);
  std::int64_t n = 1;
  bool unknown = false;
  for (int i = first; i < last; ++i)
    if (dims_[i] == None) unknown = true;
    else n *= dims_[i];
  return unknown && n != 0 ? std::int64_t{None} : n;
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '(';
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) out << ", ";
    if (shape[i] == None) out << "None";
    else out << shape[i];
  }
  return out << (shape.rank() == 1 ? ",)" : ")");
}

std::string to_string(const Shape& shape) {
  std::ostringstream out;
  out << shape;
  return out.str();
}

int canonical_axis(const char* op, int axis, int rank) {
  if (axis < -rank || axis >= rank)
    fail("[", op, "] axis must be in [", -rank, ", ", rank, ") for a tensor of rank ", rank,
         ": received axis=", axis);
  return axis < 0 ? axis + rank : axis;
}

unsigned canonical_axes(const char* op, const Axes& axes, int rank) {
  if (axes.all()) return (1u << rank) - 1;
  unsigned bits = 0;
  for (int axis : axes.list()) {
    const unsigned bit = 1u << canonical_axis(op, axis, rank);
    if (bits & bit) fail("[", op, "] an axis may be named once: received axis=", axis, " twice");
    bits |= bit;
  }
  return bits;
}

std::string numbers(const Shape& list) {
  std::string out = "(";
  for (const std::int64_t n : list) out += (out.size() > 1 ? ", " : "") + std::to_string(n);
  return out + (list.rank() == 1 ? ",)" : ")");
}

void check_extents(const char* op, const Shape& shape, std::size_t element_size, bool waits) {
  static const std::int64_t machine = std::min(max_bytes, memory_of_machine());
  const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  const std::int64_t most = waits || empty ? max_bytes : machine;
  std::int64_t bytes = static_cast<std::int64_t>(element_size);
  for (std::int64_t n : shape)
    if (n < 0 && !(waits && n == None))
      fail("[", op, "] extents must be at least 0: received shape=", numbers(shape));
  // A tensor with an extent of 0 is empty, but ops also need the products of its other extents.
  for (std::int64_t n : shape)
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(n, 1), &bytes) || bytes > most)
      fail("[", op, "] the tensor must fit in memory: received shape=", shape);
}

}  // namespace ktape
