#pragma once
#include <ktape/autograd/variable.hpp>

#include <utility>
#include <vector>

/// Changes of many variables at once, and threads that read all values of before such a change, or all of after it.
/// Neither side waits for the other. Internal: sources only.
namespace ktape {

/// A scope in which a thread reads variables: a prediction, a call of a layer. The values are those of the begin of the
/// thread's outermost scope, whatever `assign_all` does on other threads; changes of the thread itself are seen at once.
class ReadingScope {
 public:
  ReadingScope();
  ~ReadingScope();
  ReadingScope(const ReadingScope&) = delete;
  ReadingScope& operator=(const ReadingScope&) = delete;
};

/// Gives variables new values under the rules of `Variable::assign`, or changes none.
void assign_all(const std::vector<std::pair<Variable, Tensor>>& values);

/// Returns the value of a variable for this thread. For variable.cpp.
const Tensor& value_to_read(const VariableImpl& variable);
/// Waits until no value of `assign_all` waits for the variable, which this thread is going to change. Returns at once in a
/// scope. For variable.cpp.
void settle_before_change(const VariableImpl& variable);
/// Throws unless the value may be assigned to the variable. Defined in variable.cpp.
void expect_assignable(const Variable& variable, const Tensor& value);

}  // namespace ktape
