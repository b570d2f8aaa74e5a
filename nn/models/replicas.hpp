#pragma once
#include <ktape/nn/optimizers/row_gradients.hpp>
#include <ktape/nn/state.hpp>

#include <span>
#include <string>
#include <vector>

namespace ktape::nn {

/// The processes that train copies of one model, each on samples of its own: what a training asks of them.
/// nn/distributed makes them; an optimizer that has them takes the mean of all gradients. All processes call
/// these functions, in the same order. Internal: sources only.
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

  /// Until the next call gradients weigh as much as so many samples, of so many in all processes.
  virtual void weigh(double samples, double all_samples) = 0;
  /// The weighted means of gradients of variables; one that no process has is undefined.
  virtual std::vector<RowGradient> mean(std::vector<RowGradient> gradients,
                                        const std::vector<Variable>& variables) = 0;
  /// The same of the gradients of a loss, which are sent while the walk goes on.
  virtual std::vector<RowGradient> mean_gradients(const Tensor& loss,
                                                  const std::vector<Variable>& variables) = 0;

  /// Ends all processes with a message that says why.
  [[noreturn]] virtual void end(const std::string& cause) = 0;
};

}  // namespace ktape::nn
