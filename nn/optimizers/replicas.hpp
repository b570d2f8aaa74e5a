#pragma once
#include <ktape/nn/core/state.hpp>
#include <ktape/nn/optimizers/row_gradients.hpp>

#include <span>
#include <string>
#include <vector>

namespace ktape::nn {

/// A group of processes that train copies of one model, each on a part of the samples. nn/distributed makes
/// the group; an optimizer with a group takes the mean of the gradients of all processes. All processes call
/// these functions, in one order. Internal: sources only.
class Replicas {
 public:
  virtual ~Replicas() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Throws ValueError, in all processes, where the lines of one differ from those of the first.
  virtual void expect_same(const char* op, const std::vector<std::string>& lines) = 0;
  /// Replaces the entries by those of a process, the first by default.
  virtual void broadcast(std::vector<State::Entry>& entries, int from = 0) = 0;
  /// The sums over all processes.
  virtual void sum(std::span<double> numbers) = 0;

  /// Sets the weight of this process's gradients until the next call: `samples` of the `all_samples` of all
  /// processes.
  virtual void weigh(double samples, double all_samples) = 0;
  /// The weighted means of gradients of variables; one that no process has is undefined.
  virtual std::vector<RowGradient> mean(std::vector<RowGradient> gradients,
                                        const std::vector<Variable>& variables) = 0;
  /// Returns the means of the gradients of a loss; gradients are sent before the backward pass ends.
  virtual std::vector<RowGradient> mean_gradients(const Tensor& loss,
                                                  const std::vector<Variable>& variables) = 0;

  /// Ends all processes with a message that says why.
  [[noreturn]] virtual void end(const std::string& cause) = 0;
};

}  // namespace ktape::nn
