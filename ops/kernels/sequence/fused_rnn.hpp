#pragma once
#include <ktape/autograd/base/memory.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/simd/gate_functions.hpp>
#include <ktape/ops/kernels/simd/gemm_microkernel.hpp>

#include <utility>

/// Recurrent networks over whole sequences. Each thread runs all steps of its samples and so waits for no
/// other thread, or, when samples are few, computes its units in each step; the product with the recurrent
/// kernel stays in registers until the cell has computed the gates.
///
/// The projections of the inputs and of the states are the arguments of a cell's gates. Gates and units are
/// stored in blocks of one vector of units: (blocks, gates, lanes), filled up with zeros, which stay zeros.
namespace ktape::kernels {

/// A cell's `forward` replaces the arguments z of the gates, the sums of both projections, by activations and the
/// cell state `c` by the new state, and returns the new output. `apart` tells whether the state's projection q of
/// the last gate is no part of z. The cell's `backward` replaces activations and q by the gradients of the
/// projections and the gradient `dc` of the new cell state by the gradient of the old state, and returns the part
/// of the old output's gradient that does not pass through a projection.
template <class Gate>
struct LstmCell {
  static constexpr int gates = 4;  // i, f, c, o
  static constexpr bool apart = false;
  template <class A>
  static Vec<A> forward(Vec<A>* z, Vec<A>, Vec<A>, Vec<A>& c) {
    z[0] = Gate::template value<A>(z[0]), z[1] = Gate::template value<A>(z[1]);
    z[2] = Tanh::value<A>(z[2]), z[3] = Gate::template value<A>(z[3]);
    c = z[1] * c + z[0] * z[2];
    return z[3] * Tanh::value<A>(c);
  }
  template <class A>
  static Vec<A> backward(Vec<A>* z, Vec<A>&, Vec<A>, Vec<A> c, Vec<A> dh, Vec<A>& dc) {
    const Vec<A> i = z[0], f = z[1], g = z[2], o = z[3], t = Tanh::value<A>(f * c + i * g);
    dc += dh * o * Tanh::slope(t);
    z[0] = dc * g * Gate::slope(i), z[1] = dc * c * Gate::slope(f), z[2] = dc * i * Tanh::slope(g),
    z[3] = dh * t * Gate::slope(o);
    dc *= f;
    return Vec<A>{};
  }
};

/// The cell with the reset gate after the product, so that the state's projection of the candidate stays apart.
template <class Gate>
struct GruCell {
  static constexpr int gates = 3;  // update, reset, candidate
  static constexpr bool apart = true;
  template <class A>
  static Vec<A> forward(Vec<A>* z, Vec<A> q, Vec<A> h, Vec<A>&) {
    z[0] = Gate::template value<A>(z[0]), z[1] = Gate::template value<A>(z[1]);
    z[2] = Tanh::value<A>(z[2] + z[1] * q);
    return z[0] * h + (1 - z[0]) * z[2];
  }
  template <class A>
  static Vec<A> backward(Vec<A>* z, Vec<A>& q, Vec<A> h, Vec<A>, Vec<A> dh, Vec<A>&) {
    const Vec<A> update = z[0], reset = z[1], candidate = z[2];
    z[0] = dh * (h - candidate) * Gate::slope(update);
    z[2] = dh * (1 - update) * Tanh::slope(candidate);
    z[1] = z[2] * q * Gate::slope(reset), q = z[2] * reset;
    return dh * update;
  }
};

template <class Activation>
struct SimpleCell {
  static constexpr int gates = 1;
  static constexpr bool apart = false;
  template <class A>
  static Vec<A> forward(Vec<A>* z, Vec<A>, Vec<A>, Vec<A>&) {
    return z[0] = Activation::template value<A>(z[0]);
  }
  template <class A>
  static Vec<A> backward(Vec<A>* z, Vec<A>&, Vec<A>, Vec<A>, Vec<A> dh, Vec<A>&) {
    z[0] = dh * Activation::slope(z[0]);
    return Vec<A>{};
  }
};

/// The memory layout of a batch of sequences.
struct SequenceLayout {
  std::int64_t samples, steps, units;
  bool time_major, go_backwards, zero_masked;
  const bool* mask;  // in the order of the inputs; null: no step is masked

