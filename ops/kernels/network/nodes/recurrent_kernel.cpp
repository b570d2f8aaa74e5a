#include <ktape/ops/kernels/network/nodes/node_kernels.hpp>
#include <ktape/ops/kernels/sequence/rnn_weights.hpp>

#include <algorithm>
#include <utility>

namespace ktape::kernels {

namespace {

using Description = RecurrentDescription;
using CellKind = Description::Cell;

/// The gates whose columns the projections of a cell take.
struct Gates {
  GateOfProjection of_inputs, of_recurrent;
  std::int64_t count;
};
Gates gates_of(CellKind cell) {
  if (cell == CellKind::Lstm) return {{0, 1, 2, 3}, {0, 1, 2, 3}, 4};
  if (cell == CellKind::Gru) return {{0, 1, 2, -1}, {0, 1, -1, 2}, 3};
  return {{0}, {0}, 1};
}

class RecurrentKernel final : public NodeKernel {
 public:
  explicit RecurrentKernel(const Description& description)
      : d_(description), gates_(gates_of(d_.cell)), blocks_{d_.units} {}
  const char* name() const override {
    return d_.cell == CellKind::Lstm ? "lstm" : d_.cell == CellKind::Gru ? "gru" : "simple rnn";
  }
  std::int64_t products() const override { return d_.samples * d_.steps * d_.units * width(); }
  std::size_t packed_size() const override { return static_cast<std::size_t>(d_.units * width()); }
  void pack(const std::vector<const float*>& weights, float* packed) const override {
    ProjectionColumns<float>{gates_.of_recurrent, d_.units, gates_.count}.panels(weights[0], packed);
  }
  std::size_t scratch_bytes() const override {
    constexpr std::int64_t rows_per_sample = 7;  // two of h, two of c, and the last output, h and c
    return static_cast<std::size_t>(rows_per_sample * d_.samples * blocks_.padded) * sizeof(float);
  }

  void run(const Arrays& at) const override {
    auto* next = static_cast<float*>(at.scratch);
    const auto take = [&](std::int64_t count) { return std::exchange(next, next + count * blocks_.padded); };
    const bool has_c = d_.cell == CellKind::Lstm;
    const RecurrentState<float> state{at.inputs[0], take(2 * d_.samples),
                                      has_c ? take(2 * d_.samples) : nullptr, false};
    RecurrentOutputs<float> out{at.output, take(d_.samples), take(d_.samples),
                                has_c ? take(d_.samples) : nullptr};
    if (!d_.return_sequences) out.outputs = nullptr, out.last = at.output;
    const SequenceLayout layout{d_.samples, d_.steps, d_.units, false, d_.go_backwards, false, nullptr};
    std::fill_n(state.h, d_.samples * blocks_.padded, 0.F);
    if (has_c) std::fill_n(state.c, d_.samples * blocks_.padded, 0.F);
    with_cell([&]<class Cell>() { run_recurrent<Cell, float>(layout, state, at.packed, out); });
  }

 private:
  template <class F>
  void with_cell(const F& f) const {
    if (d_.cell == CellKind::Lstm) f.template operator()<LstmCell<Sigmoid>>();
    else if (d_.cell == CellKind::Gru) f.template operator()<GruCell<Sigmoid>>();
    else if (d_.relu) f.template operator()<SimpleCell<Relu>>();
    else f.template operator()<SimpleCell<Tanh>>();
  }
  std::int64_t width() const { return blocks_.padded * static_cast<std::int64_t>(gates_.of_inputs.size()); }

  const Description d_;
  const Gates gates_;
  const UnitBlocks<float> blocks_;
};

}  // namespace

std::shared_ptr<const ProductColumns> recurrent_columns(CellKind cell, std::int64_t units) {
  const Gates gates = gates_of(cell);
  const ProjectionColumns<float> of_inputs{gates.of_inputs, units, gates.count},
      of_recurrent{gates.of_recurrent, units, gates.count};
  const auto width = static_cast<std::size_t>(of_inputs.width);
  const auto out = std::make_shared<ProductColumns>();
  out->kernel.assign(width, -1), out->bias.assign(width, {-1, -1});
  of_inputs.for_stretches([&](std::int64_t column, std::int64_t projection, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(projection + i);
      out->kernel[at] = out->bias[at][0] = static_cast<int>(column + i);
    }
  });
  if (cell != CellKind::Gru) return out;
  of_recurrent.for_stretches([&](std::int64_t column, std::int64_t projection, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
      out->bias[static_cast<std::size_t>(projection + i)][1] =
          static_cast<int>(of_inputs.columns + column + i);
  });
  return out;
}

std::shared_ptr<const NodeKernel> recurrent_kernel(const Description& description) {
  return std::make_shared<RecurrentKernel>(description);
}

}  // namespace ktape::kernels
