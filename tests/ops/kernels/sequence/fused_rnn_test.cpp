#include <doctest/doctest.h>
#include <ktape/ops/kernels/sequence/fused_rnn.hpp>
#include <ktape/ops/kernels/sequence/rnn_weights.hpp>

#include <xtensor/xmath.hpp>
#include <xtensor/xview.hpp>

#include "../references.hpp"

namespace {

using List = std::vector<reference::Array>;
using Function = std::function<reference::Array(const reference::Array&)>;

reference::Array sigmoid(const reference::Array& x) { return 1. / (1. + xt::exp(-x)); }
reference::Array hard_sigmoid(const reference::Array& x) { return xt::clip(0.2 * x + 0.5, 0., 1.); }
reference::Array relu(const reference::Array& x) { return xt::maximum(x, 0.); }
reference::Array tanh_of(const reference::Array& x) { return xt::tanh(x); }

/// The formula of a kernel's cell, for all samples and units at once.
struct Formula {
  std::size_t gates, states;
  bool apart;  ///< whether the state's projection of the last gate is no part of z, but its last element
  std::function<List(const List& z, const List& states)> step;
};

Formula lstm(const Function& gate) {
  return {4, 2, false, [=](const List& z, const List& s) {
            const reference::Array c = gate(z[1]) * s[1] + gate(z[0]) * tanh_of(z[2]);
            return List{gate(z[3]) * tanh_of(c), c};
          }};
}
Formula gru(const Function& gate) {
  return {3, 1, true, [=](const List& z, const List& s) {
            const reference::Array update = gate(z[0]), candidate = tanh_of(z[2] + gate(z[1]) * z[3]);
            return List{update * s[0] + (1. - update) * candidate};
          }};
}
Formula simple(const Function& activation) {
  return {1, 1, false, [=](const List& z, const List&) { return List{activation(z[0])}; }};
}

/// The sizes and options of a run, and its arguments: the projections of the inputs (samples, steps, gates, units),
/// the initial states, the recurrent kernel, the biases of the gates and of the projection that stays apart, and the
/// mask. Steps are in the order of time.
struct Run {
  std::size_t samples, steps, units;
  bool time_major, go_backwards, zero_masked, masked;
  reference::Array projected, kernel, bias, mask;
  List states;

