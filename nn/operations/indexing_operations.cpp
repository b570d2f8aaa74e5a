#include <ktape/autograd/indexing.hpp>
#include <ktape/nn/operations/operation_tables.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/nn/class_numbers.hpp>
#include <ktape/ops/parts.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn {
namespace K = backend;

namespace {

Index index_of(const Value& entry) {
  if (entry.is_null()) return NewAxis;
  if (entry == Value("...")) return Ellipsis;
  if (!entry.is_config()) return entry.integer("[GetItem] key");
  const auto bound = [&](const char* name) {
    const Value value = entry.config().get(name);
    return value.is_null() ? Slice::Bound(None) : Slice::Bound(value.integer("[GetItem] key"));
  };
  return Slice(bound("start"), bound("stop"), bound("step"));
}

Tensor get_item(const OperationCall& call) {
  const Value key = call.value("key");
  std::vector<Index> entries;
  for (const Value& entry : key.is_list() ? key.list() : Value::List{key}) entries.push_back(index_of(entry));
  return K::index(call.tensor("x"), entries);
}

/// Returns the elements of x at the indices along an axis, or of the flat x.
Tensor take(const OperationCall& call) {
  Tensor x = call.tensor("x");
  const Tensor indices =
      call.is_number("indices") ? K::cast(call.tensor("indices"), "int64") : call.tensor("indices");
  if (!call.has("axis")) return K::gather(K::flatten(x), indices);
  const int axis = call.axis() < 0 ? call.axis() + x.ndim() : call.axis();
  if (axis == 0) return K::gather(x, indices);
  if (axis < 0 || axis >= x.ndim())
    fail("[Take] axis must be in [", -x.ndim(), ", ", x.ndim(), "): received axis=", call.axis());
  std::vector<std::int64_t> front{axis}, back;
  for (int d = 0; d < x.ndim(); ++d)
    if (d != axis) front.push_back(d);
  const Tensor taken = K::gather(K::permute_dimensions(x, front), indices);
  for (int d = 0; d < axis; ++d) back.push_back(indices.ndim() + d);
  for (int d = 0; d < indices.ndim(); ++d) back.push_back(d);
  for (int d = indices.ndim() + axis; d < taken.ndim(); ++d) back.push_back(d);
  return K::permute_dimensions(taken, back);
}

Tensor one_hot(const OperationCall& call) {
  if (call.flag("sparse")) fail("[OneHot] sparse must be false: received sparse=true");
  const Tensor given = call.tensor("x");
  const Tensor x = given.dtype().is_floating() ? K::class_numbers("OneHot", "index", given) : given;
  Tensor hot = K::one_hot(x, call.integer("num_classes"));
  if (call.has("dtype")) hot = K::cast(hot, *call.dtype());
  const int axis = call.axis() < 0 ? call.axis() + hot.ndim() : call.axis();
  if (axis < 0 || axis >= hot.ndim())
    fail("[OneHot] axis must be in [", -hot.ndim(), ", ", hot.ndim(), "): received axis=", call.axis());
  if (axis == hot.ndim() - 1) return hot;
  std::vector<std::int64_t> pattern;
  for (int d = 0; d + 1 < hot.ndim(); ++d) pattern.push_back(d);
  pattern.insert(pattern.begin() + axis, hot.ndim() - 1);
  return K::permute_dimensions(hot, pattern);
}

std::vector<Tensor> top_k(const OperationCall& call) {
  const auto [values, indices] = K::top_k(call.tensor("x"), call.integer("k"));
  return {values, indices};
}

const char* written_sort(const std::vector<OperationArgument>&, Config& attributes) {
  if (attributes.get("direction") != Value("ASCENDING")) return nullptr;
  attributes.erase("direction");
  return "Sort";
}
const char* written_argsort(const std::vector<OperationArgument>&, Config& attributes) {
  if (attributes.get("direction") != Value("ASCENDING")) return nullptr;
  attributes.erase("direction");
  return "Argsort";
}

template <Tensor (*f)(const Tensor&, int, const K::SortOptions&)>
Tensor sorted(const OperationCall& call) {
  const Tensor x = call.tensor("x");
  return call.has("axis") ? f(x, call.axis(), {}) : f(K::flatten(x), 0, {});
}

}  // namespace

void add_indexing_operations(std::vector<Operation>& all) {
  const std::vector<Operation> operations{
      {"GetItem", "numpy", "x, key!;", get_item, "index"},
      {"Take", "numpy", "x, indices; axis=null", take, "gather take",
       "x, indices, axis=0 | x, indices, axis"},
      {"OneHot", "nn", "x; num_classes, axis=-1, dtype=null, sparse=false", one_hot, "", "x, num_classes"},
      {"Scatter", "core", "indices, values; shape",
       [](const OperationCall& call) {
         return K::scatter_nd(call.tensor("indices"), call.tensor("values"), call.shape("shape"));
       },
       "scatter_nd scatter"},
      {"boolean_mask", "", "tensor, mask;",
       [](const OperationCall& call) { return K::boolean_mask(call.tensor("tensor"), call.tensor("mask")); }},
      {"gather_nd", "", "params, indices;",
       [](const OperationCall& call) { return K::gather_nd(call.tensor("params"), call.tensor("indices")); }},
      {"TopK", "math", "x; k, sorted=true, is_stable=true", top_k, "", "x, k"},
      {"InTopK", "math", "targets, predictions; k",
       [](const OperationCall& call) {
         return ops::in_top_k(call.tensor("targets"), call.tensor("predictions"), call.integer("k"));
       },
       "", "predictions, targets, k"},
      {"Sort", "numpy", "x; axis=-1", sorted<K::sort>, "-"},
      {"Argsort", "numpy", "x; axis=-1", sorted<K::argsort>, "-"},
      {"sort", "", "values; axis, direction",
       [](const OperationCall& call) {
         return K::sort(call.tensor("values"), call.axis(), {.direction = call.text("direction")});
       },
       "", "", written_sort},
      {"argsort", "", "values; axis, direction",
       [](const OperationCall& call) {
         return K::argsort(call.tensor("values"), call.axis(), {.direction = call.text("direction")});
       },
       "", "", written_argsort},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

}  // namespace ktape::nn
