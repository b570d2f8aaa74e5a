#include <ktape/autograd/base/error.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>

#include "../memory.hpp"
#include "loaders.hpp"

// seeds FOLDER   writes valid contents and bombs to FOLDER/<loader>/<number>, for the fuzzer to begin with
// seeds          loads that, and many contents that are nearly that; bombs must be refused without much
// memory
namespace {

/// Returns the content with a few bytes changed, taken away, doubled, or cut off.
std::string damaged(std::string content, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  for (std::size_t changes = 1 + below(4); changes-- > 0;) {
    const std::size_t at = below(content.size()),
                      length = below(std::min<std::size_t>(16, content.size() - at));
    switch (below(5)) {
      case 0:
        content.erase(at, length);
        break;
      case 1:
        content.insert(at, content.substr(at, length));
        break;
      case 2:
        content.resize(at);
        break;
      default:
        if (!content.empty())
          content[at] = static_cast<char>(below(2) ? random() : "\0\xff\x7f\x80"[below(4)]);
    }
  }
  return content;
}

/// Checks that a bomb is an error that takes a limited amount of memory.
void check_refused(const Loader& loader, const std::string& path, const std::string& bomb) {
  std::ofstream(path, std::ios::binary) << bomb;
  bool refused = false;
  try {
    loader.load(path);
  } catch (const ktape::Error&) {
    refused = true;
  }
  const std::int64_t megabytes = peak_growth([&] { loader.load(path); });
  if (refused && megabytes < 700) return;
  std::cout << loader.name << ": a bomb " << (refused ? "is refused, and takes " : "is loaded, and takes ")
            << megabytes << " MB\n";
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  std::string name = (fs::temp_directory_path() / "ktape-seeds-XXXXXX").string();
  if (!mkdtemp(name.data())) return 1;
  const fs::path folder = name;
  std::mt19937 random(1);
  for (const Loader& loader : loaders()) {
    const std::string path = folder / loader.file;
    fs::create_directories(fs::path(path).parent_path());
    std::size_t number = 0;
    const auto keep = [&](const std::string& content) {
      const fs::path out = fs::path(argv[1]) / loader.name;
      fs::create_directories(out);
      std::ofstream(out / std::to_string(number++), std::ios::binary) << content;
    };
    const std::vector<std::string> seeds = loader.seeds(path);
    const std::vector<std::string> bombs = loader.bombs ? loader.bombs(path) : std::vector<std::string>();
    if (argc > 1) {
      for (const auto& contents : {seeds, bombs})
        for (const std::string& content : contents) keep(content);
    } else {
      for (const std::string& bomb : bombs) check_refused(loader, path, bomb);
      for (const std::string& seed : seeds) {
        std::ofstream(path, std::ios::binary) << seed;
        loader.load(path);
        for (int i = 0; i < 400; ++i) load_content(loader, folder, damaged(seed, random));
      }
    }
    std::cout << loader.name << ": " << seeds.size() << " seeds, " << bombs.size() << " bombs\n";
  }
  fs::remove_all(folder);
}
