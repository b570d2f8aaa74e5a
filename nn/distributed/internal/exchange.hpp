#pragma once
#include <ktape/nn/distributed/internal/sums.hpp>
#include <ktape/nn/optimizers/process_group.hpp>

#include <memory>
#include <optional>

namespace ktape::nn::distributed {

/// Gradients that are sent in one message: the elements, followed by the number of processes that have each
/// gradient.
class Bucket {
 public:
  Bucket(World& world, DType dtype) : world_(world), dtype_(dtype) {}
  void add(std::size_t variable, std::int64_t size);
  /// Ends the list of gradients and allocates the buffers. All processes call `close`.
  void close(bool shared_memory);
  std::int64_t bytes() const { return elements_ * static_cast<std::int64_t>(dtype_.size()); }
  DType dtype() const { return dtype_; }

  /// Stores this process's gradient, which may be undefined, times its weight.
  void put(std::size_t variable, const Tensor& gradient, double weight);
  bool full() const { return filled_ == parts_.size(); }
  void send();
  /// Drives the transfer and returns whether the sums are complete; records the time of completion.
  bool poll();
  void wait();
  /// Returns the sum of the gradients as a tensor like the variable; undefined when no process has a
  /// gradient.
  Tensor take(std::size_t variable, const Variable& like);
  /// Removes the gradients, and lets the other processes write the next ones.
  void empty();

 private:
  struct Part {
    std::size_t variable;
    std::int64_t begin, size;
  };
  const Part& part_of(std::size_t variable) const;

  World& world_;
  DType dtype_;  ///< the dtype of the message
  std::int64_t elements_ = 0;
  std::vector<Part> parts_;
  std::size_t filled_ = 0;
  bool under_way_ = false;
  char* own_ = nullptr;  ///< the memory for this process's elements
  std::unique_ptr<Sums> sums_;
};

/// The division of the gradients of some variables into messages, and the order of the messages.
struct Plan {
  std::vector<Variable> variables;
  std::vector<Bucket> buckets;
  std::vector<std::optional<std::size_t>>
      bucket_of;         ///< the bucket of each variable; none for a table, which is sent as rows
  std::size_t sent = 0;  ///< the number of buckets that were sent

  /// Stores a gradient, and sends full buckets in order, up to the first bucket that is not full.
  void put(std::size_t variable, const Tensor& gradient, double weight);
  void poll();
  void wait();
  void empty();
};

/// The exchange of the gradients of an optimizer, and of other data of its training.
class Exchange final : public ProcessGroup {
 public:
  Exchange(World& world, const OptimizerOptions& options) : world_(world), options_(options) {}

  int rank() const override { return world_.rank(); }
  int size() const override { return world_.size(); }
  void expect_same(const char* op, const std::vector<std::string>& lines) override {
    world_.expect_same(op, lines);
  }
  void broadcast(std::vector<Archive::Entry>& entries, int from) override;
  void sum(std::span<double> numbers) override;
  void weigh(double samples, double all_samples) override {
    world_.samples = samples, world_.all_samples = all_samples;
  }
  std::vector<RowGradient> mean(std::vector<RowGradient> gradients,
                                const std::vector<Variable>& variables) override;
  std::vector<RowGradient> mean_gradients(const Tensor& loss,
                                          const std::vector<Variable>& variables) override;
  [[noreturn]] void end(const std::string& cause) override { world_.end(cause); }

 private:
  Plan* find_plan(const std::vector<Variable>& variables);
  Plan& make_plan(const std::vector<Variable>& variables, const std::vector<std::size_t>& order,
                  const std::vector<RowGradient>& gradients);
  /// Sends the remaining gradients and waits for the means.
  std::vector<RowGradient> finish(Plan& plan, std::vector<RowGradient> gradients,
                                  const std::vector<std::size_t>& sent);
  RowGradient mean_rows(const RowGradient& gradient, const Variable& table);
  RowGradient gathered_rows(const RowGradient& gradient, const Variable& table, DType dtype,
                            const std::vector<std::int64_t>& rows);
  void gather(const void* own, const std::vector<std::int64_t>& rows, std::int64_t width, DType dtype,
              void* all);
  double weight() const { return world_.samples / world_.all_samples; }

  World& world_;
  OptimizerOptions options_;
  std::vector<std::unique_ptr<Plan>>
      plans_;  ///< a plan for each list of variables: a training step may have several
};

}  // namespace ktape::nn::distributed
