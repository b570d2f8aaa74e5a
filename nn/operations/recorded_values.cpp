#include <ktape/autograd/indexing.hpp>
#include <ktape/nn/operations/operation.hpp>
#include <ktape/nn/operations/recorded_values.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/image/image.hpp>
#include <ktape/ops/keras/nn/layers.hpp>
#include <ktape/ops/keras/nn/losses.hpp>
#include <ktape/ops/keras/nn/patches.hpp>
#include <ktape/ops/keras/numpy/logic.hpp>
#include <ktape/ops/keras/numpy/sets.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/nn/bias.hpp>
#include <ktape/ops/nn/convolution_arguments.hpp>
#include <ktape/ops/nn/ctc.hpp>
#include <ktape/ops/nn/losses.hpp>
#include <ktape/ops/nn/normalization.hpp>
#include <ktape/ops/nn/pooling.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <cmath>
#include <map>

namespace ktape::nn {
namespace K = backend;

namespace {

using Values = std::vector<Value>;

/// Returns a number as a value, an infinity or NaN as a constant.
Value any_number(Scalar number) {
  return std::isfinite(number.real()) ? Value(number)
                                      : constant_value(K::full({}, number, DType::Float32), false);
}

Value value_of(const Slice::Bound& bound) { return bound.given() ? Value(bound.value_or(0)) : Value(); }

Value value_of(const Index& entry) {
  if (entry.kind() == Index::Position) return entry.position();
  if (entry.kind() == Index::New) return {};
  if (entry.kind() == Index::Rest) return "...";
  const Slice& slice = entry.slice();
  return Config{
      {"start", value_of(slice.start)}, {"stop", value_of(slice.stop)}, {"step", value_of(slice.step)}};
}

Value value_of(const K::Sections& sections) {
  const std::vector<std::int64_t> sizes = sections.of(None);
  if (!sizes.empty() && sizes[0] == None) return sizes.size();
  Value::List ends;  // Keras's form: where each part but the last ends
  std::int64_t end = 0;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) ends.push_back(end += sizes[i]);
  return ends;
}

Value value_of(const std::optional<DType>& dtype) { return dtype ? Value(dtype->name()) : Value(); }

Value value_of(const K::PerAxis<std::int64_t>& numbers) {
  return numbers.list().size() == 1 ? Value(numbers.list()[0]) : Value(numbers);
}

/// Calls f with the value if it has the type of f's argument, and returns whether it has.
template <class T, class F>
bool visit(const std::any& value, std::optional<Values>& out, F f) {
  const T* const typed = std::any_cast<T>(&value);
  if (typed) out = f(*typed);
  return typed != nullptr;
}

template <class T>
bool visit(const std::any& value, std::optional<Values>& out) {
  return visit<T>(value, out, [](const T& typed) { return Values{Value(typed)}; });
}

bool visit_collections(const std::any& value, std::optional<Values>& out) {
  return visit<std::optional<DType>>(value, out, [](const auto& dtype) { return Values{value_of(dtype)}; }) ||
         visit<std::optional<std::pair<double, double>>>(
             value, out,
             [](const auto& range) {
               return Values{range ? Value(Value::List{range->first, range->second}) : Value()};
             }) ||
         visit<std::map<std::string, std::int64_t>>(value, out, [](const auto& numbers) {
           Config config;
           for (const auto& [name, number] : numbers) config.set(name, number);
           return Values{Value(config)};
         });
}

bool visit_layers(const std::any& value, std::optional<Values>& out) {
  return visit<K::LossOptions>(value, out,
                               [](const auto& o) {
                                 return Values{o.from_logits, o.axis};
                               }) ||
         visit<K::BinaryLossOptions>(value, out, [](const auto& o) { return Values{o.from_logits}; }) ||
         visit<K::BatchNormalizationOptions>(value, out,
                                             [](const auto& o) {
                                               return Values{o.axis, o.epsilon};
                                             }) ||
         visit<K::NormalizationOptions>(value, out, [](const auto& o) { return Values{o.epsilon}; }) ||
         visit<K::LayerNormalizationOptions>(value, out,
                                             [](const auto& o) {
                                               return Values{o.axis, o.epsilon};
                                             }) ||
         visit<K::CtcDecodeOptions>(value, out, [](const auto& o) {
           return Values{o.greedy, o.beam_width, o.top_paths};
         });
}

/// Visits the options of functions of Keras 3.
bool visit_keras3(const std::any& value, std::optional<Values>& out) {
  return visit<ops::CtcDecodeOptions>(
             value, out,
             [](const auto& o) {
               return Values{o.strategy, o.beam_width, o.top_paths, o.merge_repeated, o.mask_index};
             }) ||
         visit<ops::ConvOptions>(
             value, out,
             [](const auto& o) {
               return Values{value_of(o.strides), value_of(o.dilation_rate), o.padding, o.data_format};
             }) ||
         visit<ops::ConvTransposeOptions>(value, out,
                                          [](const auto& o) {
                                            return Values{
                                                value_of(o.strides), o.padding,
                                                o.output_padding ? value_of(*o.output_padding) : Value(),
                                                o.data_format, value_of(o.dilation_rate)};
                                          }) ||
         visit<ops::TransformOptions>(
             value, out,
             [](const auto& o) {
               return Values{o.interpolation, o.fill_mode, o.fill_value, o.data_format};
             }) ||
         visit<ops::UnfoldOptions>(
             value, out,
             [](const auto& o) {
               return Values{value_of(o.dilation), value_of(o.padding), value_of(o.stride)};
             }) ||
         visit<ops::UniqueOptions>(value, out,
                                   [](const auto& o) {
                                     return Values{o.sorted,           o.return_index, o.return_inverse,
                                                   o.return_counts,    o.axis,         o.size,
                                                   Value(o.fill_value)};
                                   }) ||
         visit<ops::IsInOptions>(value, out,
                                 [](const auto& o) {
                                   return Values{o.assume_unique, o.invert};
                                 }) ||
         visit<ops::IsCloseOptions>(value, out, [](const auto& o) {
           return Values{o.rtol, o.atol, o.equal_nan};
         });
}

bool visit_structs(const std::any& value, std::optional<Values>& out) {
  return visit<K::ReluOptions>(value, out,
                               [](const auto& o) {
                                 return Values{o.alpha, o.max_value, o.threshold};
                               }) ||
         visit<K::GeluOptions>(value, out, [](const auto& o) { return Values{o.approximate}; }) ||
         visit<K::SortOptions>(value, out, [](const auto& o) { return Values{o.direction}; }) ||
         visit<K::MatmulOptions>(value, out,
                                 [](const auto& o) {
                                   return Values{o.transpose_a, o.transpose_b};
                                 }) ||
         visit<K::PadOptions>(
             value, out,
             [](const auto& o) {
               return Values{o.mode, o.mode == "constant" ? any_number(o.constant_values) : Value()};
             }) ||
         visit<K::BiasOptions>(
             value, out,
             [](const auto& o) { return Values{o.data_format.value_or(K::image_data_format())}; }) ||
         visit<K::PoolOptions>(value, out,
                               [](const auto& o) {
                                 return Values{value_of(o.strides), o.padding, o.data_format, o.pool_mode};
                               }) ||
         visit<K::CreationOptions>(value, out, [](const auto& o) { return Values{value_of(o.dtype)}; }) ||
         visit<K::ArangeOptions>(value, out, [](const auto& o) { return Values{value_of(o.dtype)}; }) ||
         visit<K::PrintOptions>(value, out, [](const auto& o) { return Values{o.summarize}; }) ||
         visit<K::BatchAxes>(
             value, out,
             [](const auto& axes) { return Values{axes.given() ? Value(axes.axes()) : Value()}; }) ||
         visit<K::ConvolutionArguments>(value, out, [](const auto& a) {
           return Values{a.strides, a.dilation_rate, a.padding, a.data_format};
         });
}

}  // namespace

