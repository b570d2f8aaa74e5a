#include "../../../hdf5.hpp"
#include "../../../ops/check.hpp"
#include "../../data/files.hpp"

#include <ktape/ktape.hpp>

#include <fstream>
#include <iterator>

namespace nn = ktape::nn;
using doctest::Contains;
using ktape::IOError;
using ktape::ValueError;

namespace {

nn::Sequential network() {
  return nn::Sequential({nn::Input({8}), nn::Dense(16), nn::BatchNormalization(), nn::Dense(4)});
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

constexpr double gigabyte = 1 << 30;

}  // namespace

TEST_CASE("weights are saved in several files, as Keras does, and read again" * needs_hdf5) {
  const Files files;
  const std::string path = files.folder() + "/m.weights.json";
  const nn::Sequential model = network(), other = network();
  model.save_weights(path, {.max_shard_size = 600 / gigabyte});
  const nn::Config index = nn::from_json(content(path)).config();
  CHECK(index.at("metadata").config().at("total_size") == nn::Value(4 * (8 * 16 + 16 + 4 * 16 + 16 * 4 + 4)));
  CHECK(index.at("weight_map").config().at("/layers/dense/vars") == nn::Value("m_00000.weights.h5"));
  CHECK(index.at("weight_map").config().at("/layers/dense_1/vars") == nn::Value("m_00001.weights.h5"));
  CHECK(std::filesystem::exists(files.folder() + "/m_00001.weights.h5"));
  CHECK(!std::filesystem::exists(files.folder() + "/m_00002.weights.h5"));
  other.load_weights(path);
  for (std::size_t i = 0; i < model.weights().size(); ++i)
    CHECK(values(other.weights()[i].value()) == values(model.weights()[i].value()));
}

TEST_CASE("the size of files is checked, and nothing is written" * needs_hdf5) {
  const Files files;
  const std::string path = files.folder() + "/m.weights.json";
  const nn::Sequential model = network();
  CHECK_THROWS_WITH_AS(model.save_weights(path, {.max_shard_size = 500 / gigabyte}),
                       Contains("at least the size of the weights of one layer: received 500 bytes"),
                       ValueError);
  CHECK_THROWS_WITH_AS(model.save_weights(path, {.max_shard_size = -1.}),
                       Contains("received max_shard_size=-1"), ValueError);
  CHECK_THROWS_WITH_AS(model.save_weights(files.folder() + "/m.npz", {.max_shard_size = 1.}),
                       Contains("max_shard_size is for .weights.json"), ValueError);
  CHECK(std::filesystem::is_empty(files.folder()));
  CHECK_THROWS_WITH_AS(model.save(files.folder() + "/m.keras", {.keras_version = 2}),
                       Contains("Keras 2.15 reads models from .h5"), ValueError);
  model.save(files.folder() + "/m.h5", {.keras_version = 2});
  CHECK_THROWS_WITH_AS(model.save(files.folder() + "/m.h5", {.keras_version = 4}),
                       Contains("received keras_version=4"), ValueError);
}

TEST_CASE("an index outside of its folder or without files is refused") {
  const Files files;
  const nn::Sequential model = network();
  const auto refused = [&](const std::string& text) {
    const std::string path = files.write("m.weights.json", text);
    CHECK_THROWS_WITH_AS(model.load_weights(path), Contains("m.weights.json"), IOError);
  };
  refused("{\"weight_map\": {\"/vars\": \"../x.weights.h5\"}}");
  refused("{\"weight_map\": 3}");
  refused("{}");
  refused("[");
}
