#include "../../hdf5.hpp"
#include "../../ops/check.hpp"
#include "../data/files.hpp"

#include <ktape/ktape.hpp>

#include <sstream>

/// Errors of loading and saving name the file, in every format.
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Error, ktape::IOError, ktape::ValueError;

namespace {

struct FormatCase {
  std::string file;
  bool has_model, has_weights;  ///< whether load_model and load_weights read the format
};

std::vector<FormatCase> formats() {
  return {{"m.ktape", true, true},        {"m.keras", true, true},         {"m.h5", true, true},
          {"m.hdf5", true, true},         {"tfjs/model.json", true, true}, {"m.weights.h5", false, true},
          {"m.safetensors", false, true}, {"m.npz", false, true}};
}

nn::Sequential network(int units = 3) {
  return nn::Sequential(
      {nn::Input({2}), nn::Dense(units, {.name = "hidden"}), nn::Dense(1, {.name = "out"})});
}

void save(const nn::Model& model, const FormatCase& format, const std::string& path) {
  if (format.has_model) model.save(path);
  else model.save_weights(path);
}

void check_load_errors(const FormatCase& format, const std::string& path) {
  INFO(path);
  if (format.has_model) CHECK_THROWS_WITH_AS(nn::load_model(path), Contains(path.c_str()), IOError);
  if (format.has_weights) CHECK_THROWS_WITH_AS(network().load_weights(path), Contains(path.c_str()), IOError);
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a file that is missing, empty, cut off or of another kind is named in the error" * needs_hdf5) {
  for (const FormatCase& format : formats()) {
    const Files files;
    const std::string path = files.folder() + '/' + format.file;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    check_load_errors(format, path);
    save(network(), format, path);
    const std::string whole = content(path);
    for (const std::string& bytes : {std::string(), std::string("neither JSON nor an archive"),
                                     whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 1)})
      check_load_errors(format, files.write(format.file, bytes));
  }
}

TEST_CASE("the weights of another model are refused with the file's name" * needs_hdf5) {
  for (const FormatCase& format : formats()) {
    const Files files;
    const std::string path = files.folder() + '/' + format.file;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    save(network(), format, path);
    INFO(path);
    const nn::Sequential wider = network(4),
                         deeper({nn::Input({2}), nn::Dense(3), nn::Dense(1), nn::Dense(1)});
    CHECK_THROWS_WITH_AS(wider.load_weights(path), Contains(path.c_str()), ValueError);
    CHECK_THROWS_WITH_AS(deeper.load_weights(path), Contains(path.c_str()), ValueError);
  }
}

TEST_CASE("a file that cannot be written is named in the error, or its folder") {
  for (const FormatCase& format : formats()) {
    const Files files;
    const std::string path = files.write("no_folder", "a file") + '/' + format.file;
    INFO(path);
    CHECK_THROWS_WITH_AS(save(network(), format, path), Contains(path.substr(0, path.rfind('/')).c_str()),
                         IOError);
  }
}

TEST_CASE("an error about a config names the file, in every format" * needs_hdf5) {
  for (const FormatCase& format : formats()) {
    if (!format.has_model) continue;
    const Files files;
    const std::string path = files.folder() + '/' + format.file;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    network().save(path);
    INFO(path);
    const std::string whole = content(path);
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {"\"linear\"", "\"linaer\""}, {"\"Dense\"", "\"Dence\""}, {"\"units\"", "\"unitz\""}}) {
      std::string other = whole;
      bool found = false;
      for (std::size_t at = other.find(from); at != std::string::npos; at = other.find(from, at + 1))
        other.replace(at, to.size(), to), found = true;
      if (!found) continue;  // a compressed config
      CAPTURE(to);
      CHECK_THROWS_WITH_AS(nn::load_model(files.write(format.file, other)), Contains(path.c_str()), Error);
    }
  }
}
