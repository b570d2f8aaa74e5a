#include "../../ops/check.hpp"
#include "../data/files.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/saving/safetensors/safetensors.hpp>

/// NumPy (Debian's python3-numpy) reads files of the library, and writes files that the library reads.
namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::Tensor;

namespace {

using Tensors = std::vector<std::pair<std::string, Tensor>>;

/// Returns the arrays that the script calls `ARRAYS`.
Tensors arrays() {
  return {{"double/matrix", counted({2, 3})},      {"single", counted({5}, "float32")},
          {"half", counted({2, 2, 2}, "float16")}, {"brain", counted({2, 3}, "bfloat16")},
          {"long", counted({3}, "int64")},         {"int", counted({1, 4}, "int32")},
          {"short", counted({3}, "int16")},        {"byte", counted({3}, "int8")},
          {"unsigned", counted({300}, "uint8")},   {"flag", counted({3}, "bool")},
          {"number", counted({}, "float32")},      {"nothing", counted({0, 4})},
          {"\xc3\xa9", counted({1}, "float32")}};
}

bool has_numpy() {
  static const bool found = std::system("/usr/bin/python3 -c 'import numpy' > /dev/null 2>&1") == 0;
  if (!found) MESSAGE("skipped: there is no python3-numpy");
  return found;
}

void run_script(const char* what, const Files& files) {
  const std::string out = files.folder() + "/out.txt";
  const std::string command = std::string("/usr/bin/python3 tests/nn/saving/numpy_files.py ") + what + " '" +
                              files.folder() + "' > '" + out + "' 2>&1";
  const int status = std::system(command.c_str());
  std::ifstream file(out);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  REQUIRE_MESSAGE(status == 0, text);
}

void check_same(const Tensors& found) {
  const Tensors expected = arrays();
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(expected[i].first);
    CHECK(found[i].first == expected[i].first);
    CHECK(found[i].second.dtype() == expected[i].second.dtype());
    CHECK(found[i].second.shape() == expected[i].second.shape());
    CHECK(values(found[i].second) == values(expected[i].second));
  }
}

nn::Model network() {
  return nn::Sequential({nn::Input({6}), nn::Dense(8, {.name = "hidden"}),
                         nn::BatchNormalization({.name = "norm"}), nn::Dense(3, {.name = "scores"})});
}

}  // namespace

TEST_CASE("NumPy reads .npz, .safetensors and .ktape files, and files that NumPy changes are loaded") {
  if (!has_numpy()) return;
  const Files files;
  data::save_npz(files.folder() + "/ours.npz", arrays());
  nn::save_safetensors(files.folder() + "/ours.safetensors", arrays(), {{"made", "by \"ktape\"\n\xc3\xa9"}});
  const nn::Model model = network();
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.train_on_batch(K::ones({4, 6}), K::ones({4, 3}));
  model.save_weights(files.folder() + "/model.npz");
  model.save_weights(files.folder() + "/model.safetensors");
  model.save(files.folder() + "/model.ktape");
  run_script("check", files);
  for (const char* name : {"/changed.npz", "/changed.safetensors"}) {
    const nn::Model other = network();
    other.load_weights(files.folder() + name);
    CHECK(values(other.weights()[0].value()) == values(model.weights()[0].value()));
    CHECK(values(other.get_layer("scores").weights()[1].value()) == Values{1, 2, 3});
  }
}

TEST_CASE("NumPy's .npz files, and .safetensors from Python, are read") {
  if (!has_numpy()) return;
  const Files files;
  run_script("write", files);
  for (const char* name : {"/theirs.npz", "/compressed.npz", "/big.npz", "/columns.npz"}) {
    CAPTURE(name);
    check_same(data::load_npz(files.folder() + name));
  }
  check_same(nn::load_safetensors(files.folder() + "/theirs.safetensors"));
  CHECK(nn::load_safetensors_metadata(files.folder() + "/theirs.safetensors")[0].second ==
        "by NumPy \xc3\xa9");
}
