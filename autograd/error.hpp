#pragma once
#include <sstream>
#include <stdexcept>
#include <string>

namespace ktape {

/// Base of everything the library throws. The text reads `[op] rule: received name=value`.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A value, shape, axis, index or name that does not fit.
class ValueError : public Error {
 public:
  using Error::Error;
};

/// A dtype or kind of argument that the op does not take.
class TypeError : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be read, written or understood.
class IOError : public Error {
 public:
  using Error::Error;
};

/// Throws `E` with the parts written one after another, as `std::cout` would.
template <class E = ValueError, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw E(text.str());
}

}  // namespace ktape
