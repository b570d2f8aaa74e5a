#pragma once
#include <ktape/autograd/scope.hpp>

namespace ktape {

/// A context in which symbolic tensors have values: a running graph, or a callable that is tried on small
/// values. Inside an Environment deferred ops run at once.
///
///     struct Ones : ktape::Environment {
///       Tensor value(const Tensor& symbolic) override {
///         return K::ones(symbolic.shape());
///       }
///     };
///     Tensor x = K::placeholder({.shape = Shape{2}});
///     std::cout << ktape::running_graph() << " ";
///     Ones ones;
///     std::cout << ktape::running_graph() << "\n"
///               << ktape::Environment::current()->value(x);
class Environment {
 public:
  Environment();
  virtual ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  /// Returns the value of a symbolic tensor. Throws ValueError, naming the placeholder, when the tensor has
  /// no value in this environment.
  virtual Tensor value(const Tensor& symbolic) = 0;
  /// Returns the innermost Environment of this thread; null outside of all environments.
  static Environment* current();

 private:
  Environment* outer_;
  SymbolicScope at_once_{false};
};

/// Returns whether an Environment is open on this thread, so that symbolic tensors have values.
inline bool running_graph() { return Environment::current(); }

/// Returns whether a callable is being traced (trace.hpp). A traced op must not print, draw random numbers or
/// change a variable, and takes no values from an outer Environment.
///
///     auto noisy = [](const Tensor& x) {
///       if (!ktape::inferring_shapes()) std::cout << "runs\n";
///       return x + 1.f;
///     };
///     {
///       ktape::InferenceScope shapes_only;
///       noisy(K::ones({2}));
///     }
///     noisy(K::ones({2}));
bool inferring_shapes();
class InferenceScope {
 public:
  /// Starts tracing. With `on` false, suspends tracing inside a traced callable.
  explicit InferenceScope(bool on = true);
  ~InferenceScope();
  InferenceScope(const InferenceScope&) = delete;
  InferenceScope& operator=(const InferenceScope&) = delete;

 private:
  bool before_;
  Environment* outer_;
};

}  // namespace ktape
