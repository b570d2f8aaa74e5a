// Runs the golden vectors of ops: values, gradients and second order of every op, in float64 and float32; see
// golden_main.hpp. KTAPE_GOLDEN names another folder to read.
#include "golden_main.hpp"
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

void run(const std::string& folder, const std::string& only, GoldenTotals& totals) {
  const golden::Table table = all_families();
  for (const golden::Case& c : golden::read_cases(folder)) {
    if (c.id.find(only) == std::string::npos) continue;
    totals.count(table.knows(c) ? golden::check_case(c, table)
                                : std::vector{c.id + ": the op " + c.op + " is unknown"});
  }
}

}  // namespace

int main(int argc, char** argv) {
  return golden_main(argc, argv, "golden", "KTAPE_GOLDEN", KTAPE_GOLDEN_DIR, run);
}
