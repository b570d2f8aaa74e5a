#pragma once
#include <ktape/nn/applications/application.hpp>

/// The steps that all applications share: input, classifier, model. Internal: sources only.
namespace ktape::nn::applications {

/// An architecture's requirements for the size of images.
struct ImageSize {
  std::int64_t published = 224, least = 32;
  bool any_with_top = false;  ///< whether the model takes any size even with the classifier
};

/// The names of the layers that pool the last features; automatic names where empty.
struct PoolNames {
  const char *with_top = "", *average = "", *max = "";
};

/// Builds an application: its layers stand between `input` and `top`.
///
///     const ApplicationBuilder builder("VGG16", options);
///     const Tensor features = ...(builder.input());
///     return builder.model(builder.top(features, {"avg_pool", "avg_pool", "max_pool"}), "vgg16");
class ApplicationBuilder {
 public:
  ApplicationBuilder(const char* application, const ApplicationOptions& options, const ImageSize& size = {});

  const Tensor& input() const { return input_; }
  bool include_top() const { return options_.include_top; }

  /// Adds the mean over each image and the classifier, or, without a classifier, the pooling option's layer.
  Tensor top(const Tensor& features, const PoolNames& names = {}) const;
  /// Adds the layer of the pooling option.
  Tensor pooled(const Tensor& features, const PoolNames& names = {}) const;
  /// Adds the last layer, which gives a score for each class.
  Tensor classified(const Tensor& features, const std::string& name = "predictions",
                    const Initializer& kernel = "glorot_uniform") const;
  /// Returns the model with the weights of the weights option.
  Model model(const Tensor& output, const std::string& name) const;

 private:
  Shape input_shape(const ImageSize& size) const;
  void expect_fitting(const Shape& shape, const ImageSize& size) const;

  const char* application_;
  const ApplicationOptions& options_;
  Tensor input_;
};

/// Returns the fields of an application's options that all applications share.
template <class Options>
ApplicationOptions common_options(const Options& o) {
  return {o.include_top, o.weights, o.input_tensor,          o.input_shape,
          o.pooling,     o.classes, o.classifier_activation, o.name};
}

/// Returns the channel axis of images in `K::image_data_format()`.
int channel_axis();
std::int64_t channels_of(const Tensor& images);
/// Rounds to the nearest multiple of 8, at least 8; rounds up if rounding down would lose more than a tenth.
std::int64_t divisible_by_8(double filters);
/// Returns the zero padding before a "valid" convolution of stride 2 that equals the padding of the
/// frameworks in which the published weights were trained: one zero less before an even extent.
backend::PerAxis<backend::PaddingPair> downsampling_padding(const Tensor& images, std::int64_t kernel_size);
/// Throws ValueError where the data format is "channels_first".
void expect_channels_last(const char* application);

}  // namespace ktape::nn::applications
