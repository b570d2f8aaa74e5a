#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <string>
#include <vector>

/// The program that runs a set of golden vectors, for ops and for nn:
///
///     golden [--only=substring of an id]
///
/// The last line counts the cases. A case of an unknown name is a failure.
struct GoldenTotals {
  int passed = 0, failed = 0;
  bool counts_unknown = false;         ///< whether cases of unknown names are counted apart from failures
  std::map<std::string, int> unknown;  ///< the number of cases of each unknown name

  void count(const std::vector<std::string>& problems) {
    for (const std::string& problem : problems) std::printf("FAILED %s\n", problem.c_str());
    ++(problems.empty() ? passed : failed);
  }
};

/// Parses the command line, calls run(folder, substring of ids, totals), and prints the totals. `variable`
/// names the environment variable that replaces the folder. Returns the exit status.
template <class Run>
int golden_main(int argc, char** argv, const char* program, const char* variable, const char* folder,
                Run run) {
  constexpr char option[] = "--only=";
  std::string only;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], option, sizeof(option) - 1) != 0) {
      std::fprintf(stderr, "%s [--only=substring of an id]: received %s\n", program, argv[i]);
      return 2;
    }
    only = argv[i] + sizeof(option) - 1;
  }
  GoldenTotals totals;
  try {
    const char* given = std::getenv(variable);
    run(given ? given : folder, only, totals);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 1;
  }
  int unknown = 0;
  for (const auto& [name, count] : totals.unknown)
    std::printf("unknown %s: %d cases\n", name.c_str(), count), unknown += count;
  if (totals.passed + totals.failed + unknown == 0)
    std::printf("FAILED no case was found\n"), ++totals.failed;
  std::printf("%s: %d passed, %d failed", program, totals.passed, totals.failed);
  if (totals.counts_unknown) std::printf(", %d unknown", unknown);
  std::printf("\n");
  return totals.failed + unknown == 0 ? 0 : 1;
}
