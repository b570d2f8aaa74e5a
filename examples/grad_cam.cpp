// Grad-CAM: where does a network look? A digit lies somewhere in a larger, noisy field; the network learns
// which digit, not where. The gradient of its answer with respect to its last feature maps shows the
// position.
// Expect the maximum of the map within the digit in 0.9 of the unseen fields.
// Try next: two digits in a field and the map of either class; the gradient with respect to the image itself
// (saliency). `--out FOLDER` draws fields, and below them their maps.
#include <ktape/ktape.hpp>

#include <cstdio>
#include <random>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::All, ktape::Slice, ktape::Tensor;

/// A digit of 8 x 8 lies somewhere in a field of 24 x 24.
static constexpr std::int64_t field = 24, digit = 8;

/// Returns noisy fields with a digit each, (n, 24, 24, 1), and row and column of the digit's corner, (n,
/// 2). The corners are for the test alone; the network never gets them.
static data::Element in_fields(const Tensor& digits, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_int_distribution<std::int64_t> place(0, field - digit);
  std::vector<Tensor> fields;
  std::vector<std::vector<std::int64_t>> corners;
  for (const Tensor& one : K::unstack(digits)) {
    const std::int64_t row = place(random), column = place(random);
    fields.push_back(K::pad(one, {{row, field - digit - row}, {column, field - digit - column}, {0, 0}}));
    corners.push_back({row, column});
  }
  const Tensor clean = K::stack(fields);
  return {clean + 0.15f * K::random_normal(K::int_shape(clean)), K::constant(corners, {.dtype = "int64"})};
}

/// Returns the network. Its last convolution has a name, by which Grad-CAM finds the feature maps, and the
/// maximum over all places follows: the answer must come from some place of the maps, and the position is
/// lost only there.
static nn::Sequential digit_reader() {
  return nn::Sequential({
      nn::Input({field, field, 1}),
      nn::Conv2D(16, 3, {.padding = "same", .activation = "relu"}),
      nn::Conv2D(32, 3, {.padding = "same", .activation = "relu"}),
      nn::MaxPooling2D(2),
      nn::Conv2D(32, 3, {.padding = "same", .activation = "relu"}),
      nn::Conv2D(64, 3, {.padding = "same", .activation = "relu", .name = "last_maps"}),
      nn::GlobalMaxPooling2D(),
      nn::Dense(10, {.activation = "softmax", .dtype = "float32"}),
  });
}

/// Trains a classifier, then asks for the place that its answers come from.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(
      argc, argv, {.epochs = 12, .quick_epochs = 4, .data = "examples/data/digits.csv.gz"});
  K::set_random_seed(run.seed);

  // Fields, classes and corners are split together, so that the rows stay in step.
  const Tensor table = data::load_csv(run.data);  // 64 pixels of 0..16, then the class
  const Tensor digits = K::reshape(table[{All, Slice(0, 64)}] / 16.f, {-1, digit, digit, 1});
  const data::Element fields = in_fields(digits, run.seed);
  const auto split = data::train_test_split({fields[0], K::cast(table[{All, 64}], "int32"), fields[1]},
                                            {.test_size = 0.2, .seed = run.seed});

  // An ordinary training with classes as the only labels.
  const nn::Sequential model = digit_reader();
  model.compile(
      {.optimizer = nn::Adam(0.002), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  model.fit(split.train[0], split.train[1], {.batch_size = 32, .epochs = run.epochs, .verbose = 2});
  std::printf("accuracy on unseen fields: %.4f\n",
              model.evaluate(split.test[0], split.test[1], {.verbose = 0})["accuracy"]);

  // Each map is weighted by its mean gradient: how much would the answer grow with this map? The ReLU keeps
  // the places that speak for the class. All are symbolic tensors of the model's graph, and `K::function`
  // makes a callable of them, as in Keras. The result is float32 also under a mixed policy.
  const Tensor maps = model.get_layer("last_maps").output(), answer = K::max(model.output(), -1);
  const Tensor slopes = K::gradients(K::log(answer), {maps})[0];
  const Tensor weights = K::mean(slopes, {1, 2}, true);
  const auto grad_cam =
      K::function({model.input()}, {K::relu(K::cast(K::sum(maps * weights, -1), "float32"))});
  const Tensor heat = grad_cam({split.test[0]})[0];  // (n, 12, 12): half the field's resolution

  // A hit is a strongest cell that overlaps the digit. A cell of the map of 12 x 12 stands for 2 x 2 pixels
  // of the field, so indices are scaled before they are compared with the digit's corner.
  const Tensor peak = K::argmax(K::batch_flatten(heat));
  std::int64_t inside = 0;
  const std::int64_t n = heat.shape()[0], side = heat.shape()[1], step = field / side;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = peak.item<std::int64_t>(i);
    const std::int64_t down = at / side * step - split.test[2].item<std::int64_t>(i, 0);
    const std::int64_t right = at % side * step - split.test[2].item<std::int64_t>(i, 1);
    inside += down > -step && down < digit && right > -step && right < digit;
  }

  // Maps of 12 x 12 are enlarged to the size of the fields, and each is scaled to a maximum of 1.
  if (!run.out.empty()) {
    const Tensor some = heat[{Slice(0, 8)}];
    const Tensor large =
        K::resize_images(K::expand_dims(some), step, step, "channels_last", {.interpolation = "bilinear"});
    ktape::plot::image_grid(
        K::concatenate({K::clip(split.test[0][{Slice(0, 8)}], 0, 1), large / K::max(large, {1, 2, 3}, true)},
                       0),
        {.title = "Where the network looks", .columns = 8, .row_labels = {"unseen field", "Grad-CAM"}})
        .save(run.out + "/grad_cam.svg");
  }

  // The digit covers about a ninth of the field, so random places would hit rarely.
  const double hits = static_cast<double>(inside) / static_cast<double>(n), expected = run.quick ? 0.8 : 0.9;
  std::printf("strongest place within the digit: %.4f of %d fields (expected: %.2f or more)\n", hits,
              static_cast<int>(n), expected);
  return hits >= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "grad_cam: %s\n", error.what());
  return 1;
}
