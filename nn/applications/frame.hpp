#pragma once
#include <ktape/nn/applications/application.hpp>

/// What the applications have in common: the input, the classifier, the model. Internal: sources only.
namespace ktape::nn::applications {

/// What an architecture wants of its images.
struct ImageSize {
  std::int64_t published = 224, least = 32;
  bool any_with_top = false;  ///< the classifier, too, takes any size, and does so by default
};

/// The names of the layers that pool the last features; automatic ones where empty.
struct PoolNames {
  const char *with_top = "", *average = "", *max = "";
};

/// The layers of an application stand between `input` and `top`:
///
///     const Frame frame("VGG16", options);
///     const Tensor features = ...(frame.input());
///     return frame.model(frame.top(features, {"avg_pool", "avg_pool", "max_pool"}), "vgg16");
class Frame {
 public:
  Frame(const char* application, const ApplicationOptions& options, const ImageSize& size = {});

  const Tensor& input() const { return input_; }
  bool include_top() const { return options_.include_top; }

  /// The classifier behind the mean over each image, or what `pooling` asks for.
  Tensor top(const Tensor& features, const PoolNames& names = {}) const;
  /// What `pooling` asks for, alone.
  Tensor pooled(const Tensor& features, const PoolNames& names = {}) const;
  /// The last layer: a score for each class.
  Tensor classified(const Tensor& features, const std::string& name = "predictions",
                    const Initializer& kernel = "glorot_uniform") const;
  /// The model, with the weights that were asked for.
  Model model(const Tensor& output, const std::string& name) const;

 private:
  Shape input_shape(const ImageSize& size) const;
  void expect_fitting(const Shape& shape, const ImageSize& size) const;

  const char* application_;
  const ApplicationOptions& options_;
  Tensor input_;
};

/// The options that all applications have, out of those of one that has more.
template <class Options>
ApplicationOptions common_options(const Options& o) {
  return {o.include_top, o.weights, o.input_tensor,          o.input_shape,
          o.pooling,     o.classes, o.classifier_activation, o.name};
}

/// The axis of the channels in images, of `K::image_data_format()`, and how many there are.
int channel_axis();
std::int64_t channels_of(const Tensor& images);
/// The number without its fraction and brought to the next multiple of 8, at least 8, that is not more than a
/// tenth below it.
std::int64_t divisible_by_8(double filters);
/// The zeros around images of which a "valid" convolution of stride 2 gives what "same" gives in the
/// frameworks from which published weights come: one less in front of even extents.
backend::PerAxis<backend::PaddingPair> downsampling_padding(const Tensor& images, std::int64_t kernel_size);
/// Throws ValueError where the data format is "channels_first".
void expect_channels_last(const char* application);

}  // namespace ktape::nn::applications
