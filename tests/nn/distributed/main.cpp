// The tests that several processes run together: mpirun -n 2 distributed_tests. Rank 0 reports.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <ktape/nn/distributed/distributed.hpp>

#include <fstream>

int main(int argc, char** argv) {
  ktape::nn::distributed::init({.timeout = 120});
  doctest::Context context(argc, argv);
  std::ofstream nowhere("/dev/null");
  if (!ktape::nn::distributed::first()) context.setCout(&nowhere);
  const int failed = context.run();
  if (failed && !ktape::nn::distributed::first())
    std::fprintf(stderr, "a test failed on rank %d\n", ktape::nn::distributed::rank());
  return failed;
}
