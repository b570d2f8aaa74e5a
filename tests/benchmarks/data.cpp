// The time that a Dataset adds to an epoch: the model and the pipeline of examples/mnist.cpp, against tensors
// that need no work.
#include <ktape/nn/data/dataset.hpp>

#include "report.hpp"
#include "train.hpp"

namespace {

using namespace bench;
namespace nn = ktape::nn;
namespace data = ktape::data;

data::Element scaled(const data::Element& batch) {
  return {K::expand_dims(K::cast(batch[0], "float32") / 255.f), K::cast(batch[1], "int32")};
}

const bench::Group epoch([] {
  if (!bench::wanted({"epoch_of_tensors", "epoch_of_dataset"})) return;
  const std::int64_t samples = 2048;
  const auto bytes = [](const ktape::Shape& shape, double end) {
    return K::cast(K::random_uniform(shape, {.maxval = end}), "uint8");
  };
  const data::Element digits = {bytes({samples, 28, 28}, 256), bytes({samples}, 10)};
  const nn::Sequential model({
      nn::Input({28, 28, 1}),
      nn::Conv2D(32, 3, {.activation = "relu"}),
      nn::MaxPooling2D(2),
      nn::Conv2D(64, 3, {.activation = "relu"}),
      nn::MaxPooling2D(2),
      nn::Flatten(),
      nn::Dropout(0.3),
      nn::Dense(128, {.activation = "relu"}),
      nn::Dropout(0.3),
      nn::Dense(10, {.activation = "softmax"}),
  });
  model.compile(
      {.optimizer = nn::Adam(0.002), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const data::Element ready = scaled(digits);
  const auto train =
      data::Dataset::from_tensor_slices(digits).shuffle(8000).batch(64).map(scaled).prefetch(2);
  bench::report("epoch_of_tensors", [&] { model.fit(ready[0], ready[1], {.batch_size = 64, .verbose = 0}); });
  bench::report("epoch_of_dataset", [&] { model.fit(train, {.verbose = 0}); });
});

}  // namespace
