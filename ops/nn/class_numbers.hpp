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

/// The most classes for which a vector with an element for each class is made.
inline constexpr std::int64_t most_columns = std::int64_t{1} << 26;
/// Throws ValueError, naming the argument, for more than `most_columns` classes.
void expect_columns(const std::string& op, const std::string& name, std::int64_t classes);

}  // namespace ktape::backend
