#pragma once
#include <ktape/nn/core/registry.hpp>
#include <ktape/nn/layers/core/core.hpp>

#include <utility>
#include <vector>

/// Internal: sources only.
namespace ktape::nn {

/// A scope in which a Lambda has a config, which names a function that the scope keeps: for copies of a model that
/// this thread makes by its config. The copies share the functions.
class LambdaFunctions {
 public:
  LambdaFunctions();
  ~LambdaFunctions() { active_ = before_; }
  LambdaFunctions(const LambdaFunctions&) = delete;

  /// Returns the scope of this thread; null outside of a scope.
  static LambdaFunctions* active() { return active_; }
  /// Keeps a function and returns its number.
  std::int64_t keep(const Lambda::Function& f);

 private:
  static thread_local LambdaFunctions* active_;
  LambdaFunctions* before_;
  std::vector<Lambda::Function> functions_;
  custom_object_scope made_here_;
};

}  // namespace ktape::nn
