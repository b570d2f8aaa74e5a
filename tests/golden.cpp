// Runs the golden vectors: values, gradients and second order of every op, in float64 and float32. A vector
// of an op that golden_runner does not know is a failure.
//
//     golden [--only=substring of an id]
//
// KTAPE_GOLDEN names another folder to read.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "golden_runner/check.hpp"
#include "golden_runner/families.hpp"

namespace {

golden::Table all_families() {
  golden::Table table;
  golden::add_elementwise(table);
  golden::add_activations(table);
  golden::add_reductions(table);
  golden::add_linalg(table);
  golden::add_indexing(table);
  golden::add_shape(table);
  golden::add_images(table);
  golden::add_convolution(table);
  golden::add_losses(table);
  golden::add_normalization(table);
  golden::add_pooling(table);
  golden::add_control_flow(table);
  golden::add_updates(table);
  golden::add_random(table);
  golden::add_attention(table);
  golden::add_rnn(table);
  golden::add_ctc(table);
  golden::add_sparse(table);
  golden::add_misc(table);
  return table;
}

int run(const std::string& only) {
  const char* folder = std::getenv("KTAPE_GOLDEN");
  const golden::Table table = all_families();
  int passed = 0, failed = 0;
  for (const golden::Case& c : golden::read_cases(folder ? folder : KTAPE_GOLDEN_DIR)) {
    if (c.id.find(only) == std::string::npos) continue;
    const std::vector<std::string> problems = table.knows(c)
                                                  ? golden::check_case(c, table)
                                                  : std::vector{c.id + ": the op " + c.op + " is unknown"};
    for (const std::string& problem : problems) std::printf("FAILED %s\n", problem.c_str());
    ++(problems.empty() ? passed : failed);
  }
  if (passed + failed == 0) std::printf("FAILED no case was found\n"), ++failed;
  std::printf("golden: %d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr char option[] = "--only=";
  std::string only;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], option, sizeof(option) - 1) != 0) {
      std::fprintf(stderr, "golden [--only=substring of an id]: received %s\n", argv[i]);
      return 2;
    }
    only = argv[i] + sizeof(option) - 1;
  }
  try {
    return run(only);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "golden: %s\n", error.what());
    return 1;
  }
}
