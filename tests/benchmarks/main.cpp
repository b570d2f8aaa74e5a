// Usage: ktape_bench [only-this-workload]
#include "report.hpp"

int main(int argc, char** argv) {
  if (argc > 1) bench::only = argv[1];
  for (auto run : bench::groups()) run();
}
