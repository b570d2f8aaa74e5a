#pragma once
#include <ktape/autograd/tensor.hpp>

#include <cstdint>
#include <optional>
#include <string>

/// Internal: sources only.
namespace ktape::backend {

/// Returns class numbers as int64. Floats must be whole numbers: NaN and 0.5 are no classes. With a count,
/// the numbers must be in [0, count). Throws ValueError otherwise: "[op] a target must be a class in [0, 3):
/// received target=nan", or "[op] a target must be a whole number: received target=0.5".
Tensor class_numbers(const std::string& op, const std::string& name, const Tensor& x,
                     std::optional<std::int64_t> count = {});

}  // namespace ktape::backend
