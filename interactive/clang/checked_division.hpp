#pragma once
#include <clang/AST/DeclBase.h>
#include <clang/Sema/Sema.h>

namespace ktape::interactive {

/// Lets each division of integers in a declaration or statement of the session throw ValueError for a divisor of 0, which is
/// undefined in C++: the processor stops the program, or the optimizer invents a result.
void check_divisors(clang::Decl& decl, clang::Sema& sema);

}  // namespace ktape::interactive
