#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>

#include "loaders.hpp"

// seeds FOLDER   writes what each loader takes to FOLDER/<loader>/<number>, for the fuzzer to begin with
// seeds          loads that, and many contents that are nearly that
namespace {

/// The content with a few bytes changed, taken away, doubled, or cut off.
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
    for (const std::string& seed : loader.seeds(path)) {
      if (argc > 1) {
        const fs::path out = fs::path(argv[1]) / loader.name;
        fs::create_directories(out);
        std::ofstream(out / std::to_string(number), std::ios::binary) << seed;
      } else {
        std::ofstream(path, std::ios::binary) << seed;
        loader.load(path);
        for (int i = 0; i < 400; ++i) load_content(loader, folder, damaged(seed, random));
      }
      ++number;
    }
    std::cout << loader.name << ": " << number << " seeds\n";
  }
  fs::remove_all(folder);
}
