// Every differentiable name of the backend API inside of functions: built once on placeholders of which the
// rank is known, run on several shapes; with variables that are read when it runs.
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include "../close.hpp"
#include "catalogue.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::TensorArgument, ktape::Variable;

namespace {

using List = std::vector<Tensor>;

constexpr Tolerance rounding{.rtol = 1e-9, .atol = 1e-9};

/// Returns the value, then the gradient with respect to each input; undefined where there is none.
List value_and_gradients(const CatalogueRow& row, const List& in) {
  ktape::GradientTape tape;
  for (const Tensor& x : in) tape.watch(x);
  const Tensor y = row.f(in);
  List out{y};
  for (const Tensor& gradient : tape.gradient(K::sum(K::square(y)), in)) out.push_back(gradient);
  return out;
}

/// Returns the inputs with each axis that `chosen` accepts `factor` times as long.
template <class F>
List stretched(const List& in, std::int64_t factor, F chosen) {
  List out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    Shape times = in[i].shape();
    for (int d = 0; d < times.rank(); ++d) times[d] = chosen(i, d, times[d]) ? factor : 1;
    out.push_back(times.empty() ? in[i] : K::tile(in[i], times).detach());
  }
  return out;
}

/// Inputs of three shapes with which the row can be called: the row's own shapes, and shapes in which equal
/// extents, or the extents of an axis, or all extents, are multiplied by one factor.
std::vector<List> inputs_of_three_shapes(const CatalogueRow& row) {
  std::set<std::int64_t> extents;
  for (const Tensor& x : row.inputs) extents.insert(x.shape().begin(), x.shape().end());
  std::vector<List> candidates;
  for (const std::int64_t factor : {2, 3}) {
    candidates.push_back(stretched(row.inputs, factor, [](auto...) { return true; }));
    for (const std::int64_t extent : extents)
      candidates.push_back(stretched(row.inputs, factor, [=](auto, int, auto n) { return n == extent; }));
    for (int axis = 0; axis < 5; ++axis)
      for (const std::size_t inputs : {row.inputs.size(), std::size_t{1}})
        candidates.push_back(stretched(row.inputs, factor,
                                       [=](std::size_t i, int d, auto) { return i < inputs && d == axis; }));
  }
  std::vector<List> out{row.inputs};
  for (const List& in : candidates) {
    const auto alike = [&](const List& other) {
      return std::equal(in.begin(), in.end(), other.begin(),
                        [](const Tensor& a, const Tensor& b) { return a.shape() == b.shape(); });
    };
    if (out.size() == 3 || std::any_of(out.begin(), out.end(), alike)) continue;
    try {
      row.f(in);
      out.push_back(in);
    } catch (const ktape::Error&) {
    }
  }
  return out;
}

List placeholders_of_rank(const List& in) {
  List out;
  for (const Tensor& x : in) out.push_back(K::placeholder({.ndim = x.ndim(), .dtype = x.dtype()}));
  return out;
}

/// Returns whether the row is of a sparse tensor, whose coordinates and values are separate inputs.
bool sparse(const CatalogueRow& row) {
  return row.name == "to_dense" || row.name == "concatenate_mixed" ||
         (row.name == "dot" && row.inputs[0].ndim() == 1);
}

/// Returns other numbers of x's shape and dtype.
Tensor moved(const Tensor& x) { return (x * 0.75 + 0.03125).detach(); }

}  // namespace

TEST_CASE("one function on placeholders of known rank gives eager values and gradients, shape after shape") {
  // The number or the size of the results must be known.
  const std::set<std::string> refused = {"unstack"};
  // Labels, targets or masks of one shape are part of these calls.
  const std::set<std::string> own_shape = {"broadcast_to",
                                           "sparse_categorical_crossentropy",
                                           "binary_crossentropy",
                                           "rnn",
                                           "ctc_batch_cost",
                                           "scatter_nd",
                                           "ops::broadcast_to",
                                           "ops::scatter",
                                           "ops::bincount",
                                           "ops::full",
                                           "ops::eig"};
  for (const CatalogueRow& row : Catalogue::differentiable()) {
    if (sparse(row)) continue;
    CAPTURE(row.name);
    const List x = placeholders_of_rank(row.inputs);
    if (refused.count(row.name)) {
      CHECK_THROWS_AS(row.f(x), ktape::ValueError);
      continue;
    }
    const Tensor y = row.f(x);
    List outputs{y};
    std::vector<bool> exists;
    for (const Tensor& gradient : K::gradients(K::sum(K::square(y)), x)) {
      exists.push_back(gradient.defined());
      if (gradient.defined()) outputs.push_back(gradient);
    }
    const auto f = K::function(x, outputs);
    const std::vector<List> inputs = inputs_of_three_shapes(row);
    CHECK((inputs.size() == 3 || own_shape.count(row.name)));
    for (const List& in : inputs) {
      const List got = f(in), wanted = value_and_gradients(row, in);
      CHECK(ktape::compatible(K::int_shape(y), wanted[0].shape()));
      CHECK(close(got[0], wanted[0], rounding));
      std::size_t next = 1;
      for (std::size_t i = 0; i < in.size(); ++i) {
        CHECK(exists[i] == wanted[i + 1].defined());
        if (exists[i] && wanted[i + 1].defined()) CHECK(close(got[next], wanted[i + 1], rounding));
        next += exists[i];
      }
    }
  }
}

