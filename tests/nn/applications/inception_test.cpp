#include "../../hdf5.hpp"

#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"
#include "../data/files.hpp"
#include "../saving/keras_models.hpp"
#include "networks.hpp"

namespace K = ktape::backend;
using namespace networks;
using keras_models::same, keras_models::with_random_weights;

TEST_CASE("InceptionV3's unnamed layers are counted and ordered as Keras's, so that files load by position") {
  K::reset_uids();
  const Names names = layer_names(InceptionV3());
  CHECK(names.size() == 313);
  CHECK(names_from(names, "conv2d", 3) == Names{"conv2d", "batch_normalization", "activation"});
  CHECK(names_from(names, "max_pooling2d_1", 10) ==
        Names{"max_pooling2d_1", "conv2d_8", "batch_normalization_8", "activation_8", "conv2d_6", "conv2d_9",
              "batch_normalization_6", "batch_normalization_9", "activation_6", "activation_9"});
  for (int i = 0; i <= 10; ++i) CHECK(has(names, "mixed" + std::to_string(i)));
  CHECK(has(names, "conv2d_93"));
  CHECK(has(names, "mixed9_0"));
  CHECK(has(names, "mixed9_1"));
  CHECK(has(names, "concatenate"));
  CHECK(names_from(names, "mixed10", 3) == Names{"mixed10", "avg_pool", "predictions"});
}

TEST_CASE("InceptionV3's normalizations have no gamma") {
  const nn::Model inception = InceptionV3({.include_top = false});
  CHECK(inception.get_layer("mixed0").weights().empty());
  CHECK(nn::saving::keras_layers(inception)[2].weights().size() == 3);  // without gamma
}

TEST_CASE("weights of unnamed layers come back by their position" * needs_hdf5) {
  const Files files;
  const std::string path = files.folder() + "/weights.h5";
  const nn::Model model = with_random_weights(InceptionV3({.include_top = false}));
  model.save_weights(path);
  CHECK(same(InceptionV3({.include_top = false, .weights = path}), model));
}
