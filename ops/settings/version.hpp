#pragma once
#include <ktape/autograd/base/version.hpp>

#include <string>

namespace ktape::backend {

/// Returns the version of the loaded library, "major.minor.patch". The macros KTAPE_VERSION_MAJOR, _MINOR and
/// _PATCH are the version of the headers with which a program was compiled. `keras.version`.
///
///     std::cout << "ktape " << K::version() << "\n";
std::string version();

}  // namespace ktape::backend
