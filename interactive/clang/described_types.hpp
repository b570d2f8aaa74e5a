#pragma once
#include <clang/AST/DeclBase.h>

#include <string>
#include <vector>

namespace ktape::interactive {

/// Returns C++ that tells display.hpp the members of the structs, and the names of the enumerators, that a cell defines; empty
/// if the cell defines none.
std::string descriptions(const std::vector<clang::Decl*>& cell);

}  // namespace ktape::interactive
