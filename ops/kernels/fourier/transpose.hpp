#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <xsimd/xsimd.hpp>

namespace ktape::kernels {

/// Transposes squares of vectors in registers.
template <class T>
class TileTransposer {
 public:
  static constexpr std::size_t lanes = xsimd::batch<T>::size;

  /// Copies the square at x to its transpose at out; rows lie `x_stride` and `out_stride` elements apart.
  static void run(const T* x, std::int64_t x_stride, T* out, std::int64_t out_stride) {
    Vector rows[lanes], next[lanes];
    for (std::size_t i = 0; i < lanes; ++i)
      std::memcpy(&rows[i], x + static_cast<std::int64_t>(i) * x_stride, sizeof(Vector));
    // Each round interleaves row i with row i + lanes / 2; after log2(lanes) rounds rows are columns.
    for (std::size_t round = 1; round < lanes; round *= 2) {
      for (std::size_t i = 0; i < lanes / 2; ++i)
        interleave(rows[i], rows[i + lanes / 2], next[2 * i], next[2 * i + 1],
                   std::make_integer_sequence<int, lanes>());
      std::memcpy(rows, next, sizeof rows);
    }
    for (std::size_t i = 0; i < lanes; ++i)
      std::memcpy(out + static_cast<std::int64_t>(i) * out_stride, &rows[i], sizeof(Vector));
  }

 private:
  typedef T Vector __attribute__((vector_size(lanes * sizeof(T))));

  template <int... i>
  static void interleave(const Vector& a, const Vector& b, Vector& low, Vector& high,
                         std::integer_sequence<int, i...>) {
    constexpr int n = static_cast<int>(lanes);
    low = __builtin_shufflevector(a, b, (i % 2 == 0 ? i / 2 : n + i / 2)...);
    high = __builtin_shufflevector(a, b, ((i % 2 == 0 ? i / 2 : n + i / 2) + n / 2)...);
  }
};

/// Copies x, rows x columns, to its transpose.
template <class T>
void transpose_matrix(std::int64_t rows, std::int64_t columns, const T* x, T* out) {
  constexpr auto tile = static_cast<std::int64_t>(TileTransposer<T>::lanes);
  const std::int64_t whole_rows = rows / tile * tile, whole_columns = columns / tile * tile;
  for (std::int64_t r = 0; r < whole_rows; r += tile)
    for (std::int64_t c = 0; c < whole_columns; c += tile)
      TileTransposer<T>::run(x + r * columns + c, columns, out + c * rows + r, rows);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = r < whole_rows ? whole_columns : 0; c < columns; ++c)
      out[c * rows + r] = x[r * columns + c];
}

}  // namespace ktape::kernels