TEST_CASE("a variable in the place of any operand is read when the function runs") {
  for (const CatalogueRow& row : Catalogue::differentiable())
    for (std::size_t place = 0; place < row.inputs.size() && row.inputs.size() > 1; ++place) {
      // The rows themselves compute with the values, before an op is deferred or inside an op.
      const bool used_before = (row.name == "batch_normalization" || row.name == "rnn") && place == 2;
      if (sparse(row) || used_before) continue;
      CAPTURE(row.name);
      CAPTURE(place);
      const Variable w = row.inputs[place];
      List x = row.inputs, others, values, now = row.inputs;
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (i == place) x[i] = TensorArgument(w);
        else {
          x[i] = K::placeholder({.shape = x[i].shape(), .dtype = x[i].dtype()});
          others.push_back(x[i]), values.push_back(row.inputs[i]);
        }
      }
      const auto f = K::function(others, {row.f(x)});
      now[place] = moved(row.inputs[place]);
      K::set_value(w, now[place]);
      CHECK(close(f(values)[0], row.f(now), rounding));
    }
}

TEST_CASE("inside symbolic every operand may be a variable, and is read when the function runs") {
  for (const CatalogueRow& row : Catalogue::differentiable()) {
    if (sparse(row)) continue;
    CAPTURE(row.name);
    const std::vector<Variable> variables(row.inputs.begin(), row.inputs.end());
    List x;
    const Tensor y = K::symbolic([&] {
      x.assign(variables.begin(), variables.end());
      return row.f(x);
    })();
    const auto f = K::function(List(), {y});
    List now;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      now.push_back(moved(row.inputs[i]));
      K::set_value(variables[i], now[i]);
    }
    CHECK(close(f(List())[0], row.f(now), rounding));
  }
}

TEST_CASE(
    "a model of every name gives eager values and gradients in another model, of known and unknown shapes") {
  for (const CatalogueRow& row : Catalogue::differentiable()) {
    if (sparse(row) || row.name == "unstack") continue;
    CAPTURE(row.name);
    const auto known = [](const List& in) {
      List out;
      for (const Tensor& x : in) out.push_back(K::placeholder({.shape = x.shape(), .dtype = x.dtype()}));
      return out;
    };
    const List wanted = value_and_gradients(row, row.inputs);
    for (const bool exact : {false, true}) {
      const List x = placeholders_of_rank(row.inputs),
                 z = exact ? known(row.inputs) : placeholders_of_rank(row.inputs);
      const ktape::nn::Model inner(x, {row.f(x)}, {.dtype = "float64"});
      std::optional<ktape::nn::Model> outer;
      CHECK_NOTHROW(outer = ktape::nn::Model(z, inner.apply(z), {.dtype = "float64"}));
      if (!outer) continue;
      const CatalogueRow nested{row.name, [&](In in) { return outer->apply(in)[0]; }};
      const List got = value_and_gradients(nested, row.inputs);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        CHECK(got[i].defined() == wanted[i].defined());
        if (got[i].defined() && wanted[i].defined()) CHECK(close(got[i], wanted[i], rounding));
      }
    }
  }
}

TEST_CASE("equal calls of pure ops run once in a compiled function") {
  const Tensor x = K::placeholder({3, 4});
  const auto steps = [&](const List& outputs) {
    return ktape::Graph("f", {x}, outputs, {}, true).plan().steps().size();
  };
  for (Tensor (*f)(const Tensor&) :
       {K::tanh, ops::silu, ops::floor, ops::softsign, ops::log2, ops::erfc, ops::sparse_plus, K::sigmoid})
    CHECK(steps({f(x), f(x)}) == 1);
  CHECK(steps({ops::elu(x, 0.5), ops::elu(x, 0.5), ops::elu(x, 2)}) == 2);
  CHECK(steps({K::sum(x, 1), K::sum(x, 1), K::sum(x, 0)}) == 2);
  CHECK(steps({K::reshape(x, {4, 3}), K::reshape(x, {4, 3}), K::reshape(x, {2, 6})}) == 2);
  const auto padded = [&](std::int64_t before) { return K::pad(x, {{before, 0}, {0, 1}}); };
  CHECK(steps({padded(1), padded(1), padded(2)}) == 2);
  const auto part = [&](int row) { return x[{row, ktape::Slice(1, None)}]; };
  CHECK(steps({part(0), part(0), part(1)}) == 2);
  const auto pooled = [&](int size) { return K::pool2d(K::reshape(x, {1, 3, 4, 1}), {size, 1}); };
  CHECK(steps({pooled(2), pooled(2), pooled(3)}) == 3);
  CHECK(steps({K::dropout(x, 0.5), K::dropout(x, 0.5)}) == 2);  // different random numbers
  CHECK(steps({K::print_tensor(x, "x"), K::print_tensor(x, "x")}) == 2);
}
