#pragma once
#include <ktape/autograd/variable.hpp>

#include <functional>

namespace ktape::backend {

/// One side of a choice: a tensor, a variable, or a callable that returns one and is called only when the
/// side is taken.
class Branch {
 public:
  Branch(const Tensor& value) : value_(value) {}
  Branch(const Variable& variable) : value_(variable.value()) {}
  template <class F>
  requires std::is_invocable_r_v<Tensor, F&> Branch(F f) : run_(std::move(f)) {}

  Tensor operator()() const { return run_ ? run_() : value_; }

 private:
  Tensor value_;
  std::function<Tensor()> run_;
};

}  // namespace ktape::backend
