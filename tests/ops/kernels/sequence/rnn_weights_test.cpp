#include <doctest/doctest.h>
#include <ktape/ops/kernels/sequence/rnn_weights.hpp>

#include <xtensor/xview.hpp>

#include "../references.hpp"

namespace {

/// Returns the columns of a parameter (rows, gates * units) as (rows, blocks, gates, lanes), with zeros after the
/// last unit.
template <class A>
reference::Array spread(const reference::Array& x, const k::GateColumns<A>& of) {
  const auto size = [](i64 n) { return static_cast<std::size_t>(n); };
  const std::size_t units = size(of.units), gates = size(of.gates), padded = size(of.blocks.padded);
  reference::Array out = xt::zeros<double>({x.shape(0), gates, padded});
  for (std::size_t gate = 0; gate < gates; ++gate)
    xt::view(out, xt::all(), gate, xt::range(0, units)) =
        xt::view(x, xt::all(), xt::range(gate * units, (gate + 1) * units));
  const reference::Extents shape{x.shape(0), gates, size(of.blocks.count), size(k::lanes<A>)};
  out.reshape(shape);
  return reference::permute(out, {0, 2, 1, 3});
}

template <class A, class F>
void for_columns(const F& f) {
  for (const i64 gates : {1, 3, 4})
    for (const i64 units : {1, 7, 8, 19, 64, 70}) {
      INFO("gates ", gates, ", units ", units);
      f(k::GateColumns<A>{units, gates});
    }
}

}  // namespace

TEST_CASE_TEMPLATE("kernels: columns of gates are spread to blocks and gathered", A, float, double) {
  for_columns<A>([](const k::GateColumns<A>& of) {
    for (const i64 rows : {1, 5}) {
      const ::Array<A> x = numbers<A>(rows * of.columns), wide(rows * of.width);
      const reference::Array wanted = spread(as_reference(x, {rows, of.columns}), of);
      of.spread(x.data(), rows, wide.data());
      CHECK(close(as_list(wide), wanted, exactly));
      ::Array<A> back(x.size());
      of.gather(wide.data(), rows, back.data());
      for (i64 i = 0; i < x.size(); ++i) CHECK(back[i] == x[i]);
    }
  });
}

TEST_CASE_TEMPLATE("kernels: two rows of biases are added, but for the last gate's, which are neighbours", A,
                   float, double) {
  for_columns<A>([](const k::GateColumns<A>& of) {
    const ::Array<A> x = numbers<A>(2 * of.columns);
    for (const bool apart : {false, true}) {
      const i64 all = of.gates + apart;
      ::Array<A> biases(of.blocks.padded * all), wanted(of.blocks.padded * all);
      std::fill_n(wanted.data(), wanted.size(), A(0));
      for (i64 gate = 0; gate < of.gates; ++gate)
        for (i64 unit = 0; unit < of.units; ++unit) {
          const auto at = [&](i64 g) {
            return (unit / k::lanes<A> * all + g) * k::lanes<A> + unit % k::lanes<A>;
          };
          wanted[at(gate)] += x[gate * of.units + unit];
          if (apart) wanted[at(gate + (gate + 1 == of.gates))] += x[of.columns + gate * of.units + unit];
        }
      of.biases(x.data(), apart, biases.data());
      CHECK(close(as_list(biases), as_list(wanted), exactly));
    }
  });
}

TEST_CASE_TEMPLATE("kernels: panels hold the recurrent kernel block by block", A, float, double) {
  for_columns<A>([](const k::GateColumns<A>& of) {
    const ::Array<A> x = numbers<A>(of.units * of.columns), panels = numbers<A>(of.units * of.width);
    of.panels(x.data(), panels.data());
    const reference::Array all = spread(as_reference(x, {of.units, of.columns}), of);
    CHECK(close(as_list(panels), reference::permute(all, {1, 0, 2, 3}), exactly));
  });
}

TEST_CASE_TEMPLATE("kernels: transposed panels hold the units of four vectors, the last ones of one", A,
                   float, double) {
  for_columns<A>([](const k::GateColumns<A>& of) {
    const ::Array<A> x = numbers<A>(of.units * of.columns), panels = numbers<A>(of.blocks.padded * of.width);
    of.transposed_panels(x.data(), panels.data());
    const reference::Array all =
        reference::pad(spread(as_reference(x, {of.units, of.columns}), of),
                       {{0, std::size_t(of.blocks.padded - of.units)}, {0, 0}, {0, 0}, {0, 0}}, 0);
    std::vector<double> wanted;
    for (i64 first = 0; first < of.blocks.padded;) {
      const i64 vectors = of.blocks.padded - first >= 4 * k::lanes<A> ? 4 : 1,
                last = first + vectors * k::lanes<A>;
      const reference::Array panel = reference::permute(xt::view(all, xt::range(first, last)), {1, 2, 3, 0});
      wanted.insert(wanted.end(), panel.begin(), panel.end());
      first = last;
    }
    CHECK(close(as_list(panels), wanted, exactly));
  });
}
