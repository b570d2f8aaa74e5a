#include "../../hdf5.hpp"

#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"
#include "../data/files.hpp"
#include "../saving/keras_models.hpp"
#include "networks.hpp"

namespace K = ktape::backend;
using namespace networks;
using keras_models::same;
using ktape::Shape, ktape::Tensor;

TEST_CASE("the layers of EfficientNetB0") {
  const nn::Model efficient = EfficientNetB0();
  const Names names = layer_names(efficient);
  CHECK(names_from(names, "stem_conv_pad", 5) ==
        Names{"stem_conv_pad", "stem_conv", "stem_bn", "stem_activation", "block1a_dwconv"});
  CHECK(has(names, "block2a_dwconv_pad"));
  CHECK(has(names, "block2b_drop"));
  CHECK(has(names, "block4a_se_reshape"));
  CHECK(has(names, "block7a_project_bn"));
  CHECK(!has(names, "block1a_expand_conv"));
  CHECK(names_from(names, "top_conv", 6) ==
        Names{"top_conv", "top_bn", "top_activation", "avg_pool", "top_dropout", "predictions"});
  CHECK(efficient.get_layer("block1a_se_reduce").weights()[0].shape() == Shape{1, 1, 32, 8});
}

TEST_CASE("the deviations in EfficientNetB0's published files become variances" * needs_hdf5) {
  const Files files;
  const std::string published = files.folder() + "/published.h5", own = files.folder() + "/own.h5";
  const auto normalization = [](const nn::Model& model) { return model.layers()[2]; };
  const nn::Model model = EfficientNetB0({.include_top = false});
  REQUIRE(normalization(model).class_name() == "Normalization");
  std::vector<Tensor> weights = normalization(model).get_weights();
  weights[1] = K::constant({0.229f, 0.224f, 0.225f});
  normalization(model).set_weights(weights);
  model.save_weights(published);
  const nn::Model corrected = EfficientNetB0({.include_top = false, .weights = published});
  CHECK(close(values(normalization(corrected).get_weights()[1])[0], 0.229 * 0.229, {.rtol = 1e-6}));
  corrected.save_weights(own);
  CHECK(same(EfficientNetB0({.include_top = false, .weights = own}), corrected));
}
