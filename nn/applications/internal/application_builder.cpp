#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/applications/internal/application_builder.hpp>
#include <ktape/nn/layers/convolutional/spatial.hpp>
#include <ktape/nn/layers/core/core.hpp>
#include <ktape/nn/layers/core/input.hpp>
#include <ktape/nn/layers/pooling/pooling.hpp>
#include <ktape/ops/settings/config.hpp>

#include <algorithm>
#include <set>

namespace ktape::nn::applications {
namespace K = backend;

namespace {

/// Returns the inputs that a symbolic tensor depends on, oldest first.
std::vector<Tensor> source_inputs(const Tensor& x) {
  std::vector<Ref<Symbol>> found{x.get()->symbol}, sources;
  std::set<const Symbol*> seen{found[0].get()};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Ref<Symbol> symbol = found[i];
    if (symbol->placeholder()) sources.push_back(symbol);
    for (const Operand& operand : symbol->operands())
      if (is_symbolic(operand.tensor) && seen.insert(operand.tensor.get()->symbol.get()).second)
        found.push_back(operand.tensor.get()->symbol);
  }
  std::sort(sources.begin(), sources.end(),
            [](const auto& a, const auto& b) { return a->sequence() < b->sequence(); });
  std::vector<Tensor> inputs;
  for (const Ref<Symbol>& source : sources) inputs.push_back(symbolic_tensor(source, 0));
  return inputs;
}

/// Returns the axes of height and width in the shape of an image.
std::pair<int, int> spatial_axes() {
  const int first = first_spatial_axis(K::image_data_format()) - 1;
  return {first, first + 1};
}

}  // namespace

// --- The builder --------------------------------------------------------------------------------------------

ApplicationBuilder::ApplicationBuilder(const char* application, const ApplicationOptions& options,
                                       const ImageSize& size)
    : application_(application), options_(options) {
  if (!options.pooling.empty() && options.pooling != "avg" && options.pooling != "max")
    fail("[", application, "] pooling must be \"avg\" or \"max\": received pooling=\"", options.pooling, '"');
  const std::string activation =
      options.classifier_activation.defined() ? options.classifier_activation.class_name() : "linear";
  if (!options.weights.empty() && options.include_top && activation != "softmax" && activation != "linear")
    fail("[", application,
         "] classifier_activation must be softmax or linear where there are weights: received "
         "classifier_activation=",
         activation);
  const Shape shape = input_shape(size);
  if (!options.input_tensor.defined()) {
    input_ = Input(shape);
    return;
  }
  if (!is_symbolic(options.input_tensor))
    fail("[", application,
         "] input_tensor must be symbolic, as nn::Input makes it: received a tensor of shape=",
         options.input_tensor.shape());
  input_ = options.input_tensor;
}

/// Returns the shape of an image: the shape of the input tensor, the shape option, or the default shape.
Shape ApplicationBuilder::input_shape(const ImageSize& size) const {
  const Shape& given = options_.input_shape;
  if (given.rank() > 0) expect_fitting(given, size);
  if (options_.input_tensor.defined()) {
    const Shape batch = options_.input_tensor.shape();
    Shape shape = batch;
    if (shape.rank() > 0) shape.erase(0);
    if (given.rank() > 0 && shape != given)
      fail("[", application_,
           "] input_tensor must have the shape of the input: received input_tensor.shape=", batch,
           ", input_shape=", given);
    expect_fitting(shape, size);
    return shape;
  }
  if (given.rank() > 0) return given;
  const std::int64_t extent = options_.include_top && !size.any_with_top ? size.published : None;
  Shape shape{extent, extent, extent};
  shape[channel_axis() == 1 ? 0 : 2] = 3;
  return shape;
}

void ApplicationBuilder::expect_fitting(const Shape& shape, const ImageSize& size) const {
  if (shape.rank() != 3)
    fail("[", application_, "] input_shape must have three extents: received input_shape=", shape);
  const auto [rows, columns] = spatial_axes();
  for (const int axis : {rows, columns}) {
    if (shape[axis] == None && options_.include_top && !size.any_with_top)
      fail("[", application_,
           "] input_shape must have a height and a width with the classifier: received input_shape=", shape);
    if (shape[axis] != None && shape[axis] < size.least)
      fail("[", application_, "] input_shape must be at least ", size.least,
           " pixels high and wide: received ", "input_shape=", shape);
  }
}

Tensor ApplicationBuilder::pooled(const Tensor& features, const PoolNames& names) const {
  if (options_.pooling == "avg") return GlobalAveragePooling2D({.name = names.average})(features);
  if (options_.pooling == "max") return GlobalMaxPooling2D({.name = names.max})(features);
  return features;
}

Tensor ApplicationBuilder::classified(const Tensor& features, const std::string& name,
                                      const Initializer& kernel) const {
  return Dense(
      options_.classes,
      {.activation = options_.classifier_activation, .kernel_initializer = kernel, .name = name})(features);
}

Tensor ApplicationBuilder::top(const Tensor& features, const PoolNames& names) const {
  if (!include_top()) return pooled(features, names);
  return classified(GlobalAveragePooling2D({.name = names.with_top})(features));
}

Model ApplicationBuilder::model(const Tensor& output, const std::string& name) const {
  const Model model(source_inputs(input_), output, {.name = options_.name.empty() ? name : options_.name});
  if (!options_.weights.empty()) model.load_weights(options_.weights);
  return model;
}

// --- Parts of several architectures -----------------------------------------------------------------------

int channel_axis() { return nn::channel_axis(K::image_data_format()); }

std::int64_t channels_of(const Tensor& images) { return images.shape()[channel_axis()]; }

std::int64_t divisible_by_8(double filters) {
  const std::int64_t rounded = std::max<std::int64_t>(8, static_cast<std::int64_t>(filters + 4) / 8 * 8);
  return static_cast<double>(rounded) < 0.9 * filters ? rounded + 8 : rounded;
}

K::PerAxis<K::PaddingPair> downsampling_padding(const Tensor& images, std::int64_t kernel_size) {
  const int first = first_spatial_axis(K::image_data_format());
  std::vector<K::PaddingPair> padding;
  for (const int axis : {first, first + 1}) {
    const std::int64_t extent = images.shape()[axis], half = kernel_size / 2;
    padding.emplace_back(extent != None && extent % 2 == 1 ? half : half - 1, half);
  }
  return padding;
}

void expect_channels_last(const char* application) {
  if (channel_axis() == -1) return;
  fail("[", application, "] image_data_format must be \"channels_last\": received \"", K::image_data_format(),
       '"');
}

}  // namespace ktape::nn::applications
