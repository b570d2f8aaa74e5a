// Runs the golden vectors of keras.ops: values, gradients and symbolic forms, in float32 and float64; see
// golden_main.hpp. KTAPE_GOLDEN_OPS names another folder to read.
#include <map>

#include "golden_main.hpp"
#include "golden_ops_runner/check.hpp"
#include "golden_ops_runner/families.hpp"

namespace {

void run(const std::string& folder, const std::string& only, GoldenTotals& totals) {
  totals.counts_unknown = true;
  const golden_ops::Table table = golden_ops::all_families();
  std::map<std::string, int> passed, cases;
  for (const golden_ops::Case& c : golden_ops::read_cases(folder)) {
    if (c.id.find(only) == std::string::npos) continue;
    if (!table.count(c.op)) {
      ++totals.unknown[c.op];
      continue;
    }
    std::vector<std::string> problems;
    for (const char* floatx : {"float32", "float64"}) {
      if (c.tags.count("float32-only") && std::string(floatx) == "float64") continue;
      const std::vector<std::string> found = golden_ops::check_case(c, table, floatx);
      ++cases[floatx], passed[floatx] += found.empty();
      problems.insert(problems.end(), found.begin(), found.end());
    }
    totals.count(problems);
  }
  for (const auto& [floatx, count] : cases)
    std::printf("%s: %d of %d cases passed\n", floatx.c_str(), passed[floatx], count);
}

}  // namespace

int main(int argc, char** argv) {
  return golden_main(argc, argv, "golden_ops", "KTAPE_GOLDEN_OPS", KTAPE_GOLDEN_OPS_DIR, run);
}
