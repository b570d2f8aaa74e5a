#pragma once

namespace clang {
class Decl;
}

namespace ktape::interactive {

/// Makes clang initialize the constants and inline variables of a declaration where they stand in the cell's text,
/// static members of classes included. Without the call, clang initializes such a variable at its first use, which
/// may be in a later cell, and before all statements of that cell. Must be called before clang generates code for the
/// declaration.
void initialize_in_order(clang::Decl& declaration);

}  // namespace ktape::interactive