  std::int64_t row(std::int64_t sample, std::int64_t step) const {
    return time_major ? step * samples + sample : sample * steps + step;
  }
  /// Returns the row of inputs of a sample in a step, which is also the row of the values kept for the
  /// gradient.
  std::int64_t input_row(std::int64_t sample, std::int64_t step) const {
    return row(sample, go_backwards ? steps - 1 - step : step);
  }
  bool masked(std::int64_t input_row) const { return mask && !mask[input_row]; }
};

template <class A>
struct UnitBlocks {
  std::int64_t units, count = (units + lanes<A> - 1) / lanes<A>, padded = count * lanes<A>;
  std::int64_t valid(std::int64_t block) const {
    return std::min<std::int64_t>(lanes<A>, units - block * lanes<A>);
  }
};

/// The values of the forward pass, with a row for each sample and step if they are kept for the gradient.
template <class A>
struct RecurrentState {
  A* gates;       // (rows, blocks, gates, lanes): projections of the inputs, replaced by activations if kept
  A* h;           // (state rows, padded units): the output before the step
  A* c;           // (state rows, padded units): the cell state before the step; null for cells without
  const A* bias;  // (blocks, gates and the projection that stays apart, lanes); null in the backward pass
  A* apart = nullptr;  // (rows, padded units): the projection that stays apart, if kept
  bool kept = true;    // whether each step has a state row; else even steps share one, and odd steps another

