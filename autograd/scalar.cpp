#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/base/error.hpp>
#include <ktape/autograd/scalar.hpp>

#include <charconv>
#include <iterator>
#include <ostream>

namespace ktape {

void Scalar::out_of_range() const {
  fail("[item] the value must be in the range of the requested type: received value=", *this);
}

std::ostream& operator<<(std::ostream& out, Scalar number) {
  if (number.kind() != Scalar::Real) return out << number.integer();
  char digits[32];
  return out.write(digits, std::to_chars(digits, std::end(digits), number.real()).ptr - digits);
}

bool fits(Scalar number, DType dtype) {
  return dispatch(dtype, [&]<class T>() { return number.fits<T>(); });
}

void expect_fits(const char* op, Scalar number, DType dtype) {
  if (!dtype.is_bool() && !fits(number, dtype))
    fail<TypeError>("[", op, "] a number must fit the tensor's dtype ", dtype, ": received number=", number);
}

}  // namespace ktape
