#pragma once
#include <ktape/ktape.hpp>
#include <ktape/nn/operations/operations.hpp>

#include "../../ops/check.hpp"

/// Calls of operations by name, for tests.
namespace run_operation {

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::All, ktape::Ellipsis, ktape::NewAxis, ktape::Slice, ktape::Tensor, ktape::ValueError;
using nn::OperationArgument, nn::Value;

using Arguments = std::vector<std::pair<std::string, OperationArgument>>;

inline OperationArgument of(const Tensor& x) { return {.tensors = {x}}; }
inline OperationArgument list(const std::vector<Tensor>& xs) { return {.tensors = xs, .is_list = true}; }
inline OperationArgument value(const char* json) { return {.value = nn::from_json(json)}; }

inline std::vector<Tensor> all_of(const char* name, const Arguments& arguments) {
  const nn::Operation* const operation = nn::find_operation(name);
  REQUIRE_MESSAGE(operation, name);
  return operation->run(nn::OperationCall::by_name(*operation, arguments, "[test]"));
}
inline Tensor run(const char* name, const Arguments& arguments) { return all_of(name, arguments).at(0); }

/// Checks value, shape and dtype.
inline void check_same(const Tensor& got, const Tensor& wanted) {
  REQUIRE(got.shape() == wanted.shape());
  CHECK(got.dtype() == wanted.dtype());
  CHECK(close(got, wanted, {.rtol = 1e-5, .atol = 1e-6}));
}

}  // namespace run_operation
