#pragma once
#include <ktape/nn/core/archive.hpp>
#include <ktape/nn/optimizers/internal/row_gradients.hpp>

#include <span>
#include <string>
#include <vector>

namespace ktape::nn {

/// A group of processes that train copies of one model, each on a part of the samples. nn/distributed makes
/// the group; an optimizer with a group takes the mean of the gradients of all processes. All processes call
/// these functions in equal sequences. Internal: sources only.
class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Throws ValueError in all processes if the lines of a process differ from the lines of the first process.
  virtual void expect_same(const char* op, const std::vector<std::string>& lines) = 0;
  /// Replaces the entries in all processes by the entries of the process with rank `from`.
  virtual void broadcast(std::vector<Archive::Entry>& entries, int from = 0) = 0;
  /// Replaces each number by the sum over all processes.
  virtual void sum(std::span<double> numbers) = 0;

  /// Sets the weight of this process's gradients until the next call: samples / all_samples, where
  /// `all_samples` counts the samples of all processes.
  virtual void weigh(double samples, double all_samples) = 0;
  /// Returns the weighted means of the variables' gradients. A gradient that no process has is undefined.
  virtual std::vector<RowGradient> mean(std::vector<RowGradient> gradients,
                                        const std::vector<Variable>& variables) = 0;
  /// Returns the weighted means of the gradients of a loss; gradients are sent before the backward pass ends.
  virtual std::vector<RowGradient> mean_gradients(const Tensor& loss,
                                                  const std::vector<Variable>& variables) = 0;

  /// Ends all processes with a message that gives the cause.
  [[noreturn]] virtual void end(const std::string& cause) = 0;
};

}  // namespace ktape::nn
