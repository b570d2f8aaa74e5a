#pragma once
#include <ktape/ops/compiled/network_builder.hpp>
#include <ktape/ops/kernels/network/program.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace ktape::backend {

/// Returns whether networks are compiled now: the engine is onednn, this thread has all its threads, and
/// results need not be deterministic.
bool compiles_networks();

/// A network with its weights, ready to run. The weights are watched: a run after a change of a variable
/// folds and packs the weights again. Several threads may run one network at once.
class CompiledNetwork {
 public:
  /// Returns null if oneDNN has no fast primitive for a node.
  static std::shared_ptr<CompiledNetwork> make(const NetworkBuilder& builder);

  /// Returns the outputs, which are not recorded. Returns none, without computing, while an element of an
  /// input or of a weight is infinite or NaN: the primitives' relu does not pass NaN on.
  std::optional<std::vector<Tensor>> run(const std::vector<Tensor>& inputs);

  /// Returns the steps, with the shortest of a few measured times.
  std::vector<kernels::ProgramStep> steps();
  std::size_t arena_bytes();

 private:
  using Weights = std::shared_ptr<const kernels::Program::Weights>;
  /// A program for a number of threads.
  struct Variant {
    std::shared_ptr<const kernels::Program> program;
    /// The memory of the values that are packed. While a Variant holds the memory, updates of a variable take
    /// other memory.
    std::shared_ptr<const std::vector<Ref<Storage>>> packed_from;
    Weights weights;  ///< null while a weight is not finite
  };

  /// A program, which lives as long as the network, and its weights.
  struct Ready {
    const kernels::Program* program;
    Weights weights;
  };
  /// Returns the program for the threads that this thread has; null if oneDNN has no fast primitive for a node.
  Ready ready();
  void refresh(Variant& variant) const;

  kernels::Network network_;
  std::int64_t products_ = 0;
  std::vector<std::pair<Shape, DType>> outputs_;
  std::vector<Variable> variables_;
  std::mutex mutex_;
  std::map<int, Variant> variants_;
};

}  // namespace ktape::backend
