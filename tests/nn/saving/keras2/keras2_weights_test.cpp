#include <ktape/ktape.hpp>
#include <ktape/nn/saving/keras2/keras2_weights.hpp>

#include "../../../ops/check.hpp"

namespace nn = ktape::nn;
namespace hdf5 = nn::saving::hdf5;
using doctest::Contains;
using hdf5::Entry;
using ktape::IOError;

namespace {

nn::Model network(const std::string& first = "hidden") {
  return nn::Sequential({nn::Input({2}), nn::Dense(3, {.name = first}), nn::Dense(1, {.name = "scores"})});
}

using Names = std::vector<std::string>;

Names names_in(const Entry& entry, const char* attribute) {
  return std::get<Names>(*entry.attribute(attribute));
}

}  // namespace

TEST_CASE("attributes list the layers, and the arrays of each") {
  const nn::Model model = network();
  Entry root;
  nn::saving::add_keras2_weights(root, model);
  CHECK(names_in(root, "layer_names") == Names{"hidden", "scores"});
  CHECK(std::get<std::string>(*root.attribute("keras_version")) == "2.15.0");
  const Entry& hidden = *root.find("hidden");
  CHECK(names_in(hidden, "weight_names") == Names{"hidden/kernel:0", "hidden/bias:0"});
  CHECK(values(hidden.find("hidden/kernel:0")->value) == values(model.get_weights()[0]));
  const hdf5::File file{"load_weights", "w.h5", root};
  CHECK(nn::saving::is_keras2(file));
  CHECK_FALSE(nn::saving::is_keras2({"load_weights", "w.h5", Entry()}));
  CHECK(nn::saving::arrays_of(file, hidden, "/hidden").size() == 2);
}

TEST_CASE("layers take the weights of their names, or else in order") {
  const nn::Model model = network();
  Entry root;
  nn::saving::add_keras2_weights(root.group("model_weights"), model);
  const hdf5::File file{"load_weights", "m.h5", root};
  const nn::Model other = network("first");
  nn::saving::load_keras2_weights(file, other, {});
  CHECK(values(other.get_weights()[0]) == values(model.get_weights()[0]));
  const nn::Model named = network("first");
  const Values before = values(named.get_weights()[0]);
  nn::saving::load_keras2_weights(file, named, {.by_name = true});
  CHECK(values(named.get_weights()[0]) == before);
  CHECK(values(named.get_weights()[2]) == values(model.get_weights()[2]));
}

TEST_CASE("a missing array is an error that names file and place, and nothing changes") {
  const nn::Model model = network(), other = network();
  Entry root;
  nn::saving::add_keras2_weights(root, model);
  root.group("scores").members.clear();
  const Values before = values(other.get_weights()[0]);
  CHECK_THROWS_WITH_AS(
      nn::saving::load_keras2_weights({"load_weights", "w.h5", root}, other, {}),
      Contains("[load_weights] the file must be complete, as Keras writes it: received w.h5 "), IOError);
  CHECK(values(other.get_weights()[0]) == before);
}
