#pragma once
#include <ktape/ops/kernels/network/network.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Programs: networks that are ready to run.
namespace ktape::kernels {

/// One step of a program, for tables.
struct ProgramStep {
  std::string what;            ///< "convolution + sum + relu"
  std::string implementation;  ///< the name of the kernel
  double milliseconds = 0;     ///< the shortest measured time; 0 without measurements
  std::int64_t products = 0;   ///< multiplications
  std::int64_t bytes = 0;      ///< bytes that the step reads and writes, weights included
};

/// A network that is ready to run: primitives of oneDNN, which keep values in the layouts that suit them, and
/// kernels of ktape's own; an arena holds all values between the steps. Several threads may run one program
/// at once.
class Program {
 public:
  class Weights;

  /// Returns the program of an optimized network for the number of threads that OpenMP gives this thread
  /// now; null if oneDNN is absent or has no fast primitive for a node.
  static std::shared_ptr<const Program> make(const Network& network);
  virtual ~Program() = default;

  /// Folds and packs weights, given as the elements of each, for `run`. Programs share equal packed weights:
  /// `owner` keeps the elements alive and unchanged as long as packed weights are used.
  virtual std::shared_ptr<const Weights> pack(const std::vector<const float*>& weights,
                                              const std::shared_ptr<const void>& owner) const = 0;
  /// Runs the program. `inputs` has an array for each Input of the network, `outputs` for each output, of the
  /// nodes' numbers; inputs are only read. Must have the number of threads of `make`.
  virtual void run(const std::shared_ptr<const Weights>& weights, std::span<void* const> inputs,
                   std::span<void* const> outputs) const = 0;
  /// Returns the steps. Given weights, runs the program a few times on zeros and measures each step.
  virtual std::vector<ProgramStep> steps(const std::shared_ptr<const Weights>& weights) const = 0;
  virtual std::size_t arena_bytes() const = 0;
};

/// Returns the number of multiplications of the largest node.
std::int64_t largest_products(const Network& network);
/// Returns whether one thread should compute that many multiplications: they are few, or other threads would
/// have to wait for a processor.
bool suits_one_thread(std::int64_t products);

}  // namespace ktape::kernels
