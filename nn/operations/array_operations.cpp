#include <ktape/nn/operations/operation_tables.hpp>
#include <ktape/ops/keras/numpy/creation.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/keras/numpy/reductions.hpp>
#include <ktape/ops/keras/numpy/sets.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/keras/numpy/statistics.hpp>

/// Functions of ktape::ops on whole arrays that K lacks.
namespace ktape::nn {
namespace {

using OptionalAxis = std::optional<int>;

OptionalAxis optional_axis(const OperationCall& call) {
  return call.value("axis").as<OptionalAxis>(call.what("axis"));
}

int whole(const OperationCall& call, const char* name) { return call.axis(name); }

template <Tensor (*f)(const TensorList&)>
Tensor joined(const OperationCall& call) {
  return f(call.tensors("xs"));
}

template <Tensor (*f)(const Tensor&, const Axes&, bool)>
Tensor over_axes(const OperationCall& call) {
  return f(call.tensor("x"), call.axes("axis"), call.flag("keepdims"));
}

template <Tensor (*f)(const Tensor&, OptionalAxis, bool)>
Tensor position(const OperationCall& call) {
  return f(call.tensor("x"), optional_axis(call), call.flag("keepdims"));
}

template <Tensor (*f)(const Tensor&, OptionalAxis, std::optional<DType>)>
Tensor running(const OperationCall& call) {
  return f(call.tensor("x"), optional_axis(call), call.dtype());
}

template <Tensor (*f)(const Tensor&, const ArrayLike&, const Axes&, const ops::QuantileOptions&)>
Tensor quantile(const OperationCall& call) {
  return f(call.tensor("x"), call.tensor("q"), call.axes("axis"),
           {.method = call.text("method"), .keepdims = call.flag("keepdims")});
}

template <Tensor (*f)(const Tensor&, int)>
Tensor with_diagonal(const OperationCall& call) {
  return f(call.tensor("x"), whole(call, "k"));
}

template <Tensor (*f)(const Tensor&, int, int, int)>
Tensor of_diagonal(const OperationCall& call) {
  return f(call.tensor("x"), whole(call, "offset"), whole(call, "axis1"), whole(call, "axis2"));
}

ops::Cuts cuts(const OperationCall& call) {
  const Value given = call.value("indices_or_sections");
  if (given.is_list()) return given.as<std::vector<std::int64_t>>(call.what("indices_or_sections"));
  return given.integer(call.what("indices_or_sections"));
}

template <std::vector<Tensor> (*f)(const Tensor&, const ops::Cuts&)>
std::vector<Tensor> parts(const OperationCall& call) {
  return f(call.tensor("x"), cuts(call));
}

ops::LinspaceOptions samples(const OperationCall& call) {
  return {.endpoint = call.flag("endpoint"), .dtype = call.dtype(), .axis = call.axis()};
}

std::vector<Tensor> linspace(const OperationCall& call) {
  const Tensor start = call.tensor("start"), stop = call.tensor("stop");
  if (!call.flag("retstep")) return {ops::linspace(start, stop, call.integer("num"), samples(call))};
  const auto [points, step] = ops::linspace_with_step(start, stop, call.integer("num"), samples(call));
  return {points, step};
}

Tensor logspace(const OperationCall& call) {
  ops::LinspaceOptions options = samples(call);
  options.base = call.number("base");
  return ops::logspace(call.tensor("start"), call.tensor("stop"), call.integer("num"), options);
}

backend::RangeBound bound(const OperationCall& call, const char* name) {
  if (call.is_number(name)) return call.scalar(name);
  return call.tensor(name);
}

Tensor arange(const OperationCall& call) {
  const backend::ArangeOptions options{.dtype = call.dtype()};
  const backend::RangeBound step = call.has("step") ? bound(call, "step") : 1;
  if (!call.has("stop")) return backend::arange(0, bound(call, "start"), step, options);
  return backend::arange(bound(call, "start"), bound(call, "stop"), step, options);
}

Tensor vander(const OperationCall& call) {
  return ops::vander(call.tensor("x"), optional_integer(call, "N"), call.flag("increasing"));
}

std::vector<Tensor> histogram(const OperationCall& call) {
  std::optional<std::pair<double, double>> range;
  if (call.has("range")) {
    const auto bounds = call.value("range").as<std::array<double, 2>>("[Histogram] range");
    range = std::pair(bounds[0], bounds[1]);
  }
  const auto [counts, edges] = ops::histogram(call.tensor("x"), call.integer("bins"), range);
  return {counts, edges};
}

std::vector<Tensor> unique(const OperationCall& call) {
  ops::UniqueOptions options{.sorted = call.flag("sorted"),
                             .return_index = call.flag("return_index"),
                             .return_inverse = call.flag("return_inverse"),
                             .return_counts = call.flag("return_counts"),
                             .axis = optional_axis(call),
                             .size = optional_integer(call, "size")};
  if (call.has("fill_value")) options.fill_value = call.scalar("fill_value");
  return ops::unique(call.tensor("x"), options);
}

Tensor bincount(const OperationCall& call) {
  if (call.flag("sparse")) fail("[Bincount] sparse must be false: received sparse=true");
  return ops::bincount(call.tensor("x"), call.optional("weights"), call.integer("minlength"));
}

void add_shapes(std::vector<Operation>& all) {
  const std::vector<Operation> operations{
      {"Fliplr", "numpy", "x;", unary<ops::fliplr>, "-"},
      {"Flipud", "numpy", "x;", unary<ops::flipud>, "-"},
      {"Dstack", "numpy", "xs;", joined<ops::dstack>, "-"},
      {"ColumnStack", "numpy", "xs;", joined<ops::column_stack>, "-"},
      {"Append", "numpy", "x1, x2; axis=null",
       [](const OperationCall& call) {
         return ops::append(call.tensor("x1"), call.tensor("x2"), optional_axis(call));
       }},
      {"Roll", "numpy", "x; shift, axis=null",
       [](const OperationCall& call) {
         return ops::roll(call.tensor("x"),
                          call.value("shift").as<backend::PerAxis<std::int64_t>>("[Roll] shift"),
                          call.axes("axis"));
       }},
      {"Rot90", "numpy", "array; k=1, axes=[0, 1]",
       [](const OperationCall& call) {
         return ops::rot90(call.tensor("array"), whole(call, "k"), call.axes("axes"));
       }},
      {"ArraySplit", "numpy", "x; indices_or_sections, axis=0",
       [](const OperationCall& call) { return ops::array_split(call.tensor("x"), cuts(call), call.axis()); }},
      {"Hsplit", "numpy", "x; indices_or_sections", parts<ops::hsplit>},
      {"Vsplit", "numpy", "x; indices_or_sections", parts<ops::vsplit>},
      {"Dsplit", "numpy", "x; indices_or_sections", parts<ops::dsplit>},
      {"Diag", "numpy", "x; k=0", with_diagonal<ops::diag>},
      {"Diagflat", "numpy", "x; k=0", with_diagonal<ops::diagflat>},
      {"Tril", "numpy", "x; k=0", with_diagonal<ops::tril>, "", "x, k, -"},
      {"Triu", "numpy", "x; k=0", with_diagonal<ops::triu>, "", "x, k, -"},
      {"Diagonal", "numpy", "x; offset=0, axis1=0, axis2=1", of_diagonal<ops::diagonal>},
      {"Trace", "numpy", "x; offset=0, axis1=0, axis2=1", of_diagonal<ops::trace>},
      {"View", "numpy", "x; dtype=null",
       [](const OperationCall& call) { return ops::view(call.tensor("x"), call.dtype()); }},
      {"EmptyLike", "numpy", "x; dtype=null",
       [](const OperationCall& call) { return ops::empty_like(call.tensor("x"), call.dtype()); }},
      {"FullLike", "numpy", "x, fill_value; dtype=null",
       [](const OperationCall& call) {
         if (call.is_number("fill_value"))
           return ops::full_like(call.tensor("x"), call.number("fill_value"), call.dtype());
         return ops::full_like(call.tensor("x"), call.tensor("fill_value"), call.dtype());
       }},
      {"Array", "numpy", "x; dtype=null",
       [](const OperationCall& call) { return ops::array(call.tensor("x"), call.dtype()); }},
      {"Linspace", "numpy", "start, stop; num=50, endpoint=true, retstep=false, dtype=null, axis=0",
       linspace},
      {"Logspace", "numpy", "start, stop; num=50, endpoint=true, base=10, dtype=null, axis=0", logspace},
      {"Geomspace", "numpy", "start, stop; num=50, endpoint=true, dtype=null, axis=0",
       [](const OperationCall& call) {
         return ops::geomspace(call.tensor("start"), call.tensor("stop"), call.integer("num"), samples(call));
       }},
      {"Meshgrid", "numpy", "x*; indexing=\"xy\"",
       [](const OperationCall& call) { return ops::meshgrid(call.tensors("x"), call.text("indexing")); }},
      {"Arange", "numpy", "start, stop=null, step=null; dtype=null", arange, "", "start | start, stop, step"},
      {"Vander", "numpy", "x; N=null, increasing=false", vander},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

void add_reductions(std::vector<Operation>& all) {
  const char* const reduced = "x; axis=null, keepdims=false";
  const std::vector<Operation> operations{
      {"Ptp", "numpy", reduced, over_axes<ops::ptp>},
      {"Nansum", "numpy", reduced, over_axes<ops::nansum>},
      {"Nanprod", "numpy", reduced, over_axes<ops::nanprod>},
      {"Nanmean", "numpy", reduced, over_axes<ops::nanmean>},
      {"Nanvar", "numpy", reduced, over_axes<ops::nanvar>},
      {"Nanstd", "numpy", reduced, over_axes<ops::nanstd>},
      {"Nanmax", "numpy", reduced, over_axes<ops::nanmax>},
      {"Nanmin", "numpy", reduced, over_axes<ops::nanmin>},
      {"Median", "numpy", reduced, over_axes<ops::median>, "", "x, -, axis, -, keepdims"},
      {"Nanmedian", "numpy", reduced, over_axes<ops::nanmedian>, "", "x, -, axis, -, keepdims"},
      {"Nanargmax", "numpy", reduced, position<ops::nanargmax>},
      {"Nanargmin", "numpy", reduced, position<ops::nanargmin>},
      {"Nancumsum", "numpy", "x; axis=null, dtype=null", running<ops::nancumsum>},
      {"Nancumprod", "numpy", "x; axis=null, dtype=null", running<ops::nancumprod>},
      {"CountNonzero", "numpy", "x; axis=null",
       [](const OperationCall& call) { return ops::count_nonzero(call.tensor("x"), call.axes("axis")); }},
      {"Quantile", "numpy", "x, q; axis=null, method=\"linear\", keepdims=false", quantile<ops::quantile>},
      {"Percentile", "numpy", "x, q; axis=null, method=\"linear\", keepdims=false",
       quantile<ops::percentile>},
      {"Nanquantile", "numpy", "x, q; axis=null, method=\"linear\", keepdims=false",
       quantile<ops::nanquantile>},
      {"Nanpercentile", "numpy", "x, q; axis=null, method=\"linear\", keepdims=false",
       quantile<ops::nanpercentile>},
      {"Average", "numpy", "x, weights=null; axis=null",
       [](const OperationCall& call) {
         return ops::average(call.tensor("x"), call.axes("axis"), call.optional("weights"));
       }},
      {"Corrcoef", "numpy", "x;", unary<ops::corrcoef>},
      {"Correlate", "numpy", "x1, x2; mode=\"valid\"",
       [](const OperationCall& call) {
         return ops::correlate(call.tensor("x1"), call.tensor("x2"), call.text("mode"));
       }},
      {"Diff", "numpy", "a; n=1, axis=-1",
       [](const OperationCall& call) { return ops::diff(call.tensor("a"), whole(call, "n"), call.axis()); }},
      {"Trapezoid", "numpy", "y; x=null, dx=1.0, axis=-1",
       [](const OperationCall& call) {
         return ops::trapezoid(call.tensor("y"), call.optional("x"), call.number("dx"), call.axis());
       }},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

void add_indices(std::vector<Operation>& all) {
  const std::vector<Operation> operations{
      {"TakeAlongAxis", "numpy", "x, indices; axis=null",
       [](const OperationCall& call) {
         return ops::take_along_axis(call.tensor("x"), call.tensor("indices"), optional_axis(call));
       }},
      {"SliceUpdate", "core", "inputs, start_indices!, updates;",
       [](const OperationCall& call) {
         return ops::slice_update(call.tensor("inputs"), call.shape("start_indices"), call.tensor("updates"));
       },
       "slice_update"},
      {"ScatterUpdate", "core", "inputs, indices, updates; reduction=null",
       [](const OperationCall& call) {
         return ops::scatter_update(
             call.tensor("inputs"), call.tensor("indices"), call.tensor("updates"),
             call.value("reduction").as<std::optional<std::string>>("[ScatterUpdate]"));
       }},
      {"MultiHot", "nn", "inputs; num_classes=null, axis=-1, dtype=null, sparse=false",
       [](const OperationCall& call) {
         return ops::multi_hot(call.tensor("inputs"), call.integer("num_classes"), call.axis(),
                               {.dtype = call.dtype()});
       }},
      {"Nonzero", "numpy", "x;", [](const OperationCall& call) { return ops::nonzero(call.tensor("x")); }},
      {"UnravelIndex", "numpy", "indices; shape",
       [](const OperationCall& call) {
         return ops::unravel_index(call.tensor("indices"), call.shape("shape"));
       }},
      {"SearchSorted", "numpy", "sorted_sequence, values; side=\"left\"",
       [](const OperationCall& call) {
         return ops::searchsorted(call.tensor("sorted_sequence"), call.tensor("values"), call.text("side"));
       },
       "searchsorted"},
      {"Digitize", "numpy", "x, bins;",
       [](const OperationCall& call) { return ops::digitize(call.tensor("x"), call.tensor("bins")); }},
      {"Bincount", "numpy", "x; weights=null, minlength=0, sparse=false", bincount, "",
       "x, weights, minlength"},
      {"Histogram", "numpy", "x; bins=10, range=null", histogram},
      {"Unique", "numpy",
       "x; sorted=true, return_index=false, return_inverse=false, return_counts=false, axis=null, size=null, "
       "fill_value=null",
       unique},
      {"IsIn", "numpy", "x1, x2; assume_unique=false, invert=false",
       [](const OperationCall& call) {
         return ops::isin(call.tensor("x1"), call.tensor("x2"), {.invert = call.flag("invert")});
       },
       "isin"},
      {"Argpartition", "numpy", "x; kth, axis=-1",
       [](const OperationCall& call) {
         return ops::argpartition(call.tensor("x"), call.integer("kth"), optional_axis(call));
       }},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

}  // namespace

void add_array_operations(std::vector<Operation>& all) {
  add_shapes(all);
  add_reductions(all);
  add_indices(all);
}

}  // namespace ktape::nn
