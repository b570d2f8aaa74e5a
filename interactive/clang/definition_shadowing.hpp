#pragma once
#include <clang/AST/Decl.h>
#include <clang/AST/DeclBase.h>
#include <clang/AST/DeclCXX.h>
#include <llvm/ADT/SetVector.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ktape/interactive/clang/diagnostics.hpp>

namespace clang {
class CompilerInstance;
}

namespace ktape::interactive {

/// Keeps the declarations of all cells. A new declaration of a name hides the old declaration, which stays
/// valid for code compiled against it: an ABI tag with the number of the cell keeps their symbols apart.
class Declarations {
 public:
  Declarations() = default;
  Declarations(const Declarations&) = delete;
  Declarations& operator=(const Declarations&) = delete;
  void attach(clang::CompilerInstance& compiler);

  /// A scope in which the session itself compiles code, which is no part of a cell.
  class Pause {
   public:
    explicit Pause(Declarations& declarations)
        : number_(declarations.number_), before_(std::exchange(number_, 0)) {}
    ~Pause() { number_ = before_; }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    int& number_;
    int before_;
  };

  void begin_cell();
  /// Removes the names of a failed attempt before the cell is compiled again.
  void restart();
  /// Hides the declarations of earlier cells that clash with a new one. Returns whether there were any.
  bool hide(const Clash& clash);
  /// Removes a name that was declared without a cell.
  void forget(clang::NamedDecl* decl);
  /// Hides the hidden names of the precompiled header once more, because clang makes them visible again when
  /// it undoes a cell.
  void hide_header_names_again() const;
  /// Removes the cell's declarations and restores the declarations that the cell hid.
  void abandon_cell();
  /// Removes only the given variables, and restores the variables that they hid.
  void abandon(const std::vector<const clang::VarDecl*>& variables);
  void end_cell();

  /// Returns the variables that the cell declared, in order.
  std::vector<const clang::VarDecl*> variables_of_cell() const;
  /// Returns the declarations and statements of the cell.
  const std::vector<clang::Decl*>& of_cell() const { return of_cell_; }
  /// Returns the variables of earlier cells that the cell hid.
  std::vector<const clang::VarDecl*> hidden_variables() const;
  /// The place of a statement in the text of its cell.
  struct Statement {
    std::size_t begin, end;
    std::size_t line;
    bool is_value;  ///< whether the statement is an expression whose value is shown
  };
  /// Returns the places of the cell's statements, in order.
  std::vector<Statement> statements() const;
  /// A type alias of an earlier cell, `using Scale = nn::LayerOf<ScaleImpl>`, as it was written.
  struct Alias {
    std::string name, text;
  };
  /// Returns the aliases of earlier cells whose text names a type, oldest first. Returns none if the name is not
  /// that of a type of an earlier cell.
  std::vector<Alias> aliases_of(clang::DeclarationName type) const;
  /// Returns whether the cell declares a name.
  bool declares(const std::string& name) const;
  /// Returns whether the cell hid an earlier declaration.
  bool redeclared() const { return !hidden_by_cell_.empty(); }
  /// Returns the declarations that a cell can name, oldest first.
  const std::vector<clang::NamedDecl*>& visible() const { return visible_; }

  /// Returns the functions that clang instantiated from templates so far.
  const llvm::SetVector<clang::FunctionDecl*>& instantiated() const { return instantiated_; }

  /// Moves lambdas, classes and static variables of the statement being parsed to namespace scope: without an
  /// enclosing function clang cannot mangle their names, nor those of templates instantiated with them, and
  /// crashes.
  void move_locals_to_namespace();

  // The AST consumer calls these functions.
  void name_unnamed();
  void declared(clang::Decl* decl);
  void tag(clang::Decl* decl) const;

 private:
  struct Hidden {
    clang::NamedDecl* decl;
    bool in_scope;
  };
  void hide(clang::NamedDecl* decl, std::vector<Hidden>& list);
  /// Returns the visible declarations whose source contains the place, for example that of a parameter.
  std::vector<clang::NamedDecl*> around(clang::SourceLocation place) const;
  void restore(const Hidden& hidden);
  void move_locals_to_namespace(clang::TopLevelStmtDecl& statement);
  void remove_from_table(clang::NamedDecl* decl) const;
  static void remove_from_table(clang::NamedDecl* decl, clang::DeclContext* context);

  clang::CompilerInstance* compiler_ = nullptr;
  int number_ = 0;  // counts attempts to compile; part of the ABI tag
  int named_ = 0;   // counts unnamed declarations
  int moved_ = 0;   // counts declarations moved out of statements
  std::vector<clang::Decl*> of_cell_;
  std::vector<const clang::Decl*> values_;
  std::vector<Hidden> hidden_by_cell_;
  std::vector<clang::NamedDecl*> hidden_of_header_;
  std::vector<clang::UsingDirectiveDecl*>
      directives_;  // the using-directives of the cell; end_cell() restores their names
  const clang::TranslationUnitDecl* unit_ = nullptr;  // the part of the AST that the cell declares
  clang::Decl* last_named_ = nullptr;                 // the last declaration of unit_ that was named
  std::vector<clang::DeclContext*> reopened_;         // namespaces that the cell opens
  std::vector<clang::NamedDecl*> visible_;
  llvm::SetVector<clang::FunctionDecl*> instantiated_;
};

/// Reports the declarations of all compilers that are created during the scope to `declarations`.
class DeclarationsScope {
 public:
  explicit DeclarationsScope(Declarations& declarations);
  ~DeclarationsScope();
};

}  // namespace ktape::interactive
