#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <ktape/ops/fusion/element_queue.hpp>
#include <ktape/ops/fusion/fusion_scope.hpp>

#include <cstdlib>

/// Runs the tests. With KTAPE_TEST_FUSED=1 in the environment, the element-wise ops of the main thread wait for
/// each other, whatever their size, in all tests but those of the waiting itself and of memory: the tests then
/// check that no op sees the difference.
int main(int count, char** arguments) {
  const bool fused = std::getenv("KTAPE_TEST_FUSED");
  if (fused) ktape::fusion::set_smallest_result(1);
  const ktape::FusionScope scope(fused);
  doctest::Context tests(count, arguments);
  if (fused) tests.addFilter("source-file-exclude", "*/ops/fusion/*,*memory_test.cpp");
  return tests.run();
}
