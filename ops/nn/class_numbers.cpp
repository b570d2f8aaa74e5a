#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/autograd/literal.hpp>
#include <ktape/ops/nn/class_numbers.hpp>

#include <cmath>

namespace ktape::backend {
namespace {

bool is_whole(double number) { return number == std::trunc(number) && std::abs(number) < 0x1p63; }

[[noreturn]] void refuse(const std::string& op, const std::string& name, const Tensor& x, std::int64_t i,
                         std::optional<std::int64_t> count) {
  const Scalar number = x.alias({x.size()}).element(&i, 1);
  const char* article = std::string("aeiou").find(name[0]) == std::string::npos ? "a " : "an ";
  if (count)
    fail("[", op, "] ", article, name, " must be a class in [0, ", *count, "): received ", name, '=', number);
  fail("[", op, "] ", article, name, " must be a whole number: received ", name, '=', number);
}

}  // namespace

Tensor class_numbers(const std::string& op, const std::string& name, const Tensor& x,
                     std::optional<std::int64_t> count) {
  if (is_symbolic(x))
    return defer("cast", {x.shape(), DType::Int64}, class_numbers, op, name, WithoutGradient{x}, count);
  const Tensor classes = converted(x, DType::Int64);
  const auto* at = classes.pointer<std::int64_t>();
  const Tensor given = x.dtype().is_floating() ? converted(x, DType::Float64) : Tensor();
  const auto* number = given.defined() ? given.pointer<double>() : nullptr;
  for (std::int64_t i = 0; i < x.size(); ++i)
    if ((number && !is_whole(number[i])) || (count && (at[i] < 0 || at[i] >= *count)))
      refuse(op, name, x, i, count);
  return classes;
}

void expect_columns(const std::string& op, const std::string& name, std::int64_t classes) {
  if (classes > most_columns)
    fail("[", op, "] ", name, " must be at most ", most_columns, ", because the vectors are dense: received ",
         name, '=', classes);
}

}  // namespace ktape::backend
