#pragma once
#include <ktape/ops/fusion/element_ops.hpp>

#include <initializer_list>
#include <mutex>

namespace ktape::fusion {

/// The element-wise ops of a thread that wait. An op waits until a reader asks for the elements of any result,
/// until the scope ends, or until many ops wait; then all ops run.
class ElementQueue final : public PendingWork {
 public:
  /// Adds the op out = loop(x...), where `out` is pending and x broadcast to the shape of `out`.
  void add_op(const kernels::ElementLoop& loop, std::size_t closure_bytes, const Tensor& out,
              std::initializer_list<const Tensor*> x);
  void finish() override;
  Tensor add(const Tensor& a, const Tensor& b) override;

 private:
  /// Returns the index of an operand in the list, to which a new operand is added.
  int value_of(const Tensor& x);
  void run_all();
  int broadcast_of(const Shape& from, const Shape& to);

  std::mutex mutex_;
  ElementOps list_;
  std::size_t held_ = 0;              ///< bytes of the operands in memory
  std::atomic<bool> waiting_{false};  ///< whether ops may wait; false only after their results are in place
};

/// The number of elements from which an op waits: the results of smaller ops stay in the cache anyway.
std::int64_t smallest_result();
/// Changes the number for all threads, for tests; returns the number before.
std::int64_t set_smallest_result(std::int64_t elements);

}  // namespace ktape::fusion
