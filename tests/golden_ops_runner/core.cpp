#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/keras/core/core.hpp>
#include <ktape/ops/keras/random/random.hpp>
#include <ktape/ops/operators.hpp>

#include "arguments.hpp"
#include "families.hpp"

namespace golden_ops {
namespace {

namespace K = ktape::backend;
namespace ops = ktape::ops;
namespace random = ktape::random;

Results associative_scan(const Call& c) {
  const auto fn = c.get<std::string>("fn");
  ops::AssociativeScanOptions o;
  c.set("axis", o.axis), c.set("reverse", o.reverse);
  if (fn == "affine")
    return ops::associative_scan(
        [](const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
          return std::vector{b[0] * a[0], b[0] * a[1] + b[1]};
        },
        c.list("elems"), o);
  const auto f = [fn](const Tensor& a, const Tensor& b) {
    return fn == "add" ? a + b : fn == "multiply" ? a * b : K::maximum(a, b);
  };
  return {ops::associative_scan(f, c["elems"], o)};
}

Results scan(const Call& c) {
  const auto fn = c.get<std::string>("fn");
  ops::ScanOptions o;
  c.set("length", o.length), c.set("reverse", o.reverse);
  const auto [last, ys] = ops::scan(
      [fn](const Tensor& carry, const Tensor& x) {
        if (fn == "cumsum") return std::pair{carry + x, carry + x};
        if (fn == "rnn") return std::pair{K::tanh(0.5 * carry + x), carry * x};
        return std::pair{0.5 * carry + 1, carry * 1};
      },
      c["init"], c.optional("xs"), o);
  return {last, ys};
}

random::Seed seed(const Call& c) {
  const auto given = get_or(c, "seed", std::optional<std::int64_t>());
  return given ? random::Seed(*given) : random::Seed();
}
random::OptionalDType dtype(const Call& c) { return get_or(c, "dtype", random::OptionalDType()); }
Shape shape(const Call& c) { return c.get<Shape>("shape"); }
double number(const Call& c, const char* name, double otherwise) { return get_or(c, name, otherwise); }

}  // namespace

void add_core(Table& table) {
  table["cast"] = [](const Call& c) -> Results { return {ops::cast(c["x"], c.get<DType>("dtype"))}; };
  table["stop_gradient"] = [](const Call& c) -> Results { return {ops::stop_gradient(c["variable"])}; };
  table["associative_scan"] = associative_scan, table["scan"] = scan;
}

void add_random(Table& table) {
  table["normal"] = [](const Call& c) -> Results {
    return {random::normal(shape(c), number(c, "mean", 0), number(c, "stddev", 1), dtype(c), seed(c))};
  };
  table["truncated_normal"] = [](const Call& c) -> Results {
    return {
        random::truncated_normal(shape(c), number(c, "mean", 0), number(c, "stddev", 1), dtype(c), seed(c))};
  };
  table["uniform"] = [](const Call& c) -> Results {
    return {random::uniform(shape(c), number(c, "minval", 0), number(c, "maxval", 1), dtype(c), seed(c))};
  };
  table["randint"] = [](const Call& c) -> Results {
    return {random::randint(shape(c), c.get<int>("minval"), c.get<int>("maxval"),
                            get_or(c, "dtype", DType("int32")), seed(c))};
  };
  table["categorical"] = [](const Call& c) -> Results {
    return {random::categorical(c["logits"], c.get<int>("num_samples"), dtype(c), seed(c))};
  };
  table["shuffle"] = [](const Call& c) -> Results {
    return {random::shuffle(c["x"], get_or(c, "axis", 0), seed(c))};
  };
  table["dropout"] = [](const Call& c) -> Results {
    return {random::dropout(c["inputs"], c.get<double>("rate"), get_or(c, "noise_shape", Shape()), seed(c))};
  };
  table["gamma"] = [](const Call& c) -> Results {
    return {random::gamma(shape(c), number_or_tensor(c, "alpha"), dtype(c), seed(c))};
  };
  table["beta"] = [](const Call& c) -> Results {
    return {
        random::beta(shape(c), number_or_tensor(c, "alpha"), number_or_tensor(c, "beta"), dtype(c), seed(c))};
  };
  table["binomial"] = [](const Call& c) -> Results {
    return {random::binomial(shape(c), number_or_tensor(c, "counts"), number_or_tensor(c, "probabilities"),
                             dtype(c), seed(c))};
  };
}

}  // namespace golden_ops
