#pragma once
#include <concepts>
#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ktape {

/// The base class of all exceptions of the library. The text reads `[op] rule: received name=value`.
///
///     try {
///       K::reshape(K::ones({2, 3}), {4, 2});
///     } catch (const ktape::ValueError& error) {
///       std::cout << error.what();
///     }
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
///
///     try {
///       data::load_npy("nowhere.npy");
///     } catch (const ktape::IOError& error) {
///       std::cout << error.what();
///     }
class IOError : public Error {
 public:
  using Error::Error;
};

/// A part of a message: a text, or a value that outlives the part and has `operator<<`. Internal: for `fail`.
class MessagePart {
 public:
  template <class T>
  explicit MessagePart(const T& value) : value_(&value), write_(write<T>) {}
  template <class T>
  requires std::convertible_to<const T&, std::string_view>
  explicit MessagePart(const T& value) : text_(value) {}

  friend std::ostream& operator<<(std::ostream& out, const MessagePart& part) {
    if (part.write_) part.write_(out, part.value_);
    else out << part.text_;
    return out;
  }

 private:
  template <class T>
  static void write(std::ostream& out, const void* value) {
    out << *static_cast<const T*>(value);
  }

  std::string_view text_ = {};
  const void* value_ = nullptr;
  void (*write_)(std::ostream&, const void*) = nullptr;
};

/// Returns the parts of a message as one text. Internal: for `fail`.
std::string joined_message(std::initializer_list<MessagePart> parts);

/// Throws `E` with a message that joins the parts, each written as by `std::cout`.
///
///     try {
///       ktape::fail<ktape::ValueError>("[mine] x must be positive: received x=", -1);
///     } catch (const ktape::ValueError& error) {
///       std::cout << error.what();
///     }
template <class E = ValueError, class... Parts>
[[noreturn, gnu::cold]] void fail(const Parts&... parts) {
  throw E(joined_message({MessagePart(parts)...}));
}

}  // namespace ktape
