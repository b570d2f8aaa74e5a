#pragma once
#include <ktape/autograd/variable.hpp>

#include <map>
#include <optional>
#include <unordered_map>

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

/// A scope in which a variable as an argument of an op, and its `value()`, stand for the value converted to a
/// floating dtype: the reads of weights under a mixed policy. The conversion is recorded, so gradients arrive
/// in the dtype of the variable. A value is converted once per scope, and scopes of one dtype inside of each
/// other share their conversions. Updates convert floating values to the dtype of the variable. Variables
/// that are not floating or whose `autocast` is off are not affected, nor are variables in a scope without a
/// dtype. Internal: sources only.
class AutocastScope {
 public:
  using Cast = Tensor (*)(const Tensor& x, DType dtype);
  AutocastScope(std::optional<DType> dtype, Cast cast);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

  /// Returns the dtype of the innermost scope of this thread, if there is a scope with a dtype.
  static std::optional<DType> dtype();

 private:
  friend class Variable;
  struct Conversion {
    Tensor value, converted;  ///< the value is undefined after a change of the variable
  };
  using Conversions = std::unordered_map<const VariableImpl*, Conversion>;
  /// Returns what stands for the variable, of which `value` is the value or a symbol; the reference is valid
  /// while the scope lives.
  const Tensor& read(const Variable& variable, const Tensor& value);
  /// Forgets the conversions of a variable that changes, in all scopes of this thread.
  static void changed(const VariableImpl* variable);

  AutocastScope* const outer_;
  const std::optional<DType> dtype_;
  const Cast cast_;
  Conversions own_;
  Conversions* const conversions_;
};

/// Returns whether the innermost scope of this thread defers every op.
bool symbolic_mode();

}  // namespace ktape