std::optional<Values> recorded_values(const std::any& value) {
  std::optional<Values> out;
  visit<const char*>(value, out, [](const char*) { return Values(); }) || visit<bool>(value, out) ||
      visit<int>(value, out) || visit<std::int64_t>(value, out) || visit<double>(value, out) ||
      visit<std::optional<int>>(value, out) || visit<std::optional<std::int64_t>>(value, out) ||
      visit<std::optional<double>>(value, out) || visit<std::string>(value, out) ||
      visit<std::optional<std::string>>(value, out) || visit<Axes>(value, out) || visit<Shape>(value, out) ||
      visit<std::vector<K::PaddingPair>>(value, out) ||
      visit<K::PerAxis<std::int64_t>>(value, out,
                                      [](const auto& numbers) { return Values{value_of(numbers)}; }) ||
      visit<Scalar>(value, out, [](Scalar number) { return Values{any_number(number)}; }) ||
      visit<DType>(value, out, [](DType dtype) { return Values{dtype.name()}; }) ||
      visit<K::Sections>(value, out,
                         [](const K::Sections& sections) { return Values{value_of(sections)}; }) ||
      visit<K::ShapeLike>(value, out, [](const K::ShapeLike& shape) { return Values{shape.known()}; }) ||
      visit<Indices>(value, out,
                     [](const Indices& indices) {
                       Value::List key;
                       for (const Index& entry : indices.entries()) key.push_back(value_of(entry));
                       return Values{Value(key)};
                     }) ||
      visit_collections(value, out) || visit_structs(value, out) || visit_layers(value, out) ||
      visit_keras3(value, out);
  return out;
}

}  // namespace ktape::nn
