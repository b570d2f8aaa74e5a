#pragma once
#include <clang/AST/DeclCXX.h>

#include <string>
#include <vector>

namespace ktape::interactive {

/// Returns notes for a cell that clang rejects: how C++ writes what the cell writes as in Python. Empty if the
/// errors have other causes. `messages` are clang's messages about the cell.
std::string python_hints(const std::string& cell, const std::string& messages);

/// Returns notes for designators (`.name =`) in a cell that no field of the given classes has, with the nearest
/// field.
std::string option_hints(const std::string& cell, const std::vector<const clang::CXXRecordDecl*>& classes);

}  // namespace ktape::interactive
