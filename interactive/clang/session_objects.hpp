#pragma once
#include <clang/AST/Decl.h>

#include <set>
#include <vector>

/// The variables of a session as objects that need a destructor call.
namespace ktape::interactive {

/// The name of the function that cells call, instead of the C++ runtime's __cxa_atexit, for each variable with
/// a destructor.
constexpr const char* register_object = "ktape_session_object";

/// Calls the destructor of the object at an address. Does nothing for an object without a destructor call to
/// come.
void destroy_object(const void* address);
/// Calls the destructors of all objects, the newest object first.
void destroy_objects();

/// Returns whether a value of the type can be copied, and its copy compiles: a class of the standard library that
/// holds objects without copies, such as vector<unique_ptr<int>>, has a copy constructor that does not.
bool can_be_copied(clang::QualType type);

/// The variables that code or other variables may still reach when their name has a new meaning.
class References {
 public:
  /// Adds the declarations and statements of a cell. A function, such as a lambda, reaches all variables that its
  /// body names. A declaration or statement that names a variable of a type that may hold references (a pointer, an
  /// iterator, a class of an unknown library) may have stored references to all variables that it names.
  void add(const std::vector<clang::Decl*>& cell);
  bool may_reach(const clang::VarDecl* variable) const;

 private:
  std::set<const clang::VarDecl*> reachable_;
};

}  // namespace ktape::interactive
