#pragma once
/// For cling and clang-repl:
///
///     #include <ktape/interactive/cling.hpp>
///
/// includes everything and names `K` and `nn`. They are started with -I of the folder that ktape's headers
/// are in. cling may do without, for it takes an installed header by its full path, and sets up include paths
/// and loads the library by its pragmas; for clang-repl, which has none, `%lib libktape.so` loads it.

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
