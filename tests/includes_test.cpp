#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

/// The include graph of the library against the floors in CONTRIBUTING.md.
namespace {

struct Floors {
  std::map<std::string, int> level;  ///< the line of each folder, counted from the bottom
  std::set<std::pair<std::string, std::string>> neighbours;  ///< pairs that may include each other
};

/// Reads the list of folders in the block ```floors of CONTRIBUTING.md.
Floors floors() {
  Floors floors;
  std::ifstream file("CONTRIBUTING.md");
  std::string line;
  while (std::getline(file, line) && line != "```floors") continue;
  for (int level = 0; std::getline(file, line) && line != "```"; ++level) {
    std::istringstream words(line);
    std::string last;
    bool joins = false;
    for (std::string word; words >> word;) {
      if (word == "<->") {
        joins = true;
        continue;
      }
      floors.level[word] = level;
      if (std::exchange(joins, false))
        floors.neighbours.insert({last, word}), floors.neighbours.insert({word, last});
      last = word;
    }
  }
  return floors;
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// Calls f with each source or header and each of the library's headers that it includes.
template <class F>
void each_include(F&& f) {
  const std::string begin = "#include <ktape/";
  for (const char* top : {"autograd", "ops", "nn"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) {
      const std::string path = entry.path().string();
      if (!path.ends_with(".hpp") && !path.ends_with(".cpp") && !path.ends_with(".h")) continue;
      std::ifstream file(path);
      for (std::string line; std::getline(file, line);)
        if (line.starts_with(begin)) f(path, line.substr(begin.size(), line.find('>') - begin.size()));
    }
}

}  // namespace

TEST_CASE("an include leads to the folder of the file or to a lower floor of CONTRIBUTING.md") {
  const Floors house = floors();
  REQUIRE(house.level.size() > 20);
  each_include([&](const std::string& path, const std::string& header) {
    const std::string from = folder_of(path), to = folder_of(header);
    const bool known = house.level.contains(from) && house.level.contains(to);
    CHECK_MESSAGE(known, path, " or ", header, " is in a folder that has no floor");
    if (known && from != to && !house.neighbours.contains({from, to}))
      CHECK_MESSAGE(house.level.at(from) > house.level.at(to), path, " includes ", header,
                    " of no lower floor");
  });
}
