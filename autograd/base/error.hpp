#pragma once
#include <sstream>
#include <stdexcept>
#include <string>

namespace ktape {

/// The base class of all exceptions of the library. The text reads `[op] rule: received name=value`.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An error for a value, shape, axis, index or name that does not fit.
class ValueError : public Error {
 public:
  using Error::Error;
};

/// An error for a dtype or kind of argument that the op does not take.
class TypeError : public Error {
 public:
  using Error::Error;
};

/// An error for a file that cannot be read, written or parsed.
class IOError : public Error {
 public:
  using Error::Error;
};

/// Throws `E` with a message that joins the parts, each written as by `std::cout`.
template <class E = ValueError, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw E(text.str());
}

}  // namespace ktape
