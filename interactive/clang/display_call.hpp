#pragma once
#include <clang/Sema/Sema.h>

namespace ktape::interactive {

/// Returns a call of a function of display.hpp with one argument; an error if clang refuses the call.
clang::ExprResult call_display_function(clang::Sema& sema, const char* function, clang::Expr* argument);

}  // namespace ktape::interactive