  std::int64_t state_row(const SequenceLayout& at, std::int64_t sample, std::int64_t step) const {
    return kept ? at.input_row(sample, step) : step % 2 * at.samples + sample;
  }
};

/// The results of the forward pass, which are not padded. `outputs` may be null if no step is masked; `c` is
/// null for cells without a cell state.
template <class A>
struct RecurrentOutputs {
  A *outputs, *last, *h, *c;
};

/// The gradients of the projections, each (rows, blocks, gates, lanes): one array for cells without a projection
/// that stays apart.
template <class A>
struct RecurrentSlopes {
  A *of_inputs, *of_states;
};

namespace detail {

inline constexpr int rows_at_once = 4;

template <class F>
void with_rows(std::int64_t rows, const F& f) {
  switch (rows) {
    case 1:
      return f(std::integral_constant<int, 1>());
    case 2:
      return f(std::integral_constant<int, 2>());
    case 3:
      return f(std::integral_constant<int, 3>());
    default:
      return f(std::integral_constant<int, rows_at_once>());
  }
}

/// Computes one block of units of R samples in one step.
template <class Cell, int R, class A>
void recurrent_step(const SequenceLayout& at, const UnitBlocks<A>& blocks, const RecurrentState<A>& state,
                    const A* panels, const RecurrentOutputs<A>& out, std::int64_t sample, std::int64_t step,
                    std::int64_t block) {
  constexpr int G = Cell::gates, w = lanes<A>;
  const std::int64_t width = blocks.count * G * w, j = block * w, m = blocks.valid(block);
  const A* const bias = state.bias + block * (G + Cell::apart) * w;
  Vec<A> z[R][G];
  const A* before[R];
  for (int r = 0; r < R; ++r) {
    const A* const row = state.gates + at.input_row(sample + r, step) * width + block * G * w;
    before[r] = state.h + state.state_row(at, sample + r, step) * blocks.padded;
    for (int g = 0; g < G - Cell::apart; ++g) z[r][g] = load(row + g * w) + load(bias + g * w);
    if constexpr (Cell::apart) z[r][G - 1] = load(bias + G * w);
  }
  multiply_add(z, before, 1, blocks.units, panels + block * blocks.units * G * w, G * w);
  for (int r = 0; r < R; ++r) {
    const std::int64_t row = at.input_row(sample + r, step), to = at.row(sample + r, step) * blocks.units + j,
                       state_row = state.state_row(at, sample + r, step) * blocks.padded + j;
    A* const gates = state.gates + row * width + block * G * w;
    const Vec<A> old = load(before[r] + j), old_c = state.c ? load(state.c + state_row) : Vec<A>{};
    Vec<A> q{};
    if constexpr (Cell::apart)
      q = std::exchange(z[r][G - 1], load(gates + (G - 1) * w) + load(bias + (G - 1) * w));
    Vec<A> c = old_c, h = Cell::template forward<A>(z[r], q, old, c), y = h;
    for (int g = 0; state.kept && g < G; ++g) store(gates + g * w, z[r][g]);
    if (Cell::apart && state.kept) store(state.apart + row * blocks.padded + j, q);
    if (at.masked(row)) {
      h = old, c = old_c;
      y = step == 0 || at.zero_masked
              ? Vec<A>{}
              : load_partial(out.outputs + at.row(sample + r, step - 1) * blocks.units + j, m);
    }
    if (out.outputs) store_partial(out.outputs + to, y, m);
    if (step + 1 < at.steps) {
      const std::int64_t next = state.state_row(at, sample + r, step + 1) * blocks.padded + j;
      store(state.h + next, h);
      if (state.c) store(state.c + next, c);
    } else {
      const std::int64_t final = (sample + r) * blocks.units + j;
      store_partial(out.last + final, y, m), store_partial(out.h + final, h, m);
      if (state.c) store_partial(out.c + final, c, m);
    }
  }
}

/// Gradients of a sample on their way to the previous step: of the state, of the cell state, and of the
/// output that masked steps repeat.
template <class A>
struct Waiting {
  A *h, *c, *y;
};

/// Computes the gradients of the projections of one step of one sample. `waiting.h` gets the part of the
/// gradient of the previous state that does not pass through the projections.
template <class Cell, class A>
void recurrent_step_backward(const SequenceLayout& at, const UnitBlocks<A>& blocks,
                             const RecurrentState<A>& state, const A* of_outputs,
                             const RecurrentSlopes<A>& slopes, const Waiting<A>& waiting, std::int64_t sample,
                             std::int64_t step) {
  constexpr int G = Cell::gates, w = lanes<A>;
  const std::int64_t row = at.input_row(sample, step), width = blocks.count * G * w;
  const bool masked = at.masked(row);
  for (std::int64_t block = 0; block < blocks.count; ++block) {
    const std::int64_t j = block * w, gate = row * width + block * G * w;
    Vec<A> dy = load(waiting.y + j), z[G] = {}, q{};
    if (of_outputs)
      dy += load_partial(of_outputs + at.row(sample, step) * blocks.units + j, blocks.valid(block));
    store(waiting.y + j, masked && !at.zero_masked ? dy : Vec<A>{});
    if (!masked) {
      for (int g = 0; g < G; ++g) z[g] = load(state.gates + gate + g * w);
      if (Cell::apart) q = load(state.apart + row * blocks.padded + j);
      Vec<A> dc = state.c ? load(waiting.c + j) : Vec<A>{};
      const Vec<A> c = state.c ? load(state.c + row * blocks.padded + j) : Vec<A>{},
                   h = load(state.h + row * blocks.padded + j), dh = load(waiting.h + j) + dy;
      // Activations may be NaN: gradients of 0 stay 0.
      const auto some = (dh != A(0)) | (dc != A(0));
      const auto chained = [some](Vec<A> slope) { return some ? slope : Vec<A>{}; };
      store(waiting.h + j, chained(Cell::template backward<A>(z, q, h, c, dh, dc)));
      for (int g = 0; g < G; ++g) z[g] = chained(z[g]);
      q = chained(q);
      if (state.c) store(waiting.c + j, chained(dc));
    }
    for (int g = 0; g < G; ++g) store(slopes.of_inputs + gate + g * w, z[g]);
    if constexpr (Cell::apart) {
      z[G - 1] = q;
      for (int g = 0; g < G; ++g) store(slopes.of_states + gate + g * w, z[g]);
    }
  }
}

/// Adds to R rows of dh the products of the projections' gradients with V vectors of the transposed recurrent
/// kernel.
template <int R, int V, class A>
void add_product(A* dh, std::int64_t stride, const A* const (&slopes)[R], std::int64_t inner,
                 const A* panel) {
  Vec<A> sum[R][V];
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v) sum[r][v] = load(dh + r * stride + v * lanes<A>);
  multiply_add(sum, slopes, 1, inner, panel, V * lanes<A>);
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v) store(dh + r * stride + v * lanes<A>, sum[r][v]);
}

}  // namespace detail

/// Returns the number of vectors of columns in a panel of the transposed recurrent kernel that begins at this
/// block: 4, or 1 near the end.
inline int transposed_panel(std::int64_t block, std::int64_t blocks) { return blocks - block >= 4 ? 4 : 1; }

