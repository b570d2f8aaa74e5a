#include "loaders.hpp"

#include <ktape/ktape.hpp>
#include <ktape/ops/settings/internal/config_file.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "../nn/data/archives.hpp"
#include "../nn/data/image_bytes.hpp"
#include "../nn/files/torch_bytes.hpp"
#include "../nn/saving/onnx/onnx_bytes.hpp"
#include "hdf5_bomb.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::Tensor;

namespace {

using Seeds = std::vector<std::string>;

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns the bytes that `write` writes to the path.
template <class F>
std::string written(const std::string& path, F&& write) {
  write(path);
  return content_of(path);
}

const std::string pixels(8 * 8 * 3, '\x55');

const std::vector<std::pair<std::string, Tensor>>& arrays() {
  static const std::vector<std::pair<std::string, Tensor>> all{
      {"dense/kernel", K::ones({4, 3})}, {"dense/bias", K::zeros({3}, {.dtype = "float16"})}};
  return all;
}

/// Returns a model with a layer of each kind of weights.
nn::Model network() {
  Tensor in = nn::Input({4, 3}, {.name = "in"});
  Tensor h = nn::LSTM(2, {.return_sequences = true, .name = "lstm"})(in);
  h = nn::BatchNormalization({.name = "norm"})(nn::Add({.name = "add"})({h, h}));
  nn::Model model(in,
                  nn::Dense(2, {.activation = "softmax", .name = "dense"})(nn::Flatten({.name = "flat"})(h)),
                  {.name = "network"});
  model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"accuracy"}});
  return model;
}

Seeds saved_models(const std::string& path) {
  const nn::Sequential small({nn::Input({3}), nn::Dense(2, {.name = "dense"})});
  Seeds seeds;
  for (const nn::Model& model : {network(), nn::Model(small)})
    seeds.push_back(written(path, [&](const std::string& to) { model.save(to); }));
  return seeds;
}

Seeds saved_weights(const std::string& path) {
  return {written(path, [](const std::string& to) { network().save_weights(to); })};
}

void load_model(const std::string& path) { nn::load_model(path); }
void load_weights(const std::string& path) {
  static const nn::Model model = network();
  model.load_weights(path);
}

/// Loads a model from a model.json and, after a zero byte, its only file of weights.
void load_tfjs(const std::string& path) {
  const std::string both = content_of(path), json = both.substr(0, both.find('\0'));
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::ofstream(folder / "group1-shard1of1.bin", std::ios::binary)
      << (json.size() < both.size() ? both.substr(json.size() + 1) : "");
  std::ofstream(path, std::ios::binary) << json;
  nn::load_model(path);
}
Seeds tfjs_seeds(const std::string& path) {
  network().save(path);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return {content_of(path) + '\0' + content_of(folder / "group1-shard1of1.bin")};
}

std::string idx() { return std::string("\0\0\x08\x03\0\0\0\2\0\0\0\2\0\0\0\2abcdefgh", 24); }

// --- Contents that inflate to hundreds of megabytes ---------------------------------------------------------------

constexpr std::uint32_t many = 400;  // megabytes
constexpr std::string_view zero("\0", 1);

std::string zeros_npy() { return npy_array("|u1", '(' + std::to_string(many) + ", 1048576)", ""); }
Seeds gzip_of(std::string_view text, std::string_view before = "") {
  return {gzip(bomb(many, text, before))};
}

Seeds npz_bombs(const std::string&) {
  std::vector<Packed> several;
  for (char name = 'a'; name < 'u'; ++name)
    several.push_back(packed({name}, bomb(20, zero, npy_array("|u1", "(20, 1048576)", ""))));
  return {zip({packed("zeros.npy", bomb(many, zero, zeros_npy()))}), zip(several)};
}

Seeds keras_bombs(const std::string&) {
  return {zip({packed("config.json", bomb(many, " "))}),
          zip({{"config.json", "{}"}, packed("model.weights.h5", bomb(many, zero))})};
}

/// Returns files whose pickle, or whose storage, inflates to hundreds of megabytes, and a small pickle of a large view.
Seeds torch_bombs(const std::string&) {
  const std::string scalar("K\0))", 4), huge("K\0J\0\0\0\x40\x85K\0\x85", 11);
  const auto file = [](const std::string& place) {
    return "\x80\x02}" + pickled_text("w") + pickled_tensor("FloatStorage", "0", 1, place) + "s.";
  };
  return {zip({packed("archive/data.pkl", bomb(many, ")", "\x80\x02"))}),
          zip({{"archive/data.pkl", file(scalar)}, packed("archive/data/0", bomb(many, zero))}),
          zip({{"archive/data.pkl", file(huge)}, {"archive/data/0", torch_numbers(1)}})};
}

/// Returns models of the library's own, with a loop among them.
Seeds onnx_seeds(const std::string& path) {
  Seeds seeds{onnx_model()};
  const nn::Sequential masked({nn::Input({3, 2}), nn::Masking(), nn::GRU(2)});
  for (const nn::Model& model : {network(), nn::Model(masked)})
    seeds.push_back(written(path, [&](const std::string& to) { model.export_to(to); }));
  return seeds;
}

