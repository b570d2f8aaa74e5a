#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

/// The include graph of the library against the floors in CONTRIBUTING.md, and the tests against the sources.
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

/// Returns the folder of a file; a folder's `internal/` counts as the folder.
std::string folder_of(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/')), internal = "/internal";
  return folder.ends_with(internal) ? folder.substr(0, folder.size() - internal.size()) : folder;
}

bool is_internal(const std::string& header) { return header.find("/internal/") != std::string::npos; }

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

TEST_CASE("a header in internal/ is included only by files of its folder and of the folders in that") {
  each_include([](const std::string& path, const std::string& header) {
    const std::string from = folder_of(path), to = folder_of(header);
    if (is_internal(header))
      CHECK_MESSAGE((from == to || from.starts_with(to + '/')), path, " includes ", header,
                    " of another folder");
  });
}

TEST_CASE("a public header includes no internal header") {
  std::set<std::string> unread{"ktape.hpp"}, read;
  const std::string begin = "#include <ktape/";
  while (!unread.empty()) {
    const std::string path = unread.extract(unread.begin()).value();
    CHECK_MESSAGE(!is_internal(path), path, " is internal and ktape.hpp includes it");
    read.insert(path);
    std::ifstream file(path);
    REQUIRE_MESSAGE(file, path);
    for (std::string line; std::getline(file, line);)
      if (line.starts_with(begin)) {
        const std::string header = line.substr(begin.size(), line.find('>') - begin.size());
        if (!read.contains(header)) unread.insert(header);
      }
  }
  CHECK(read.size() > 50);
}

TEST_CASE("kernels include nothing that knows tensors, ops nothing of nn, and nn no kernels") {
  each_include([](const std::string& path, const std::string& header) {
    if (!path.starts_with("nn/")) CHECK_MESSAGE(!header.starts_with("nn/"), path, " includes ", header);
    if (path.starts_with("ops/kernels/"))
      CHECK_MESSAGE((header.starts_with("ops/kernels/") || header.starts_with("autograd/base/")), path,
                    " includes ", header);
    if (path.starts_with("nn/"))
      CHECK_MESSAGE(!header.starts_with("ops/kernels/"), path, " includes ", header);
  });
}

TEST_CASE("the vectors of SIMD reach just the sources that CMakeLists.txt compiles for each processor") {
  std::map<std::string, std::set<std::string>> includes;
  each_include([&](const std::string& path, const std::string& header) { includes[path].insert(header); });
  std::set<std::string> reached{"ops/kernels/simd/vector.hpp"};  // all files that include it, directly or not
  for (std::size_t before = 0; before != reached.size();) {
    before = reached.size();
    for (const auto& [path, headers] : includes)
      for (const std::string& header : headers)
        if (reached.contains(header)) reached.insert(path);
  }
  std::ifstream file("CMakeLists.txt");
  const std::string cmake(std::istreambuf_iterator<char>(file), {});
  const std::string begin = "<ktape/ops/(";
  const std::size_t at = cmake.find(begin) + begin.size();
  std::istringstream names(cmake.substr(at, cmake.find(')', at) - at));
  std::set<std::string> doors;
  for (std::string name; std::getline(names, name, '|');) doors.insert("ops/" + name + ".hpp");
  REQUIRE(doors.size() == 3);
  int sources = 0;
  for (const std::string& path : reached) {
    CHECK_MESSAGE(!path.starts_with("autograd/"), path, " depends on the processor");
    if (!path.starts_with("nn/") || path.starts_with("nn/distributed/")) continue;
    CHECK_MESSAGE(path.ends_with(".cpp"), path, " is no source and depends on the processor");
    bool direct = false;
    for (const std::string& door : doors) direct = direct || includes[path].contains(door);
    CHECK_MESSAGE(direct, path, " depends on the processor and includes none of the three headers itself");
    ++sources;
  }
  CHECK(sources > 0);
}

TEST_CASE("each source of nn has a test file with the source's name") {
  // Sources that run over MPI: tests/nn/distributed tests them together, in several processes.
  const std::set<std::string> in_processes{
      "nn/distributed/internal/exchange.cpp", "nn/distributed/internal/world.cpp",
      "nn/distributed/message_sums.cpp", "nn/distributed/shared_sums.cpp",
      "nn/training/internal/distributed_training.cpp"};
  std::set<std::string> without;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("nn")) {
    const std::string source = entry.path().string();
    if (!source.ends_with(".cpp")) continue;
    const std::string test = "tests/" + source.substr(0, source.size() - 4) + "_test.cpp";
    if (!std::filesystem::exists(test)) without.insert(source);
  }
  for (const std::string& source : without)
    CHECK_MESSAGE(in_processes.contains(source), source, " has no test file of its name");
  for (const std::string& source : in_processes)
    CHECK_MESSAGE(without.contains(source), source, " is no exception any more");
}
