#pragma once
#include <ktape/autograd/symbolic/scope.hpp>

namespace ktape {

/// Where symbolic tensors have values: a running graph, or a callable that is tried on small values. Inside
/// one, the gate runs ops at once.
class Environment {
 public:
  Environment();
  virtual ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  /// The value of a symbolic tensor. Throws ValueError, naming the placeholder, when it has none here.
  virtual Tensor value(const Tensor& symbolic) = 0;
  /// The innermost one of this thread; null outside of all.
  static Environment* current();

 private:
  Environment* outer_;
  SymbolicScope at_once_{false};
};

/// True inside an Environment, where symbolic tensors have values.
inline bool running_graph() { return Environment::current(); }

/// True while a callable is only traced (trace.hpp): an op must not print, draw random numbers or change
/// anything, and has no values from an Environment around it.
bool inferring_shapes();
class InferenceScope {
 public:
  /// Begins to trace; with `on` false, computes for a while within what is traced.
  explicit InferenceScope(bool on = true);
  ~InferenceScope();
  InferenceScope(const InferenceScope&) = delete;
  InferenceScope& operator=(const InferenceScope&) = delete;

 private:
  bool before_;
  Environment* outer_;
};

}  // namespace ktape
