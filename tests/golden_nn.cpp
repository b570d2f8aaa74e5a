// Runs the golden vectors of nn, in float64 and float32; see golden_main.hpp. KTAPE_GOLDEN_NN names another
// folder to read.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <ktape/ops/random/random.hpp>
#include <ktape/ops/settings/config.hpp>

#include "golden_main.hpp"
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

void run_cases(const std::string& folder, const std::string& only, GoldenTotals& totals) {
  const Table table = all_kinds();
  totals.counts_unknown = true;
  for (const Config& json : read_cases(folder)) {
    if (json.at("id").string().find(only) == std::string::npos) continue;
    std::string name;
    const Runner* runner = runner_of(table, json, name);
    if (!runner) {
      ++totals.unknown[name];
      continue;
    }
    std::vector<std::string> problems = check_case(json, *runner, "float64");
    for (std::string& problem : check_case(json, *runner, "float32")) problems.push_back(std::move(problem));
    totals.count(problems);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return golden_main(argc, argv, "golden_nn", "KTAPE_GOLDEN_NN", KTAPE_GOLDEN_NN_DIR, run_cases);
}
