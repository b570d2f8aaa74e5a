#pragma once
#include <clang/AST/Decl.h>
#include <clang/AST/DeclBase.h>
#include <llvm/ADT/SetVector.h>

#include <functional>
#include <string>
#include <vector>

#include <ktape/interactive/diagnostics.hpp>

namespace clang {
class CompilerInstance;
}

namespace ktape::interactive {

/// What the cells declared. A declaration that is run again hides the old one, which lives on for the code
/// that was compiled against it: every cell's names carry a tag of their own in object code.
class Declarations {
 public:
  Declarations() = default;
  Declarations(const Declarations&) = delete;
  Declarations& operator=(const Declarations&) = delete;
  void attach(clang::CompilerInstance& compiler);

  void begin_cell();
  /// Another try at the same cell, after the names of the one before are gone.
  void begin_again();
  /// Hides the declarations of earlier cells that are in the way. Returns whether there were any.
  bool hide(const Clash& clash);
  /// clang, when it cleans up behind a cell, forgets that names of the header are hidden.
  void hide_header_again() const;
  /// Takes back what the cell declared and hid.
  void abandon_cell();
  /// Takes back these variables only.
  void abandon(const std::vector<const clang::VarDecl*>& variables);
  void end_cell();

  /// The variables that the cell declared, in order.
  std::vector<const clang::VarDecl*> variables_of_cell() const;
  /// Where the statements of the cell are in its text, in order.
  struct Statement {
    std::size_t begin, end;
    std::size_t line;
    bool is_value;  ///< an expression that is shown
  };
  std::vector<Statement> statements() const;
  /// Whether the cell hid something.
  bool redeclared() const { return !hidden_by_cell_.empty(); }
  /// All that can be named, oldest first.
  const std::vector<clang::NamedDecl*>& visible() const { return visible_; }

  /// The functions that clang made of templates so far.
  const llvm::SetVector<clang::FunctionDecl*>& instantiated() const { return instantiated_; }

  /// Takes lambdas, classes and static variables out of the statement that is read: clang has no symbol for
  /// them, and for what is made of them (an algorithm that gets a lambda), where it knows no function around
  /// them, and crashes.
  void adopt_locals();

  // Called by the consumer.
  void declared(clang::Decl* decl);
  void tag(clang::Decl* decl) const;

 private:
  struct Hidden {
    clang::NamedDecl* decl;
    bool in_scope;
  };
  void hide(clang::NamedDecl* decl, std::vector<Hidden>& list);
  /// The declarations of earlier cells of which this is a part, such as a parameter.
  std::vector<clang::NamedDecl*> around(clang::SourceLocation place) const;
  void restore(const Hidden& hidden);
  void adopt_locals(clang::TopLevelStmtDecl& statement);
  void remove_from_table(clang::NamedDecl* decl) const;
  static void remove_from_table(clang::NamedDecl* decl, clang::DeclContext* context);

  clang::CompilerInstance* compiler_ = nullptr;
  int number_ = 0;   // of the attempt, which its names carry
  int adopted_ = 0;  // classes of statements
  std::vector<clang::Decl*> of_cell_;
  std::vector<const clang::Decl*> values_;
  std::vector<Hidden> hidden_by_cell_;
  std::vector<clang::NamedDecl*> hidden_of_header_;
  std::vector<clang::DeclContext*> reopened_;  // the namespaces in the cell
  std::vector<clang::NamedDecl*> visible_;
  llvm::SetVector<clang::FunctionDecl*> instantiated_;
};

/// Makes the compilers that are built while it lives tell `declarations` what they see.
class DeclarationsScope {
 public:
  explicit DeclarationsScope(Declarations& declarations);
  ~DeclarationsScope();
};

}  // namespace ktape::interactive
