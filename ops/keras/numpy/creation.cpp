#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/keras/numpy/creation.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/keras/rows.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/settings/config.hpp>

#include <algorithm>
#include <numbers>

namespace ktape::ops {

namespace K = backend;

Tensor zeros(const K::ShapeLike& shape, std::optional<DType> dtype) {
  return K::zeros(shape, {.dtype = dtype});
}
Tensor ones(const K::ShapeLike& shape, std::optional<DType> dtype) {
  return K::ones(shape, {.dtype = dtype});
}
Tensor empty(const K::ShapeLike& shape, std::optional<DType> dtype) {
  const CalledOp called("empty");
  return zeros(shape, dtype);
}
Tensor zeros_like(const Tensor& x, std::optional<DType> dtype) {
  const CalledOp called("zeros_like");
  return K::zeros_like(x, {.dtype = dtype});
}
Tensor ones_like(const Tensor& x, std::optional<DType> dtype) {
  const CalledOp called("ones_like");
  return K::ones_like(x, {.dtype = dtype});
}
Tensor empty_like(const Tensor& x, std::optional<DType> dtype) {
  const CalledOp called("empty_like");
  return zeros_like(x, dtype);
}

namespace {

/// Returns an array in the dtype.
Tensor value_of(const char* op, const ArrayLike& array, DType dtype) {
  return array.given().defined() ? K::as_dtype(array.given(), dtype) : array.tensor(dtype, dtype, op);
}

/// Returns a value, repeated to the shape of falsehoods.
Tensor filled(const char* op, const Tensor& falsehoods, const Tensor& value) {
  if (!broadcasts_to(value.shape(), falsehoods.shape()))
    fail("[", op, "] fill_value must broadcast to the shape ", falsehoods.shape(),
         ": received fill_value=", value.shape());
  return K::where(falsehoods, K::cast(K::full({}, 0, DType::UInt8), value.dtype()), value);
}

}  // namespace

Tensor full(const K::ShapeLike& shape, const ArrayLike& fill_value, std::optional<DType> dtype) {
  const CalledOp called("full");
  fill_value.expect_defined("full", "fill_value");
  if (const auto number = fill_value.number()) return K::full(shape, *number, dtype);
  const DType wanted = dtype.value_or(K::floatx());
  return filled("full", K::zeros(shape, {.dtype = DType::Bool}), value_of("full", fill_value, wanted));
}

Tensor full_like(const Tensor& x, const ArrayLike& fill_value, std::optional<DType> dtype) {
  const CalledOp called("full_like");
  expect_defined("full_like", "x", x);
  fill_value.expect_defined("full_like", "fill_value");
  const auto number = fill_value.number();
  const DType wanted = dtype.value_or(x.dtype()),
              wide = wanted == DType::Int64 ? wanted : DType(DType::Float64);
  return filled(
      "full_like", K::zeros_like(x, {.dtype = DType::Bool}),
      number ? K::cast(K::full({}, *number, wide), wanted) : value_of("full_like", fill_value, wanted));
}

Tensor array(const ArrayLike& x, std::optional<DType> dtype) {
  const CalledOp called("array");
  x.expect_defined("array", "x");
  if (!x.given().defined()) return x.tensor(dtype, K::floatx(), "array");
  return dtype ? K::cast(x.given(), *dtype) : K::identity(x.given());
}
Tensor convert_to_tensor(const ArrayLike& x, std::optional<DType> dtype) {
  const CalledOp called("convert_to_tensor");
  return array(x, dtype);
}

namespace {

/// Returns the matrix in which compare(column - row, k) chooses 1.
template <class F>
Tensor by_diagonals(const char* op, std::int64_t N, std::optional<std::int64_t> M, std::int64_t k,
                    std::optional<DType> dtype, F compare) {
  const Shape shape{N, M.value_or(N)};
  check_extents(op, shape, 8);
  const Tensor rows = K::reshape(K::arange(shape[0], {.dtype = DType::Int64}), {shape[0], 1});
  const Tensor columns = K::arange(shape[1], {.dtype = DType::Int64});
  return K::cast(compare(columns - rows, k), dtype.value_or(K::floatx()));
}

}  // namespace

Tensor eye(std::int64_t N, std::optional<std::int64_t> M, std::int64_t k, std::optional<DType> dtype) {
  const CalledOp called("eye");
  return by_diagonals("eye", N, M, k, dtype, [](const Tensor& d, std::int64_t k) { return d == k; });
}
Tensor tri(std::int64_t N, std::optional<std::int64_t> M, std::int64_t k, std::optional<DType> dtype) {
  const CalledOp called("tri");
  return by_diagonals("tri", N, M, k, dtype, [](const Tensor& d, std::int64_t k) { return d <= k; });
}
Tensor identity(std::int64_t n, std::optional<DType> dtype) {
  const CalledOp called("identity");
  return eye(n, {}, 0, dtype);
}

namespace {

/// The bounds of evenly spaced samples as floating tensors, the samples, and their distance.
struct Samples {
  Tensor values, step;
};

/// Returns the bounds as tensors of the dtype.
op_helpers::Operands bounds(const char* op, const ArrayLike& start, const ArrayLike& stop, DType dtype) {
  start.expect_defined(op, "start"), stop.expect_defined(op, "stop");
  const auto tensor = [&](const ArrayLike& given) {
    return given.given().defined() ? given.given() : given.tensor(dtype, dtype, op);
  };
  const op_helpers::Operands o = op_helpers::together(tensor(start), tensor(stop));
  return {K::as_dtype(o.x, dtype), K::as_dtype(o.y, dtype)};
}

DType dtype_of_samples(const ArrayLike& start, const ArrayLike& stop) {
  DType dtype = K::floatx();
  for (const ArrayLike* given : {&start, &stop})
    if (given->given().defined() && given->given().dtype().is_floating())
      dtype = op_helpers::common_dtype(given->given().dtype(), dtype);
  return dtype;
}

Samples samples(const char* op, const Tensor& start, const Tensor& stop, std::int64_t num,
                const LinspaceOptions& options) {
  if (num < 0) fail("[", op, "] num must be at least 0: received num=", num);
  const Shape shape = broadcast_shapes(op, start.shape(), stop.shape(), "start", "stop");
  const int axis = canonical_axis(op, options.axis, shape.rank() + 1);
  const std::int64_t steps = options.endpoint ? num - 1 : num;
  const DType dtype = start.dtype();
  const Tensor step = steps > 0 ? (stop - start) / static_cast<double>(steps)
                                : K::full({}, std::numeric_limits<double>::quiet_NaN(), dtype) + stop - start;
  if (num == 0) {
    Shape none = shape;
    none.insert(axis, 0);
    return {K::zeros(none, {.dtype = dtype}), step};
  }
  std::vector<std::int64_t> along(static_cast<std::size_t>(shape.rank()) + 1, 1);
  along[static_cast<std::size_t>(axis)] = num;
  const Tensor at = K::reshape(K::arange(num, {.dtype = dtype}), Shape(along));
  const auto spread = [&](const Tensor& x) {
    Tensor out = x;
    while (out.ndim() < shape.rank()) out = K::expand_dims(out, 0);
    return K::expand_dims(out, axis);
  };
  const Tensor first = spread(start), last = spread(stop);
  if (steps == 0) return {first + at * 0 * (last - first), step};
  const Tensor share = at * (1 / static_cast<double>(steps));
  const Tensor inner = first + share * (last - first);
  // The last sample is the bound itself, not a rounded sum.
  return {options.endpoint ? K::where(at == num - 1, last, inner) : inner, step};
}

Tensor in_dtype(const Tensor& x, std::optional<DType> dtype) { return dtype ? K::as_dtype(x, *dtype) : x; }

}  // namespace

std::pair<Tensor, Tensor> linspace_with_step(const ArrayLike& start, const ArrayLike& stop, std::int64_t num,
                                             const LinspaceOptions& options) {
  const CalledOp called("linspace_with_step");
  const DType dtype = dtype_of_samples(start, stop);
  const auto [first, last] = bounds("linspace", start, stop, dtype);
  const Samples found = samples("linspace", first, last, num, options);
  return {in_dtype(found.values, options.dtype), found.step};
}

Tensor linspace(const ArrayLike& start, const ArrayLike& stop, std::int64_t num,
                const LinspaceOptions& options) {
  const CalledOp called("linspace");
  return linspace_with_step(start, stop, num, options).first;
}

Tensor logspace(const ArrayLike& start, const ArrayLike& stop, std::int64_t num,
                const LinspaceOptions& options) {
  const CalledOp called("logspace");
  const DType dtype = dtype_of_samples(start, stop);
  const auto [first, last] = bounds("logspace", start, stop, dtype);
  const Samples exponents = samples("logspace", first, last, num, options);
  return in_dtype(K::pow(options.base, exponents.values), options.dtype);
}

Tensor geomspace(const ArrayLike& start, const ArrayLike& stop, std::int64_t num,
                 const LinspaceOptions& options) {
  const CalledOp called("geomspace");
  const DType dtype = dtype_of_samples(start, stop);
  const auto [first, last] = bounds("geomspace", start, stop, dtype);
  // Bounds below 0 have the logarithm of their size, and the samples the sign of the first bound.
  const Tensor negative = first < 0, sign = K::where(negative, K::full({}, -1, dtype), K::full({}, 1, dtype));
  const Samples logarithms = samples("geomspace", log(first * sign), log(last * sign), num, options);
  LinspaceOptions constant = options;
  constant.dtype = {};
  const Tensor signs = samples("geomspace", sign, sign + (last - last), num, constant).values;
  return in_dtype(exp(logarithms.values) * signs, options.dtype);
}

std::vector<Tensor> meshgrid(const TensorList& x, const std::string& indexing) {
  expect_defined("meshgrid", "x", x.vector());
  if (indexing != "xy" && indexing != "ij")
    fail("[meshgrid] indexing must be \"xy\" or \"ij\": received indexing=\"", indexing, '"');
  const int rank = static_cast<int>(x.size());
  expect_rank("meshgrid", rank);
  const auto axis_of = [&](int i) { return indexing == "xy" && i < 2 && rank > 1 ? 1 - i : i; };
  Tensor zero;
  std::vector<Tensor> along;
  const std::vector<Tensor> vectors = op_helpers::together(x.vector());
  for (int i = 0; i < rank; ++i) {
    const Tensor& vector = vectors[static_cast<std::size_t>(i)];
    if (vector.ndim() > 1) fail("[meshgrid] x must hold vectors: received x[", i, "]=", vector.shape());
    std::vector<std::int64_t> shape(x.size(), 1);
    shape[static_cast<std::size_t>(axis_of(i))] = -1;
    along.push_back(K::reshape(vector, Shape(shape)));
    const Tensor none = K::zeros_like(along.back(), {.dtype = DType::UInt8});
    zero = zero.defined() ? zero + none : none;
  }
  std::vector<Tensor> out;
  const Tensor everywhere = zero.defined() ? zero == 0 : zero;
  for (const Tensor& each : along) out.push_back(K::where(everywhere, each, K::zeros_like(each)));
  return out;
}

Tensor vander(const Tensor& x, std::optional<std::int64_t> N, bool increasing) {
  const CalledOp called("vander");
  expect_defined("vander", "x", x);
  if (x.ndim() != 1) fail("[vander] x must be a vector: received x=", x.shape());
  const std::int64_t columns = N.value_or(x.shape()[0]);
  if (columns < 0) fail("[vander] the number of columns must be known and at least 0: received N=", columns);
  check_extents("vander", {columns, std::max<std::int64_t>(x.shape()[0], 64)}, sizeof(double));
  std::vector<Tensor> powers;
  for (std::int64_t i = 0; i < columns; ++i) powers.push_back(i == 0 ? K::ones_like(x) : powers.back() * x);
  if (!increasing) std::reverse(powers.begin(), powers.end());
  return columns == 0 ? K::zeros({x.shape()[0], 0}, {.dtype = x.dtype()}) : K::stack(powers, 1);
}

namespace {

/// Returns f(t) for `points` positions t from -1 to 1.
template <class F>
Tensor window(const char* op, std::int64_t points, F f) {
  if (points < 0) fail("[", op, "] x must be at least 0: received x=", points);
  check_extents(op, {points}, sizeof(double));
  std::vector<double> values;
  for (std::int64_t i = 0; i < points; ++i)
    values.push_back(points == 1 ? 1 : f(2. * static_cast<double>(i) / static_cast<double>(points - 1) - 1));
  return K::constant(values);
}

double cosine(double t) { return std::cos(std::numbers::pi * t); }

}  // namespace

Tensor bartlett(std::int64_t x) {
  const CalledOp called("bartlett");
  return window("bartlett", x, [](double t) { return 1 - std::fabs(t); });
}
Tensor hanning(std::int64_t x) {
  const CalledOp called("hanning");
  return window("hanning", x, [](double t) { return 0.5 + 0.5 * cosine(t); });
}
Tensor hamming(std::int64_t x) {
  const CalledOp called("hamming");
  return window("hamming", x, [](double t) { return 0.54 + 0.46 * cosine(t); });
}
Tensor blackman(std::int64_t x) {
  const CalledOp called("blackman");
  return window("blackman", x, [](double t) { return 0.42 + 0.5 * cosine(t) + 0.08 * cosine(2 * t); });
}
Tensor kaiser(std::int64_t x, double beta) {
  const CalledOp called("kaiser");
  const Tensor root = window("kaiser", x, [](double t) { return std::sqrt(1 - t * t); });
  return i0(x == 1 ? root * beta : beta * root) / i0(K::full({}, beta, root.dtype()));
}

}  // namespace ktape::ops

