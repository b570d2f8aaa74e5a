#include <ktape/ktape.hpp>
#include <ktape/nn/saving/keras/keras_state.hpp>

#include "../../../ops/check.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace hdf5 = nn::saving::hdf5;
using hdf5::Entry;
using ktape::ValueError;

namespace {

nn::Model network() {
  return nn::Sequential({nn::Input({2}), nn::Dense(3, {.name = "hidden"}), nn::Dense(1, {.name = "scores"})});
}

}  // namespace

TEST_CASE("each layer has a group by class and count, with its name and its weights") {
  const nn::Model model = network();
  const Entry root = nn::saving::keras_state(model, true);
  CHECK(std::get<std::string>(*root.find("layers/dense/vars")->attribute("name")) == "hidden");
  CHECK(std::get<std::string>(*root.find("layers/dense_1/vars")->attribute("name")) == "scores");
  CHECK(values(root.find("layers/dense/vars/0")->value) == values(model.get_weights()[0]));
  CHECK(root.find("layers/dense_1/vars/1")->value.shape() == ktape::Shape{1});
  CHECK(root.find("optimizer") == nullptr);
  model.compile({.optimizer = "adam", .loss = "mse"});
  CHECK(nn::saving::keras_state(model, true).find("optimizer/vars/0") != nullptr);
  CHECK(nn::saving::keras_state(model, false).find("optimizer") == nullptr);
  CHECK_THROWS_WITH_AS(nn::saving::keras_state(nn::Sequential({nn::Dense(2)}, {.name = "raw"}), false),
                       "[raw] the model must be built, by a call or by build(), before it is saved",
                       ValueError);
}

TEST_CASE("weights are found again, in order or by the names of layers") {
  const nn::Model model = network();
  const hdf5::File file{"load_weights", "w.h5", nn::saving::keras_state(model, false)};
  for (const bool by_name : {false, true}) {
    std::vector<std::string> layers;
    for (const nn::saving::LayerWeights& layer : nn::saving::keras_weights(file, network(), by_name))
      if (!layer.weights.empty()) layers.push_back(layer.layer);
    CHECK(layers == std::vector<std::string>{"hidden", "scores"});
  }
}

TEST_CASE("the optimizer's state is the list of its variables") {
  const nn::Model model = network();
  model.compile({.optimizer = nn::SGD({.learning_rate = 0.5, .momentum = 0.9}), .loss = "mse"});
  const hdf5::File file{"load_model", "m.keras", nn::saving::keras_state(model, true)};
  const auto state = nn::saving::keras_optimizer_state(file);
  REQUIRE(state.size() == 2 + 4);  // iterations, learning rate, a momentum for each weight
  CHECK(values(state[1].second) == Values{0.5});
  CHECK(nn::saving::keras_optimizer_state({"load_model", "m.keras", Entry()}).empty());
}

TEST_CASE("names with the separators of Windows become paths") {
  Entry root;
  root.members.emplace_back("layers\\dense\\vars", Entry());
  root.members[0].second.members.emplace_back("0", Entry(K::ones({2})));
  nn::saving::separate_names(root);
  CHECK(values(root.find("layers/dense/vars/0")->value) == Values{1, 1});
}
