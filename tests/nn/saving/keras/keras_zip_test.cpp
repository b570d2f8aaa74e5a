#include "../../../hdf5.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/files/zip.hpp>
#include <ktape/nn/saving/keras/keras_zip.hpp>

#include "../../../memory.hpp"
#include "../../../ops/check.hpp"
#include "../../data/files.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::IOError, ktape::Tensor;

namespace {

/// Returns the entries of the archive of a model.
std::vector<std::string> entries_of(const std::string& path) {
  std::vector<std::string> names;
  const ktape::data::ZipArchive archive("load_model", path);
  for (const ktape::data::ZipEntry& entry : archive.entries()) names.push_back(entry.name);
  return names;
}

}  // namespace

TEST_CASE("a Keras archive has metadata, config and weights, and gives the model again" * needs_hdf5) {
  const Files files;
  const std::string path = files.folder() + "/m.keras";
  const nn::Sequential model({nn::Input({4}), nn::Dense(3, {.activation = "tanh"})});
  model.compile({.optimizer = nn::Adam(0.25), .loss = "mse"});
  model.train_on_batch(K::ones({2, 4}), K::ones({2, 3}));
  model.save(path);
  CHECK(entries_of(path) == std::vector<std::string>{"metadata.json", "config.json", "model.weights.h5"});
  const nn::Model again = nn::load_model(path);
  const Tensor x = normal({2, 4}, 1, "float32");
  CHECK(values(again(x)) == values(model(x)));
  CHECK(again.optimizer().learning_rate().item<float>() == 0.25f);
  CHECK(again.optimizer().iterations().item<int>() == 1);
  CHECK(nn::load_model(path, {.compile = false}).get_weights().size() == 2);
}

TEST_CASE("an archive without its parts is an error that names them") {
  const Files files;
  const auto refused = [&](const std::vector<Packed>& entries, const char* text) {
    CHECK_THROWS_WITH_AS(nn::load_model(files.write("m.keras", zip(entries))), Contains(text), IOError);
  };
  refused({{.name = "metadata.json", .content = "{}"}}, "m.keras (without it)");
  refused({{.name = "config.json", .content = "[1]"}}, "config.json must be the config of a model: received");
  refused({{.name = "config.json", .content = "{}"}}, "a Keras model has a file model.weights.h5");
}

TEST_CASE("load_model: the JSON and the arrays of a Keras archive inflate up to their limits" * needs_hdf5) {
  const Files files;
  const auto load = [](const std::string& path) { nn::load_model(path); };
  const auto refused = [&](const std::string& name, const std::vector<Packed>& entries, const char* reason) {
    const std::string path = files.write(name, zip(entries));
    CHECK_THROWS_WITH_AS(load(path), Contains((path + " (entry " + reason).c_str()), IOError);
    CHECK(peak_growth([&] { load(path); }) < 100);
  };
  refused("config.keras", {packed("config.json", bomb(300, " "))},
          "config.json: to 314572800 bytes, more than ");
  // As far as arrays may, but not a text.
  refused("text.keras", {packed("config.json", bomb(40, " "))},
          "config.json: to 41943040 bytes, more than 4194304 of ");
  refused("weights.keras", {packed("config.json", bomb(1, " ")), packed("model.weights.h5", bomb(200, "a"))},
          "model.weights.h5: to 210763776 bytes, more than 67108864 of ");
  // What is said often may be long.
  nn::Sequential model({nn::Input({4})});
  for (int i = 0; i < 200; ++i) model.add(nn::Dropout(0.5));
  model.save(files.folder() + "/long.keras");
  const std::string config = model.to_json();
  REQUIRE(config.size() > 20 * deflated(config).size());
  std::vector<Packed> entries{{.name = "config.json", .content = config, .deflate = true}};
  CHECK_THROWS_WITH_AS(load(files.write("long.keras", zip(entries))), Contains("has a file model.weights.h5"),
                       IOError);
}