  reference::Recurrence wanted(const Formula& f) const {
    const auto cell = [&](const reference::Array& now, const List& s) {
      const reference::Array products = reference::matmul(s[0], kernel);
      List z;
      for (std::size_t gate = 0; gate < f.gates; ++gate) {
        const reference::Array of_states =
            xt::view(products, xt::all(), xt::range(gate * units, (gate + 1) * units));
        z.push_back(xt::view(now, xt::all(), gate) + xt::view(bias, gate));
        if (f.apart && gate + 1 == f.gates) z.push_back(of_states + xt::view(bias, f.gates));
        else z[gate] += of_states;
      }
      return f.step(z, s);
    };
    return reference::recurrence(projected, states, mask, zero_masked, cell);
  }
  /// Returns the row of the inputs, or of the outputs, that holds a step.
  i64 row(std::size_t sample, std::size_t step, bool of_inputs) const {
    const std::size_t t = of_inputs && go_backwards ? steps - 1 - step : step;
    return static_cast<i64>(time_major ? t * samples + sample : sample * steps + t);
  }
};

reference::Array random_array(const reference::Extents& shape, std::mt19937& random) {
  reference::Array x(shape);
  std::uniform_real_distribution<double> between(-1.5, 1.5);
  for (double& v : x) v = static_cast<float>(between(random));
  return x;
}

Run random_run(const Formula& f, int number, std::mt19937& random) {
  const auto one_of = [&](std::initializer_list<std::size_t> all) {
    return all.begin()[random() % all.size()];
  };
  Run run;
  run.samples = one_of({1, 2, 3, 4, 6, 9}), run.steps = one_of({1, 2, 5});
  run.units = one_of({1, 5, 16, 19, 70});
  run.time_major = number & 1, run.go_backwards = number & 2, run.zero_masked = number & 4;
  run.masked = number % 3 != 0;
  run.projected = random_array({run.samples, run.steps, f.gates, run.units}, random);
  run.kernel = random_array({run.units, f.gates * run.units}, random);
  run.bias = random_array({f.gates + f.apart, run.units}, random);
  run.kernel /= std::sqrt(static_cast<double>(run.units));
  run.kernel = xt::cast<double>(xt::cast<float>(run.kernel));
  for (std::size_t s = 0; s < f.states; ++s)
    run.states.push_back(random_array({run.samples, run.units}, random));
  run.mask = xt::ones<double>({run.samples, run.steps});
  for (double& m : run.mask) m = run.masked && random() % 3 == 0 ? 0 : 1;
  return run;
}

/// The kernels' results, in the shapes and the order of the reference's.
struct Result {
  reference::Array outputs, last;
  List states;
};
struct Gradients {
  reference::Array projected;
  List states;
};

/// A run by the kernels, forward and then back.
template <class Cell, class A>
class Fused {
 public:
  Fused(const Formula& f, const Run& run)
      : f_(f),
        run_(run),
        mask_(rows()),
        gates_(rows() * width()),
        h_(numbers<A>(rows() * blocks_.padded)),
        c_(numbers<A>(rows() * blocks_.padded)),
        apart_(rows() * blocks_.padded),
        bias_(blocks_.padded * i64(f.gates + f.apart)) {
    std::fill_n(bias_.data(), bias_.size(), A(0));
    for (std::size_t b = 0; b < run.bias.shape(0); ++b)
      for (i64 j = 0; j < i64(run.units); ++j)
        bias_[(j / k::lanes<A> * i64(run.bias.shape(0)) + i64(b)) * k::lanes<A> + j % k::lanes<A>] =
            A(run.bias(b, j));
    for_steps([&](std::size_t sample, std::size_t step) {
      const i64 row = run.row(sample, step, true);
      mask_[row] = run.mask(sample, step) != 0;
      for_lanes([&](std::size_t p, std::size_t unit, i64 lane) {
        gates_[row * width() + lane] = A(run.projected(sample, step, p, unit));
      });
      for (i64 j = 0; step == 0 && j < blocks_.padded; ++j) {
        const bool unit = j < i64(run.units);
        h_[row * blocks_.padded + j] = unit ? A(run.states[0](sample, j)) : A(0);
        c_[row * blocks_.padded + j] = unit && f.states == 2 ? A(run.states[1](sample, j)) : A(0);
      }
    });
  }

  /// A run that is not kept for the gradient leaves the projections as they were.
  Result forward(bool kept = true) {
    const i64 n = i64(run_.samples * run_.units), padded_n = i64(run_.samples) * blocks_.padded;
    ::Array<A> h2(2 * padded_n), c2(2 * padded_n);
    for (std::size_t sample = 0; sample < run_.samples; ++sample) {
      const i64 from = run_.row(sample, 0, true) * blocks_.padded, to = i64(sample) * blocks_.padded;
      std::copy_n(h_.data() + from, blocks_.padded, h2.data() + to);
      std::copy_n(c_.data() + from, blocks_.padded, c2.data() + to);
    }
    const k::RecurrentState<A> brief{gates_.data(), h2.data(), f_.states == 2 ? c2.data() : nullptr,
                                     bias_.data(),  nullptr,   false};
    ::Array<A> outputs(rows() * blocks_.units), last(n), h(n), c(n), panels(blocks_.units * width());
    columns_.panels(as_elements(run_.kernel).data(), panels.data());
    k::run_recurrent<Cell, A>(layout(), kept ? state() : brief, panels.data(),
                              {outputs.data(), last.data(), h.data(), f_.states == 2 ? c.data() : nullptr});
    const std::vector<i64> shape{i64(run_.samples), i64(run_.units)};
    Result out{xt::zeros<double>({run_.samples, run_.steps, run_.units}),
               as_reference(last, shape),
               {as_reference(h, shape)}};
    if (f_.states == 2) out.states.push_back(as_reference(c, shape));
    for_steps([&](std::size_t sample, std::size_t step) {
      for (std::size_t j = 0; j < run_.units; ++j)
        out.outputs(sample, step, j) = outputs[run_.row(sample, step, false) * blocks_.units + i64(j)];
    });
    return out;
  }

