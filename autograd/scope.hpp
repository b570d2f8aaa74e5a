#pragma once
#include <ktape/autograd/variable.hpp>

#include <map>

namespace ktape {

/// A scope in which every op on this thread is deferred until a function runs: a variable as an argument of
/// an op stands for its value at that time, and random numbers are drawn and variables changed at that time.
/// With `waits` false, ops on values run at once again inside an outer scope. A function that is running is
/// never affected.
///
///     Variable w = K::variable(2.f);
///     Tensor y;
///     {
///       ktape::SymbolicScope all_ops_wait;
///       std::cout << ktape::symbolic_mode() << "\n";
///       y = w * 10.f;
///     }
///     auto f = K::function({}, {y});
///     K::update(w, 5.f);
///     std::cout << f({})[0];
class SymbolicScope {
 public:
  explicit SymbolicScope(bool waits = true);
  ~SymbolicScope();
  SymbolicScope(const SymbolicScope&) = delete;
  SymbolicScope& operator=(const SymbolicScope&) = delete;

 private:
  friend class Variable;
  /// Returns the symbolic tensor that stands for the variable; the reference is valid while the scope lives.
  const Tensor& placeholder_of(const Variable& variable);

  SymbolicScope* outer_;
  std::map<const VariableImpl*, Tensor> stand_ins_;
};

/// Returns whether the innermost scope of this thread defers every op.
bool symbolic_mode();

}  // namespace ktape