namespace ktape::ops {
template <class F>
void fields(LinspaceOptions& options, F&& field) {
  field("endpoint", options.endpoint);
  field("base", options.base);
  field("dtype", options.dtype);
  field("axis", options.axis);
}
}  // namespace ktape::ops

namespace ktape::nn {
namespace {

Tensor full(const OperationCall& call) {
  const Tensor value = call.tensor("fill_value");
  const Tensor typed = call.has("dtype") ? backend::cast(value, *call.dtype()) : value;
  return ops::broadcast_to(typed, call.shape("shape"));
}

std::vector<Tensor> linspace(const OperationCall& call) {
  const Tensor start = call.tensor("start"), stop = call.tensor("stop");
  const ops::LinspaceOptions options{
      .endpoint = call.flag("endpoint"), .dtype = call.dtype(), .axis = call.axis()};
  if (!call.flag("retstep")) return {ops::linspace(start, stop, call.integer("num"), options)};
  const auto [points, step] = ops::linspace_with_step(start, stop, call.integer("num"), options);
  return {points, step};
}

}  // namespace

Operations numpy_creation_operations() {
  static constexpr Operation rows[] = {
      {"OnesLike", "numpy", "x; dtype=null", calls<ops::ones_like>},
      {"ZerosLike", "numpy", "x; dtype=null", calls<ops::zeros_like>},
      {"EmptyLike", "numpy", "x; dtype=null", calls<ops::empty_like>},
      {"FullLike", "numpy", "x, fill_value; dtype=null", calls<ops::full_like>},
      {"Full", "numpy", "fill_value; shape, dtype=null", full, "-"},
      {"Array", "numpy", "x; dtype=null", calls<ops::array>},
      {"ConvertToTensor", "core", "x; dtype=null, sparse=null, ragged=null", calls<ops::convert_to_tensor>},
      {"Linspace", "numpy", "start, stop; num=50, endpoint=true, retstep=false, dtype=null, axis=0",
       linspace},
      {"Logspace", "numpy", "start, stop; num=50, endpoint=true, base=10, dtype=null, axis=0",
       calls<ops::logspace>},
      {"Geomspace", "numpy", "start, stop; num=50, endpoint=true, dtype=null, axis=0", calls<ops::geomspace>},
      {"Meshgrid", "numpy", "x*; indexing=\"xy\"", calls<ops::meshgrid>},
      {"Vander", "numpy", "x; N=null, increasing=false", calls<ops::vander>},
  };
  return rows;
}

}  // namespace ktape::nn
