// Neural style transfer (Gatys, Ecker, Bethge): an image is optimized until its features match the features
// of a content image, and the covariances of its features match the covariances of a style image. A network
// of random weights suffices for textures.
// Expect the distance to the style to fall to a 25th, and the content to stay recognizable: a correlation of
// 0.35 of its brightness.
// Try next: `--data FILE`, a PNG or JPEG as the content; a higher weight of the style; only deeper features.
// `--out FOLDER` draws content, style and the result.
#include <ktape/ktape.hpp>

#include <algorithm>
#include <cstdio>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::Tensor, ktape::Variable;

static constexpr std::int64_t side = 64;

/// Returns the x and y coordinates of each pixel, from -1 to 1: two tensors of (64, 64).
static std::pair<Tensor, Tensor> places() {
  const Tensor line = K::cast(K::arange(0, side), "float32") * (2.f / (side - 1)) - 1.f;
  return {K::repeat_elements(K::expand_dims(line, 0), side, 0),
          K::repeat_elements(K::expand_dims(line, 1), side, 1)};
}

/// Returns an image of a bright disc with a dark disc inside, on gray: (1, 64, 64, 3).
static Tensor content_image() {
  const auto [x, y] = places();
  const Tensor disc = K::cast(K::square(x) + K::square(y) < 0.6f, "float32");
  const Tensor hole = K::cast(K::square(x - 0.2f) + K::square(y + 0.1f) < 0.08f, "float32");
  const Tensor gray = 0.25f + 0.6f * disc - 0.6f * hole;
  return K::repeat_elements(K::reshape(gray, {1, side, side, 1}), 3, -1);
}

/// Returns an image of slanted waves of red and blue: (1, 64, 64, 3).
static Tensor style_image() {
  const auto [x, y] = places();
  const Tensor wave = K::sin(36.f * (x + 0.6f * y)), cross = K::sin(24.f * (y - x));
  const Tensor colors = K::stack({0.5f + 0.5f * wave, 0.4f + 0.3f * cross * wave, 0.5f - 0.4f * wave}, -1);
  return K::expand_dims(colors, 0);
}

/// Returns a model of random weights whose outputs are features at three depths. Gatys uses VGG, trained on
/// photos; random filters respond to edges and colors, too, and need no download. Average pooling gives
/// smoother gradients than maximum pooling. 'he_normal' keeps the size of the features equal over the
/// depths. The features leave the model as float32 under any policy, because covariances sum thousands.
static nn::Model features() {
  const Tensor image = nn::Input({side, side, 3});
  std::vector<Tensor> depths;
  Tensor h = image;
  for (const int filters : {16, 32, 32}) {
    h = nn::Conv2D(filters, 3,
                   {.padding = "same", .activation = "relu", .kernel_initializer = "he_normal"})(h);
    depths.push_back(K::cast(h, "float32"));
    h = nn::AveragePooling2D(2)(h);
  }
  return nn::Model(image, depths);
}

/// Returns the covariances of the channels over all positions: (channels, channels). The sum over positions
/// forgets where a feature occurs and keeps which features occur together: that is texture. The Gram matrix
/// of the original lacks the subtraction of the mean.
static Tensor covariance(const Tensor& maps) {
  const Tensor rows = K::reshape(maps, {-1, maps.shape().back()});
  const Tensor centered = rows - K::mean(rows, 0);
  return K::dot(K::transpose(centered), centered) / static_cast<float>(rows.shape()[0]);
}

/// Returns the mean over the depths of the squared difference of covariances. The division by the style's
/// own size lets all depths weigh alike.
static Tensor style_distance(const std::vector<Tensor>& maps, const std::vector<Tensor>& style) {
  Tensor sum = K::zeros({});
  for (std::size_t i = 0; i < maps.size(); ++i)
    sum = sum + K::mean(K::square(covariance(maps[i]) - covariance(style[i]))) /
                    K::mean(K::square(covariance(style[i])));
  return sum / static_cast<float>(maps.size());
}

/// Returns the correlation of the brightness of two images: 1 for the same picture, 0 for nothing in
/// common. Brightness is the mean of the channels, since the style may change the colors.
static double correlation(const Tensor& a, const Tensor& b) {
  const Tensor x = K::mean(a, -1) - K::mean(a), y = K::mean(b, -1) - K::mean(b);
  return (K::sum(x * y) / (K::norm(x) * K::norm(y))).item<double>();
}

/// Optimizes an image, not a network: the weights stay as they are, and the pixels are the variable.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(argc, argv, {.epochs = 300, .quick_epochs = 40});
  K::set_random_seed(run.seed);

  // The content is a disc with a hole, or a picture that is scaled to 64 x 64; the style is made of slanted
  // waves.
  const Tensor content =
      run.data.empty() ? content_image()
                       : K::expand_dims(K::cast(data::load_image(run.data, {.target_size = {{side, side}},
                                                                            .interpolation = "bilinear"}),
                                                "float32"),
                                        0) /
                             255.f;
  const Tensor style = style_image();

  // The features of content and style are computed once, as the fixed targets. The image starts as a copy
  // of the content, so only the style is missing at first.
  const nn::Model network = features();
  const std::vector<Tensor> content_maps = network.apply(content), style_maps = network.apply(style);
  Variable image = content;
  const nn::Adam adam(0.02);
  const double before = style_distance(content_maps, style_maps).item<double>();

  // The loss is the distance to the style plus six times the distance to the content at the deepest
  // features, which know the layout but not each pixel. `minimize` computes the gradient and lets Adam
  // update the image; the clip afterwards keeps pixels in 0..1.
  for (int step = 1; step <= run.epochs; ++step) {
    const std::vector<Tensor> maps = network.apply(image);
    const Tensor of_style = style_distance(maps, style_maps);
    const Tensor of_content =
        K::mean(K::square(maps.back() - content_maps.back())) / K::var(content_maps.back());
    adam.minimize(of_style + 6.f * of_content, {image});
    K::update(image, K::clip(image, 0, 1));
    if (step % std::max(1, run.epochs / 10) == 0)
      std::printf("step %3d  style %.4f  content %.4f\n", step, of_style.item<double>(),
                  of_content.item<double>());
  }

  // Style and content pull in opposite directions, so a result must be measured on both sides.
  const double after = style_distance(network.apply(image), style_maps).item<double>();
  if (!run.out.empty()) {
    ktape::data::save_image(run.out + "/style.png", K::squeeze(image, 0));
    ktape::plot::image_grid(K::concatenate({content, style, image}, 0),
                            {.title = "A style is transferred to an image",
                             .titles = {"content", "style", "result"},
                             .columns = 3})
        .save(run.out + "/style.svg");
  }

  // A lower weight of the content brings the style nearer and the correlation down, and the other way
  // round.
  const double factor = before / after, alike = correlation(content, image);
  const double expected = run.quick ? 8 : 25, expected_alike = run.quick ? 0.25 : 0.35;
  std::printf("correlation with the content: %.3f (expected: %.2f or more)\n", alike, expected_alike);
  std::printf("distance to the style smaller by a factor of %.1f (expected: %.0f or more)\n", factor,
              expected);
  return factor >= expected && alike >= expected_alike ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "style_transfer: %s\n", error.what());
  return 1;
}