  /// Returns the gradients of sum(outputs * of.outputs) + sum(last * of.last) + a like sum for the final
  /// states.
  Gradients backward(const Result& of) {
    ::Array<A> of_outputs(rows() * blocks_.units), of_last = as_elements(of.last), slopes(rows() * width()),
                                                   of_states(rows() * width());
    ::Array<A> panels(blocks_.padded * width()), dh = padded(of.states[0]), dc = padded(of.states.back());
    for_steps([&](std::size_t sample, std::size_t step) {
      for (std::size_t j = 0; j < run_.units; ++j)
        of_outputs[run_.row(sample, step, false) * blocks_.units + i64(j)] = A(of.outputs(sample, step, j));
    });
    columns_.transposed_panels(as_elements(run_.kernel).data(), panels.data());
    k::run_recurrent_backward<Cell, A>(layout(), state(), panels.data(), of_outputs.data(), of_last.data(),
                                       {slopes.data(), f_.apart ? of_states.data() : slopes.data()},
                                       dh.data(), f_.states == 2 ? dc.data() : nullptr);
    Gradients out{xt::zeros_like(run_.projected), {unpadded(dh)}};
    if (f_.states == 2) out.states.push_back(unpadded(dc));
    for_steps([&](std::size_t sample, std::size_t step) {
      for_lanes([&](std::size_t p, std::size_t unit, i64 lane) {
        out.projected(sample, step, p, unit) = slopes[run_.row(sample, step, true) * width() + lane];
      });
    });
    return out;
  }

 private:
  i64 rows() const { return i64(run_.samples * run_.steps); }
  i64 width() const { return blocks_.padded * Cell::gates; }
  k::SequenceLayout layout() const {
    return {i64(run_.samples),
            i64(run_.steps),
            i64(run_.units),
            run_.time_major,
            run_.go_backwards,
            run_.zero_masked,
            run_.masked ? mask_.data() : nullptr};
  }
  k::RecurrentState<A> state() const {
    return {gates_.data(), h_.data(), f_.states == 2 ? c_.data() : nullptr, bias_.data(), apart_.data()};
  }
  template <class F>
  void for_steps(const F& f) const {
    for (std::size_t sample = 0; sample < run_.samples; ++sample)
      for (std::size_t step = 0; step < run_.steps; ++step) f(sample, step);
  }
  template <class F>
  void for_lanes(const F& f) const {
    for (std::size_t p = 0; p < f_.gates; ++p)
      for (std::size_t unit = 0; unit < run_.units; ++unit) {
        const i64 block = i64(unit) / k::lanes<A>, lane = i64(unit) % k::lanes<A>;
        f(p, unit, (block * Cell::gates + i64(p)) * k::lanes<A> + lane);
      }
  }
  static ::Array<A> as_elements(const reference::Array& x) {
    ::Array<A> out(i64(x.size()));
    std::copy(x.begin(), x.end(), out.data());
    return out;
  }
  ::Array<A> padded(const reference::Array& x) const {
    std::vector<std::pair<std::size_t, std::size_t>> pads(x.dimension(), {0, 0});
    pads.back().second = std::size_t(blocks_.padded) - run_.units;
    return as_elements(reference::pad(x, pads, 0));
  }
  reference::Array unpadded(const ::Array<A>& x) const {
    return xt::view(as_reference(x, {i64(run_.samples), blocks_.padded}), xt::all(),
                    xt::range(0, run_.units));
  }

