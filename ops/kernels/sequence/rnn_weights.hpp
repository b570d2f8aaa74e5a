#pragma once
#include <ktape/ops/kernels/sequence/fused_rnn.hpp>

/// The parameters of recurrent cells, from Keras's order of columns (gates side by side) to blocks of gates and
/// back.
namespace ktape::kernels {

template <class A>
struct GateColumns {
  std::int64_t units, gates;
  UnitBlocks<A> blocks{units};
  std::int64_t width = blocks.padded * gates, columns = units * gates;

  /// Calls f(first column of the parameter, first column in the blocks, number) for each stretch of columns.
  template <class F>
  void for_stretches(const F& f) const {
    for (std::int64_t block = 0; block < blocks.count; ++block)
      for (std::int64_t gate = 0; gate < gates; ++gate)
        f(gate * units + block * lanes<A>, (block * gates + gate) * lanes<A>, blocks.valid(block));
  }

  /// Copies a parameter (rows, columns) to the layout (rows, blocks, gates, lanes).
  void spread(const A* from, std::int64_t rows, A* to) const {
    std::fill_n(to, rows * width, A(0));
    for (std::int64_t r = 0; r < rows; ++r)
      for_stretches([&](std::int64_t column, std::int64_t place, std::int64_t n) {
        std::copy_n(from + r * columns + column, n, to + r * width + place);
      });
  }
  /// Copies from the blocks back to the parameter's layout.
  void gather(const A* from, std::int64_t rows, A* to) const {
    for (std::int64_t r = 0; r < rows; ++r)
      for_stretches([&](std::int64_t column, std::int64_t place, std::int64_t n) {
        std::copy_n(from + r * width + place, n, to + r * columns + column);
      });
  }
  /// Copies the biases to the layout (blocks, gates, lanes). With `apart` the parameter has two rows, which are
  /// added; of the last gate, the second row's part follows the first row's.
  void biases(const A* from, bool apart, A* to) const {
    const std::int64_t all = gates + apart;
    std::fill_n(to, blocks.padded * all, A(0));
    for_stretches([&](std::int64_t column, std::int64_t place, std::int64_t n) {
      const std::int64_t gate = column / units;
      A* const first = to + (place / lanes<A> / gates * all + gate) * lanes<A>;
      A* const second = gate + 1 < gates ? first : first + lanes<A>;
      for (std::int64_t i = 0; i < n; ++i) first[i] = from[column + i];
      for (std::int64_t i = 0; apart && i < n; ++i) second[i] += from[columns + column + i];
    });
  }
  /// Copies the recurrent kernel (units, columns) to the layout (blocks, units, gates, lanes).
  void panels(const A* from, A* to) const {
    std::fill_n(to, units * width, A(0));
    const std::int64_t panel = gates * lanes<A>;
    for (std::int64_t k = 0; k < units; ++k)
      for_stretches([&](std::int64_t column, std::int64_t place, std::int64_t n) {
        std::copy_n(from + k * columns + column, n, to + (place / panel * units + k) * panel + place % panel);
      });
  }
  /// Writes the transpose of the parameter in panels of units, see run_recurrent_backward.
  void transposed_panels(const A* from, A* to) const {
    std::fill_n(to, blocks.padded * width, A(0));
    std::int64_t vectors;
    for (std::int64_t block = 0; block < blocks.count; block += vectors) {
      vectors = transposed_panel(block, blocks.count);
      const std::int64_t first = block * lanes<A>, panel = vectors * lanes<A>;
      for (std::int64_t k = first; k < std::min(units, first + panel); ++k)
        for_stretches([&](std::int64_t column, std::int64_t place, std::int64_t n) {
          A* out = to + first * width + place * panel + k - first;
          for (std::int64_t i = 0; i < n; ++i) out[i * panel] = from[k * columns + column + i];
        });
    }
  }
};

}  // namespace ktape::kernels
