// Runs the golden vectors of nn, in float64 and float32.
//
//     golden_nn [--only=substring of an id]
//
// KTAPE_GOLDEN_NN names another folder to read. The last line counts the cases; one whose kind or class there
// is nothing for is unknown, which is a failure.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <ktape/ops/config.hpp>
#include <ktape/ops/random/random.hpp>

#include "golden_nn_runner/kinds.hpp"

namespace {

using golden_nn::Config, golden_nn::Run, golden_nn::Runner, golden_nn::Table, golden_nn::Value;

Table all_kinds() {
  Table table;
  golden_nn::add_functions(table);
  golden_nn::add_layers(table);
  golden_nn::add_losses(table);
  golden_nn::add_metrics(table);
  golden_nn::add_optimizers(table);
  golden_nn::add_utilities(table);
  return table;
}

std::vector<Config> read_cases(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Config> cases;
  for (const auto& file : files) {
    std::ifstream stream(file);
    const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    const Value all = ktape::nn::from_json(text);
    for (const Value& json : all.list()) cases.push_back(json.config());
  }
  return cases;
}

/// Returns the runner of a case; null for an unknown kind or class.
const Runner* runner_of(const Table& table, const Config& json, std::string& name) {
  for (const std::string& key : json.names()) {
    if (!json.at(key).is_string() || key == "id" || key == "error") continue;
    name = key + ' ' + json.at(key).string();
    if (const auto runner = table.find(name); runner != table.end()) return &runner->second;
    const auto runner = table.find(key);
    if (runner != table.end())
      return ktape::nn::is_registered(key, json.at(key).string()) ? &runner->second : nullptr;
  }
  return nullptr;
}

std::vector<std::string> check_case(const Config& json, const Runner& runner, const char* floatx) {
  ktape::backend::set_floatx(floatx);
  ktape::backend::set_random_seed(1);
  Run run(json, floatx);
  try {
    runner(run);
    if (run.error()) run.problem("an error is expected");
  } catch (const ktape::Error& error) {
    if (!run.error()) run.problem(error.what());
  }
  return run.finish();
}

int run_cases(const std::string& only) {
  const char* folder = std::getenv("KTAPE_GOLDEN_NN");
  const Table table = all_kinds();
  int passed = 0, failed = 0, unknown = 0;
  std::map<std::string, int> unknown_names;
  for (const Config& json : read_cases(folder ? folder : KTAPE_GOLDEN_NN_DIR)) {
    if (json.at("id").string().find(only) == std::string::npos) continue;
    std::string name;
    const Runner* runner = runner_of(table, json, name);
    if (!runner) {
      ++unknown;
      ++unknown_names[name];
      continue;
    }
    bool good = true;
    for (const char* floatx : {"float64", "float32"})
      for (const std::string& problem : check_case(json, *runner, floatx)) {
        std::printf("FAILED %s\n", problem.c_str());
        good = false;
      }
    ++(good ? passed : failed);
  }
  for (const auto& [name, count] : unknown_names) std::printf("unknown %s: %d cases\n", name.c_str(), count);
  if (passed + failed + unknown == 0) std::printf("FAILED no case was found\n"), ++failed;
  std::printf("golden_nn: %d passed, %d failed, %d unknown\n", passed, failed, unknown);
  return failed + unknown == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr char option[] = "--only=";
  std::string only;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], option, sizeof(option) - 1) != 0) {
      std::fprintf(stderr, "golden_nn [--only=substring of an id]: received %s\n", argv[i]);
      return 2;
    }
    only = argv[i] + sizeof(option) - 1;
  }
  try {
    return run_cases(only);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "golden_nn: %s\n", error.what());
    return 1;
  }
}
