#pragma once
#include <clang/AST/DeclCXX.h>

#include <string>
#include <vector>

namespace ktape::interactive {

/// Returns notes for a cell that clang rejects: how C++ writes what the cell writes as in Python. Empty if the
/// errors have other causes. `messages` are clang's messages about the cell.
std::string python_hints(const std::string& cell, const std::string& messages);

/// Returns notes for designators (`.name =`) in a cell that no field of the given classes has, with the nearest
/// field. A class with constructors takes its options from them; a designator may also name an argument that stands
/// before the braces.
std::string option_hints(const std::string& cell, const std::vector<const clang::CXXRecordDecl*>& classes);

/// Returns warnings for classes whose fields the cell names in another order than that of their declaration, with
/// the names in the right order.
std::string order_hints(const std::string& cell, const std::vector<const clang::CXXRecordDecl*>& classes);

}  // namespace ktape::interactive
