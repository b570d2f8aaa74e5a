#pragma once
#include <ktape/autograd/tensor.hpp>

#include <concepts>
#include <span>
#include <string>
#include <vector>

namespace ktape {

/// Throws the error of `expect_defined`. Internal: for `expect_defined`.
[[noreturn]] void fail_undefined(const char* op, const char* names, std::span<const Tensor* const> tensors);

/// Throws ValueError, naming op and argument, for the first undefined tensor. `names` lists the arguments in
/// order.
///
///     expect_defined("dot", "x, y", x, y);  // [dot] y must be a tensor: received an undefined tensor (None)
template <std::same_as<Tensor>... T>
void expect_defined(const char* op, const char* names, const T&... tensors) {
  if ((... && tensors.defined())) return;
  const Tensor* const list[] = {&tensors...};
  fail_undefined(op, names, list);
}

/// Throws ValueError for the first undefined tensor of a list: "[stack] x[1] must be a tensor: ...".
void expect_defined(const char* op, const char* name, const std::vector<Tensor>& tensors);

}  // namespace ktape
