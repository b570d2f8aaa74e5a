#include "../../hdf5.hpp"
#include "../../ops/check.hpp"
#include "../../sanitizers.hpp"
#include "../data/files.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/core/loading.hpp>

#include <filesystem>
#include <fstream>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor;

TEST_CASE("weights that a file will set share zeros until they are assigned") {
  const nn::Dense first(3, {.bias_initializer = "ones"}), second(3), later(3);
  {
    const nn::weight_loading_scope loading(1000);
    first.build(ktape::Shape{2});
    second.build(ktape::Shape{2});
    CHECK(first.kernel().value().raw() == second.kernel().value().raw());
    CHECK(values(first.bias()) == std::vector<double>{0, 0, 0});
    first.bias().assign(K::constant({1, 2, 3}));
    CHECK(values(first.bias()) == std::vector<double>{1, 2, 3});
    CHECK(values(second.bias()) == std::vector<double>{0, 0, 0});
  }
  K::update_add(second.kernel(), K::ones({2, 3}));
  CHECK(K::sum(second.kernel()).item() == 6);
  CHECK(K::sum(first.kernel()).item() == 0);
  later.build(ktape::Shape{2});
  CHECK(K::sum(K::abs(later.kernel())).item() > 0);
}

TEST_CASE("an assigned tensor takes the place of the zeros without a copy") {
  const nn::weight_loading_scope loading(1000);
  const nn::Dense layer(3);
  layer.build(ktape::Shape{2});
  const Tensor value = K::ones({2, 3});
  layer.kernel().assign(value);
  CHECK(layer.kernel().value().raw() == value.raw());
}

#ifndef KTAPE_TESTS_SANITIZED  // sanitizers take memory, too
namespace {

/// Returns a figure of this process in bytes, such as VmRSS, the memory in use, or VmHWM, the most so far.
double memory_of_process(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name + ':')) return std::stod(line.substr(name.size() + 1)) * 1024;
  return 0;
}

/// Returns the most memory that loading a file takes, in bytes; 0 where the system does not tell.
double most_memory_of_loading(const std::string& path) {
  ktape::empty_cache();
  std::ofstream forget("/proc/self/clear_refs");
  if (!(forget << 5 << std::flush)) return 0;
  const double before = memory_of_process("VmRSS");
  const nn::Model model = nn::load_model(path);
  return memory_of_process("VmHWM") - before;
}

}  // namespace

TEST_CASE("a model that is loaded takes the memory of its weights once, in every format") {
  constexpr double megabyte = 1 << 20;
  const Files folder;
  const std::string in = folder.folder() + '/';
  std::filesystem::create_directory(in + "tfjs");
  std::vector<std::string> files = {in + "model.ktape", in + "tfjs/model.json"};
  if (has_hdf5) files.insert(files.end(), {in + "model.keras", in + "model.h5"});
  {
    const nn::Sequential model({nn::Input({2048}), nn::Dense(2048), nn::Dense(2048)});
    model.compile({.optimizer = "adam", .loss = "mse"});
    model.train_on_batch(K::ones({1, 2048}), K::ones({1, 2048}));
    for (const std::string& file : files) model.save(file);
  }
  for (const std::string& file : files) {
    INFO(file);
    nn::load_model(file);  // libhdf5 comes into memory with the first file
    const double weights = (file.ends_with("tfjs/model.json") ? 32 : 96) * megabyte;
    CHECK(most_memory_of_loading(file) < 1.2 * weights);
  }
}
#endif
