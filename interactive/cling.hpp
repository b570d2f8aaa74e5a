#pragma once
/// For cling and clang-repl:
///
///     #include <ktape/interactive/cling.hpp>
///
/// includes the whole library and names `K` and `nn`. Start them with -I and the folder of ktape's headers.
/// cling can also include the installed header by its full path: pragmas set the include paths and load the
/// library. clang-repl has no such pragmas: `%lib libktape.so` loads the library.

#ifdef __CLING__
#if __has_include("cling_paths.hpp")
#include "cling_paths.hpp"  // of the install tree; a build tree has none
#endif
#pragma cling load("libktape.so")
#endif

#include <ktape/ktape.hpp>

#include <iostream>

namespace K = ktape::backend;
namespace nn = ktape::nn;
