#include <cstdio>
#include <filesystem>
#include <ktape/ktape.hpp>
namespace nn = ktape::nn;

// A model is saved and read, also in the format for which the library loads a module.
int main() {
  const auto path = std::filesystem::temp_directory_path() / "ktape_install_test.keras";
  nn::Sequential model({nn::Input({3}), nn::Dense(2)});
  model.save(path);
  const auto x = ktape::backend::ones({1, 3});
  const bool same = nn::load_model(path)(x).item<float>(0, 1) == model(x).item<float>(0, 1);
  std::filesystem::remove(path);
  std::puts(same ? "ktape works" : "wrong result");
  return same ? 0 : 1;
}