/// Returns the number of threads that share the units of each step: with fewer samples than threads, if a
/// step takes much longer than the wait for the other threads after the step.
template <class Cell>
int threads_for_units(const SequenceLayout& at, std::int64_t blocks) {
  constexpr std::int64_t grain = std::int64_t{3} << 13;
  const std::int64_t products = at.samples * at.units * at.units * Cell::gates;
  const auto threads = static_cast<int>(std::min<std::int64_t>(team_size(products, grain), blocks));
  return at.samples < threads ? threads : 1;
}

/// Runs all steps. `panels` is the recurrent kernel as (blocks, units, gates, lanes).
template <class Cell, class A>
void run_recurrent(const SequenceLayout& at, const RecurrentState<A>& state, const A* panels,
                   const RecurrentOutputs<A>& out) {
  const UnitBlocks<A> blocks{at.units};
  const auto run_step = [&](std::int64_t step, std::int64_t begin, std::int64_t end, std::int64_t first_block,
                            std::int64_t end_block) {
    for (std::int64_t block = first_block; block < end_block; ++block)
      for (std::int64_t sample = begin; sample < end; sample += detail::rows_at_once)
        detail::with_rows(end - sample, [&](auto rows) {
          detail::recurrent_step<Cell, rows()>(at, blocks, state, panels, out, sample, step, block);
        });
  };
  if (const int threads = threads_for_units<Cell>(at, blocks.count); threads > 1) {
#pragma omp parallel num_threads(threads)
    {
      const std::int64_t count = omp_get_num_threads(), me = omp_get_thread_num();
      for (std::int64_t step = 0; step < at.steps; ++step) {
        run_step(step, 0, at.samples, blocks.count * me / count, blocks.count * (me + 1) / count);
#pragma omp barrier
      }
    }
    return;
  }
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t step = 0; step < at.steps; ++step) run_step(step, begin, end, 0, blocks.count);
  };
  parallel_rows(at.samples, at.steps * at.units * (at.units * Cell::gates / 8 + 8), run);
}

/// Computes, from the last step to the first, the gradients `slopes` of the projections. `dh` and `dc`, (samples,
/// padded units), hold the gradients of the final states at the call and of the initial states afterwards. The
/// gradients of outputs and of the last output may be null. `panels` is the transposed recurrent kernel: for each
/// panel (blocks, gates, lanes, units of the panel).
template <class Cell, class A>
void run_recurrent_backward(const SequenceLayout& at, const RecurrentState<A>& state, const A* panels,
                            const A* of_outputs, const A* of_last, const RecurrentSlopes<A>& slopes, A* dh,
                            A* dc) {
  const UnitBlocks<A> blocks{at.units};
  const std::int64_t inner = blocks.padded * Cell::gates, padded = blocks.padded;
  const auto add_products = [&](std::int64_t begin, std::int64_t end, std::int64_t step) {
    int width;
    for (std::int64_t block = 0; block < blocks.count; block += width) {
      width = transposed_panel(block, blocks.count);
      const A* const panel = panels + block * lanes<A> * inner;
      for (std::int64_t sample = begin; sample < end; sample += detail::rows_at_once)
        detail::with_rows(end - sample, [&](auto rows) {
          const A* from[rows()];
          for (int r = 0; r < rows(); ++r)
            from[r] = slopes.of_states + at.input_row(sample + r, step) * inner;
          A* const to = dh + sample * padded + block * lanes<A>;
          width == 4 ? detail::add_product<rows(), 4>(to, padded, from, inner, panel)
                     : detail::add_product<rows(), 1>(to, padded, from, inner, panel);
        });
    }
  };
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    WorkVector<A> repeated(static_cast<std::size_t>((end - begin) * padded + lanes<A>));
    for (std::int64_t sample = begin; of_last && sample < end; ++sample)
      std::copy_n(of_last + sample * at.units, at.units, repeated.data() + (sample - begin) * padded);
    for (std::int64_t step = at.steps - 1; step >= 0; --step) {
      for (std::int64_t sample = begin; sample < end; ++sample)
        detail::recurrent_step_backward<Cell, A>(at, blocks, state, of_outputs, slopes,
                                                 {dh + sample * padded, dc ? dc + sample * padded : nullptr,
                                                  repeated.data() + (sample - begin) * padded},
                                                 sample, step);
      add_products(begin, end, step);
    }
  };
  parallel_rows(at.samples, at.steps * at.units * (at.units * Cell::gates / 8 + 8), run);
}

}  // namespace ktape::kernels
