// Usage: ktape_bench [WORKLOAD [POLICY]]; the dtype policy holds for workloads with layers.
#include <ktape/ktape.hpp>
#include "report.hpp"

int main(int argc, char** argv) {
  if (argc > 1) bench::only = argv[1];
  if (argc > 2) ktape::nn::set_dtype_policy(argv[2]);
  for (auto run : bench::groups()) run();
}
