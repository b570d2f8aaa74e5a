#pragma once
/// For cling and clang-repl, which are started with -I of the folder that ktape's headers are in:
///
///     #include <ktape/interactive/cling.hpp>
///
/// includes everything and names `K` and `nn`. cling loads the library by its pragma, from where the system's
/// loader looks; for clang-repl, which has none, `%lib libktape.so` does it.

#ifdef __CLING__
#pragma cling load("libktape.so")
#endif

#include <ktape/ktape.hpp>

#include <iostream>

namespace K = ktape::backend;
namespace nn = ktape::nn;
