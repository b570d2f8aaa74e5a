#include "../../hdf5.hpp"
#include "../../ops/check.hpp"
#include "../data/files.hpp"
#include "../files/torch_files.hpp"

#include <ktape/ktape.hpp>

#include <algorithm>

namespace nn = ktape::nn;
using doctest::Contains;

namespace {

/// Returns the listed tensor whose name ends so.
nn::ListedTensor ending(const nn::FileListing& listing, const std::string& end) {
  for (const nn::ListedTensor& tensor : listing.tensors)
    if (tensor.name.ends_with(end)) return tensor;
  FAIL("no tensor " << end << " in\n" << to_string(listing));
  return {};
}

}  // namespace

TEST_CASE("list_file shows layers, shapes, dtypes and sizes of each format" * needs_hdf5) {
  const Files files;
  const ktape::Tensor in = nn::Input({3});
  const nn::Sequential inner({nn::Input({3}), nn::Dense(4, {.name = "deep"})}, {.name = "inner"});
  const nn::Model model(in, nn::Dense(2, {.name = "top"})(inner(in)));
  for (const auto& one : std::vector<std::pair<std::string, std::string>>{{"m.keras", "dense/vars/0"},
                                                                          {"m.h5", "top/kernel:0"},
                                                                          {"m.ktape", "top/kernel"},
                                                                          {"model.json", "top/kernel"}}) {
    const auto& file = one.first;
    const auto& end = one.second;
    CAPTURE(file);
    model.save(files.folder() + '/' + file);
    const nn::FileListing listing = nn::list_file(files.folder() + '/' + file);
    const auto has = [&](const char* name, const char* class_name) {
      const auto layer = std::pair<std::string, std::string>(name, class_name);
      return std::find(listing.layers.begin(), listing.layers.end(), layer) != listing.layers.end();
    };
    CHECK(has("top", "Dense"));
    CHECK(has("inner", "Sequential"));
    CHECK(has("inner/deep", "Dense"));
    const nn::ListedTensor kernel = ending(listing, end);
    CHECK(kernel.shape == ktape::Shape{4, 2});
    CHECK(kernel.dtype == "float32");
    CHECK(kernel.bytes == 32);
  }
  for (const char* file : {"w.weights.h5", "w.npz", "w.safetensors", "w.weights.json"}) {
    CAPTURE(file);
    model.save_weights(files.folder() + '/' + file);
    const nn::FileListing listing = nn::list_file(files.folder() + '/' + file);
    CHECK(std::count_if(listing.tensors.begin(), listing.tensors.end(), [](const auto& tensor) {
            return tensor.shape == ktape::Shape{4, 2};
          }) == 1);
  }
  model.export_to(files.folder() + "/m.onnx");
  const nn::FileListing onnx = nn::list_file(files.folder() + "/m.onnx");
  CHECK(ending(onnx, "top/kernel").shape == ktape::Shape{4, 2});
  CHECK(to_string(onnx).find("MatMul") != std::string::npos);
  CHECK_THROWS_WITH_AS(nn::list_file("m.xyz"), Contains("received path='m.xyz'"), ktape::ValueError);
  CHECK_THROWS_WITH_AS(nn::list_file("missing.keras"), Contains("missing.keras"), ktape::IOError);
}

TEST_CASE("list_file shows the tensors of PyTorch") {
  if (torch_files().empty()) return;
  const nn::FileListing listing = nn::list_file(torch_files() + "/state.pt");
  CHECK(ending(listing, "fc.weight").bytes == 24);
  CHECK(to_string(listing).find("tensors (7)") != std::string::npos);
}
