#include <ktape/ktape.hpp>
#include <ktape/nn/saving/npz/npz.hpp>

#include "../../../ops/check.hpp"
#include "../../data/files.hpp"

namespace nn = ktape::nn;
using doctest::Contains;
using ktape::ValueError;

namespace {

nn::Model network(std::int64_t units = 3) {
  return nn::Sequential(
      {nn::Input({2}), nn::Dense(units, {.name = "hidden"}), nn::Dense(1, {.name = "scores"})});
}

}  // namespace

TEST_CASE("weights are the arrays of an archive, under the names of layer and weight") {
  const Files files;
  const std::string path = files.folder() + "/w.npz";
  const nn::Model model = network(), other = network();
  model.save_weights(path);
  std::vector<std::string> names;
  for (const auto& [name, array] : ktape::data::load_npz(path)) names.push_back(name);
  CHECK(names == std::vector<std::string>{"hidden/kernel", "hidden/bias", "scores/kernel", "scores/bias"});
  other.load_weights(path);
  CHECK(values(other.get_weights()[0]) == values(model.get_weights()[0]));
}

TEST_CASE("an archive of other weights is refused, and the format holds no whole model") {
  const Files files;
  const std::string path = files.folder() + "/w.npz";
  network(4).save_weights(path);
  CHECK_THROWS_WITH_AS(network().load_weights(path), Contains("'hidden'"), ValueError);
  const bool whole = nn::saving::npz.save_model || nn::saving::npz.load_model;
  CHECK_FALSE(whole);
}