/// Removes the loaders of files that are in HDF5, or contain HDF5, from a build without HDF5.
std::vector<Loader> without_missing_formats(std::vector<Loader> all) {
  if (!hdf5_is_built())
    std::erase_if(all, [](const Loader& x) {
      const std::string_view name = x.name;
      return name == "keras" || name == "h5" || name == "weights_h5";
    });
  return all;
}

}  // namespace

const std::vector<Loader>& loaders() {
  static const std::vector<Loader> all = without_missing_formats({
      {"csv", "table.csv", [](const std::string& path) { data::load_csv(path); },
       [](const std::string&) -> Seeds { return {"a,b\n1,2.5\n-3e4,\"5\"\n"}; },
       [](const std::string&) -> Seeds { return gzip_of("1\n"); }},
      {"idx", "images-idx3-ubyte", [](const std::string& path) { data::load_idx(path); },
       [](const std::string&) -> Seeds { return {idx()}; },
       [](const std::string&) -> Seeds {
         return gzip_of(zero, std::string("\0\0\x08\2", 4) + big(many) + big(1u << 20));
       }},
      {"cifar", "test_batch.bin",
       [](const std::string& path) { data::load_cifar10(path.substr(0, path.rfind('/')), "test"); },
       [](const std::string&) -> Seeds { return {'\3' + std::string(3072, '\x11')}; }},
      {"png", "image.png", [](const std::string& path) { data::load_image(path); },
       [](const std::string&) -> Seeds {
         return {png(pixels, 8, 8, PNG_FORMAT_RGB), png(pixels, 8, 8, PNG_FORMAT_GRAY)};
       },
       [](const std::string&) -> Seeds { return {png_bomb(20000)}; }},
      {"jpeg", "image.jpg", [](const std::string& path) { data::load_image(path); },
       [](const std::string&) -> Seeds {
         return {jpeg(pixels, 8, 8, 3), jpeg(pixels, 8, 8, 3, true)};
       }},
      {"ppm", "image.ppm", [](const std::string& path) { data::load_image(path); },
       [](const std::string&) -> Seeds {
         return {"P6\n8 8\n255\n" + pixels, "P5 2 2 255\nabcd"};
       }},
      {"text", "lines.txt", [](const std::string& path) { data::load_text_lines(path); },
       [](const std::string&) -> Seeds { return {"one\ntwo\r\n\xc3\xa4\n"}; },
       [](const std::string&) -> Seeds { return gzip_of("a"); }},
      {"npy", "array.npy", [](const std::string& path) { data::load_npy(path); },
       [](const std::string& path) -> Seeds {
         return {written(path, [](const std::string& to) { data::save_npy(to, arrays()[0].second); })};
       },
       [](const std::string&) -> Seeds { return gzip_of(zero, zeros_npy()); }},
      {"npz", "arrays.npz", [](const std::string& path) { data::load_npz(path); },
       [](const std::string& path) -> Seeds {
         return {written(path, [](const std::string& to) { data::save_npz(to, arrays()); })};
       },
       npz_bombs},
      {"safetensors", "tensors.safetensors", [](const std::string& path) { nn::load_safetensors(path); },
       [](const std::string& path) -> Seeds {
         return {written(path, [](const std::string& to) {
           nn::save_safetensors(to, arrays(), {{"a", "b"}});
         })};
       }},
      {"onnx", "model.onnx", [](const std::string& path) { nn::onnx::load(path); }, onnx_seeds},
      {"torch", "model.pt", [](const std::string& path) { data::load_torch(path); },
       [](const std::string&) -> Seeds {
         return {torch_file(), torch_checkpoint()};
       },
       torch_bombs},
      {"ktape", "model.ktape", load_model, saved_models},
      {"keras", "model.keras", load_model, saved_models, keras_bombs},
      {"h5", "model.h5", load_model, saved_models, hdf5_bombs},
      {"weights_h5", "model.weights.h5", load_weights, saved_weights, hdf5_bombs},
      {"tfjs", "model.json", load_tfjs, tfjs_seeds},
      {"model_json", "architecture.json",
       [](const std::string& path) { nn::model_from_json(content_of(path)); },
       [](const std::string&) -> Seeds { return {network().to_json()}; }},
      {"keras_json", "keras.json", [](const std::string& path) { K::parse_config(content_of(path), path); },
       [](const std::string&) -> Seeds {
         return {
             R"({"backend": "xtensor", "epsilon": 1e-07, "floatx": "float32", "image_data_format": "channels_last"})"};
       }},
  });
  return all;
}

void load_content(const Loader& loader, const std::string& folder, const std::string& content) {
  const std::string path = folder + '/' + loader.file;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  try {
    loader.load(path);
  } catch (const ktape::Error&) {
  }
}
