#include <ktape/ops/kernels/network/nodes/node_kernels.hpp>
#include <ktape/ops/kernels/sequence/rnn_weights.hpp>

#include <algorithm>
#include <utility>

namespace ktape::kernels {

namespace {

using Description = RecurrentDescription;
using CellKind = Description::Cell;

std::int64_t gates_of(CellKind cell) { return cell == CellKind::Lstm ? 4 : cell == CellKind::Gru ? 3 : 1; }

class RecurrentKernel final : public NodeKernel {
 public:
  explicit RecurrentKernel(const Description& description)
      : d_(description), columns_{d_.units, gates_of(d_.cell)}, padded_(columns_.blocks.padded) {}
  const char* name() const override {
    return d_.cell == CellKind::Lstm ? "lstm" : d_.cell == CellKind::Gru ? "gru" : "simple rnn";
  }
  std::int64_t products() const override { return d_.samples * d_.steps * d_.units * columns_.width; }
  std::size_t packed_size() const override {
    return static_cast<std::size_t>(d_.units * columns_.width + padded_ * (columns_.gates + apart()));
  }
  /// Packs the panels of the recurrent kernel, then the biases.
  void pack(const std::vector<const float*>& weights, float* packed) const override {
    columns_.panels(weights[0], packed);
    float* const biases = packed + d_.units * columns_.width;
    if (weights[1]) columns_.biases(weights[1], apart(), biases);
    else std::fill_n(biases, padded_ * (columns_.gates + apart()), 0.F);
  }
  std::size_t scratch_bytes() const override {
    constexpr std::int64_t rows_per_sample = 7;  // two of h, two of c, and the last output, h and c
    return static_cast<std::size_t>(rows_per_sample * d_.samples * padded_) * sizeof(float);
  }

  void run(const Arrays& at) const override {
    auto* next = static_cast<float*>(at.scratch);
    const auto take = [&](std::int64_t count) { return std::exchange(next, next + count * padded_); };
    const bool has_c = d_.cell == CellKind::Lstm;
    const RecurrentState<float> state{at.inputs[0],
                                      take(2 * d_.samples),
                                      has_c ? take(2 * d_.samples) : nullptr,
                                      at.packed + d_.units * columns_.width,
                                      nullptr,
                                      false};
    RecurrentOutputs<float> out{at.output, take(d_.samples), take(d_.samples),
                                has_c ? take(d_.samples) : nullptr};
    if (!d_.return_sequences) out.outputs = nullptr, out.last = at.output;
    const SequenceLayout layout{d_.samples, d_.steps, d_.units, false, d_.go_backwards, false, nullptr};
    std::fill_n(state.h, d_.samples * padded_, 0.F);
    if (has_c) std::fill_n(state.c, d_.samples * padded_, 0.F);
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

  bool apart() const { return d_.cell == CellKind::Gru; }

  const Description d_;
  const GateColumns<float> columns_;
  const std::int64_t padded_;  // units
};

}  // namespace

std::shared_ptr<const std::vector<int>> recurrent_columns(CellKind cell, std::int64_t units) {
  const GateColumns<float> columns{units, gates_of(cell)};
  const auto out = std::make_shared<std::vector<int>>(columns.width, -1);
  columns.for_stretches([&](std::int64_t column, std::int64_t place, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
      (*out)[static_cast<std::size_t>(place + i)] = static_cast<int>(column + i);
  });
  return out;
}

std::shared_ptr<const NodeKernel> recurrent_kernel(const Description& description) {
  return std::make_shared<RecurrentKernel>(description);
}

}  // namespace ktape::kernels
