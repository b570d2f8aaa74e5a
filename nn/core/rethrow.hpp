#pragma once
#include <ktape/autograd/base/error.hpp>

namespace ktape::nn {

/// Throws the current error again with the text that `text(error)` returns; the class of the error stays. Internal: sources
/// only.
template <class F>
[[noreturn]] void rethrow_with(const F& text) {
  try {
    throw;
  } catch (const ValueError& error) {
    throw ValueError(text(error));
  } catch (const TypeError& error) {
    throw TypeError(text(error));
  } catch (const IOError& error) {
    throw IOError(text(error));
  }
}

}  // namespace ktape::nn