  const Formula& f_;
  const Run& run_;
  k::UnitBlocks<A> blocks_{i64(run_.units)};
  k::GateColumns<A> columns_{i64(run_.units), i64(f_.gates)};
  ::Array<bool> mask_;
  ::Array<A> gates_, h_, c_, apart_, bias_;
};

double loss(const Formula& f, const Run& run, const Result& of) {
  const reference::Recurrence y = run.wanted(f);
  double sum =
      xt::sum(y.outputs * of.outputs)() + xt::sum(xt::view(y.outputs, xt::all(), run.steps - 1) * of.last)();
  for (std::size_t s = 0; s < f.states; ++s) sum += xt::sum(y.states[s] * of.states[s])();
  return sum;
}

/// Returns the slope of the loss by x[i], a value of the run, from central differences.
double difference(const Formula& f, const Run& run, const Result& of, double& x) {
  constexpr double step = 1e-5;
  const double before = x;
  x = before + step;
  const double above = loss(f, run, of);
  x = before - step;
  const double below = loss(f, run, of);
  x = before;
  return (above - below) / (2 * step);
}

template <class Cell, class A>
void check_cell(const char* name, const Formula& f) {
  std::mt19937 random(11);
  for (int number = 0; number < 24; ++number) {
    Run run = random_run(f, number, random);
    INFO(name, ", run ", number, ": ", run.samples, " samples, ", run.steps, " steps, ", run.units, " units");
    Fused<Cell, A> fused(f, run);
    const Result brief = fused.forward(false), got = fused.forward();
    CHECK(brief.outputs == got.outputs);
    CHECK(brief.last == got.last);
    CHECK(brief.states == got.states);
    const reference::Recurrence wanted = run.wanted(f);
    const Tolerance allowed = rounding<A>(10);
    CHECK(close(got.outputs, wanted.outputs, allowed));
    CHECK(close(got.last, reference::Array(xt::view(wanted.outputs, xt::all(), run.steps - 1)), allowed));
    for (std::size_t s = 0; s < f.states; ++s) CHECK(close(got.states[s], wanted.states[s], allowed));

    Result of{random_array({run.samples, run.steps, run.units}, random),
              random_array({run.samples, run.units}, random),
              {}};
    for (std::size_t s = 0; s < f.states; ++s)
      of.states.push_back(random_array({run.samples, run.units}, random));
    const Gradients slopes = fused.backward(of);
    const auto check_some = [&](reference::Array& x, const reference::Array& slope) {
      for (int n = 0; n < 12; ++n) {
        const std::size_t i = random() % x.size();
        INFO("element ", i);
        CHECK(close(slope.flat(i), difference(f, run, of, x.flat(i)),
                    {.atol = std::is_same_v<A, float> ? 1e-4 : 1e-8}));
      }
    };
    check_some(run.projected, slopes.projected);
    for (std::size_t s = 0; s < f.states; ++s) check_some(run.states[s], slopes.states[s]);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("kernels: fused recurrences agree with their steps, and their gradients with differences",
                   A, float, double) {
  check_cell<k::LstmCell<k::Sigmoid>, A>("lstm", lstm(sigmoid));
  check_cell<k::LstmCell<k::HardSigmoid>, A>("lstm, hard_sigmoid", lstm(hard_sigmoid));
  check_cell<k::GruCell<k::Sigmoid>, A>("gru", gru(sigmoid));
  check_cell<k::GruCell<k::HardSigmoid>, A>("gru, hard_sigmoid", gru(hard_sigmoid));
  check_cell<k::SimpleCell<k::Tanh>, A>("simple_rnn", simple(tanh_of));
  check_cell<k::SimpleCell<k::Relu>, A>("simple_rnn, relu", simple(relu));
}
