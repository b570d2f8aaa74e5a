#pragma once
#include <ktape/autograd/variable.hpp>

#include <map>

namespace ktape {

/// While it lives, everything on this thread waits for a function: a variable as an argument of an op stands
/// for the value that it will have then, random numbers are drawn and variables are changed then. With
/// `waits` false, what has a value runs at once again. A running function is never affected.
class SymbolicScope {
 public:
  explicit SymbolicScope(bool waits = true);
  ~SymbolicScope();
  SymbolicScope(const SymbolicScope&) = delete;
  SymbolicScope& operator=(const SymbolicScope&) = delete;

 private:
  friend class Variable;
  /// The symbolic tensor that stands for the variable; the reference is valid while the scope lives.
  const Tensor& stand_in(const Variable& variable);

  SymbolicScope* outer_;
  std::map<const VariableImpl*, Tensor> stand_ins_;
};

/// Whether the innermost scope of this thread makes everything wait.
bool symbolic_mode();

}  // namespace ktape
