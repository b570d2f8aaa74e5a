#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/nn/layers/preprocessing/internal/categories.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <vector>

namespace ktape::nn {
namespace K = backend;

const char* name_of(OutputMode mode) {
  switch (mode) {
    case OutputMode::Int:
      return "int";
    case OutputMode::OneHot:
      return "one_hot";
    case OutputMode::MultiHot:
      return "multi_hot";
    case OutputMode::Count:
      return "count";
    default:
      return "tf_idf";
  }
}

OutputMode output_mode(const char* layer, const std::string& name, std::initializer_list<OutputMode> known) {
  std::vector<std::string> names;
  for (const OutputMode mode : known) {
    names.push_back(name_of(mode));
    const bool older =
        (mode == OutputMode::MultiHot && name == "binary") || (mode == OutputMode::TfIdf && name == "tf-idf");
    if (name == names.back() || older) return mode;
  }
  fail("[", layer, "] output_mode must be ", in_quotes(names, " or "), ": received output_mode=\"", name, '"',
       near_names(name, names));
}

Shape encoded_shape(const Shape& categories, OutputMode mode, std::int64_t depth) {
  Shape shape = categories;
  if (mode == OutputMode::Int) return shape;
  const bool adds = mode == OutputMode::OneHot && !(shape.rank() > 1 && shape.back() == 1);
  if (!adds && shape.rank() > 0) shape.erase(shape.rank() - 1);
  shape.push_back(depth);
  return shape;
}

Tensor encoded(const Tensor& categories, OutputMode mode, std::int64_t depth, DType dtype,
               const Tensor& weights) {
  if (mode == OutputMode::Int) return K::as_dtype(categories, dtype);
  const std::int64_t n = categories.size();
  const std::int64_t row =
      mode == OutputMode::OneHot || categories.ndim() == 0 ? 1 : categories.shape().back();
  // The indices of the entries whose category is in [0, depth), and their (row, category) in the result.
  std::vector<std::int64_t> entries, places;
  const auto* category = categories.data<std::int64_t>();
  for (std::int64_t i = 0; i < n; ++i)
    if (category[i] >= 0 && category[i] < depth) {
      entries.push_back(i);
      places.insert(places.end(), {i / row, category[i]});
    }
  const auto count = static_cast<std::int64_t>(entries.size());
  const Shape shape = encoded_shape(categories.shape(), mode, depth);
  const auto list = [](const std::vector<std::int64_t>& numbers, const Shape& as) {
    return Tensor::from_buffer(numbers.data(), numbers.size() * sizeof(std::int64_t), as, DType::Int64);
  };
  const Tensor each = weights.defined() ? K::gather(K::reshape(weights, {n}), list(entries, {count}))
                                        : K::ones({count}, {.dtype = dtype});
  const Tensor sums =
      K::scatter_nd(list(places, {count, 2}), each, {shape.count(0, shape.rank() - 1), depth});
  return K::reshape(mode == OutputMode::MultiHot ? K::minimum(sums, 1) : sums, shape);
}

}  // namespace ktape::nn
