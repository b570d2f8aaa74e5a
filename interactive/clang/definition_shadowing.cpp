#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclContextInternals.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>
#include <clang/Lex/HeaderSearch.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Pragma.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Sema/IdentifierResolver.h>
#include <clang/Sema/Scope.h>
#include <clang/Sema/Sema.h>
#include <ktape/interactive/clang/checked_division.hpp>
#include <ktape/interactive/clang/definition_shadowing.hpp>
#include <ktape/interactive/clang/initialization_order.hpp>

#include <algorithm>
#include <regex>

namespace ktape::interactive {
namespace {

Declarations* attached = nullptr;

class Consumer : public clang::ASTConsumer {
 public:
  explicit Consumer(Declarations& declarations) : declarations_(declarations) {}
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    declarations_.name_unnamed();
    declarations_.move_locals_to_namespace();
    for (clang::Decl* decl : group) declarations_.declared(decl);
    return true;
  }
  void HandleTagDeclDefinition(clang::TagDecl* decl) override { declarations_.tag(decl); }

 private:
  Declarations& declarations_;
};

/// Gives names to the unnamed declarations of a cell, on which clang 19 crashes when it removes a cell with an
/// error. A using-directive has a special name, on which clang crashes, too.
class Namer : public clang::PPCallbacks {
 public:
  explicit Namer(Declarations& declarations) : declarations_(declarations) {}
  void FileChanged(clang::SourceLocation, FileChangeReason reason, clang::SrcMgr::CharacteristicKind,
                   clang::FileID) override {
    if (reason == ExitFile) declarations_.name_unnamed();
  }

 private:
  Declarations& declarations_;
};

/// Handles pragmas about the including file (`once`, `system_header`), and ignores them in a cell, which is
/// no file.
class PragmaOfFile : public clang::PragmaHandler {
 public:
  using Effect = void (*)(clang::HeaderSearch&, clang::FileEntryRef);
  PragmaOfFile(const char* name, Effect effect) : PragmaHandler(name), effect_(effect) {}
  void HandlePragma(clang::Preprocessor& preprocessor, clang::PragmaIntroducer, clang::Token&) override {
    const auto* lexer = preprocessor.getCurrentFileLexer();
    if (const auto file = lexer ? lexer->getFileEntry() : std::nullopt)
      effect_(preprocessor.getHeaderSearchInfo(), *file);
  }

 private:
  Effect effect_;
};

void replace_pragmas(clang::Preprocessor& preprocessor) {
  // The preprocessor owns its handlers; a new handler replaces the built-in handler of that name.
  preprocessor.AddPragmaHandler(new PragmaOfFile(
      "once",
      [](clang::HeaderSearch& search, clang::FileEntryRef file) { search.MarkFileIncludeOnce(file); }));
  for (const char* space : {"GCC", "clang"})
    preprocessor.AddPragmaHandler(
        space, new PragmaOfFile("system_header", [](clang::HeaderSearch& search, clang::FileEntryRef file) {
          search.MarkFileSystemHeader(file);
        }));
}

/// Adds the consumer as a plugin: the only way to see declarations before the interpreter's code generator.
class Plugin : public clang::PluginASTAction {
 public:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    if (!attached) return std::make_unique<clang::ASTConsumer>();
    return std::make_unique<Consumer>(*attached);
  }
  bool ParseArgs(const clang::CompilerInstance&, const std::vector<std::string>&) override { return true; }
  ActionType getActionType() override { return AddBeforeMainAction; }
};
const clang::FrontendPluginRegistry::Add<Plugin> plugin("ktape", "tells the session what its cells declare");

/// Calls f with every name that a declaration introduces: its own, bindings, using-declarations, members of
/// namespaces and enumerators.
void for_each_name(clang::Decl* decl, const std::function<void(clang::NamedDecl*)>& f) {
  if (llvm::isa<clang::UsingDirectiveDecl>(decl)) return;
  auto* named = llvm::dyn_cast<clang::NamedDecl>(decl);
  if (named && named->getDeclName()) f(named);
  if (auto* parts = llvm::dyn_cast<clang::DecompositionDecl>(decl))
    for (clang::BindingDecl* part : parts->bindings()) f(part);
  if (auto* use = llvm::dyn_cast<clang::UsingDecl>(decl))
    for (clang::UsingShadowDecl* shadow : use->shadows()) f(shadow);
  auto* enumeration = llvm::dyn_cast<clang::EnumDecl>(decl);
  if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(decl) ||
      (enumeration && !enumeration->isScoped()))
    for (clang::Decl* inner : llvm::cast<clang::DeclContext>(decl)->decls()) for_each_name(inner, f);
}

clang::Decl* tagged(clang::Decl* decl) {
  if (auto* pattern = llvm::dyn_cast<clang::TemplateDecl>(decl)) decl = pattern->getTemplatedDecl();
  const bool taggable =
      decl && llvm::isa<clang::RecordDecl, clang::EnumDecl, clang::FunctionDecl, clang::VarDecl>(decl);
  return taggable && decl->getDeclContext()->isFileContext() ? decl : nullptr;
}

/// Returns whether lookup finds the declaration through its class or template; such a name cannot be hidden.
bool is_part_of_another(const clang::NamedDecl* decl) {
  const auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl);
  return decl->isCXXClassMember() || (function && function->isFunctionTemplateSpecialization()) ||
         llvm::isa<clang::ClassTemplateSpecializationDecl, clang::VarTemplateSpecializationDecl>(decl);
}

bool is_in_header(const clang::Decl& decl) {
  const clang::SourceManager& sources = decl.getASTContext().getSourceManager();
  return sources.isInSystemHeader(sources.getExpansionLoc(decl.getLocation()));
}

}  // namespace

void Declarations::attach(clang::CompilerInstance& compiler) {
  compiler_ = &compiler;
  compiler.getPreprocessor().addPPCallbacks(std::make_unique<Namer>(*this));
  replace_pragmas(compiler.getPreprocessor());
}

DeclarationsScope::DeclarationsScope(Declarations& declarations) { attached = &declarations; }
DeclarationsScope::~DeclarationsScope() { attached = nullptr; }

void Declarations::begin_cell() {
  ++number_;
  of_cell_.clear();
  values_.clear();
  hidden_by_cell_.clear();
  directives_.clear();
}

void Declarations::declared(clang::Decl* decl) {
  if (auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl);
      function && function->isTemplateInstantiation()) {
    instantiated_.insert(function);
    // The pattern of a template of the session has no types to divide yet.
    if (number_ > 0 && !function->getTemplateInstantiationPattern()->isFromASTFile())
      check_divisors(*decl, compiler_->getSema());
  }
  if (number_ == 0 || decl->isFromASTFile() || !decl->getLexicalDeclContext()->isFileContext()) return;
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl);
      function && function->isTemplateInstantiation())
    return;
  if (!is_in_header(*decl)) check_divisors(*decl, compiler_->getSema());
  of_cell_.push_back(decl);
  initialize_in_order(*decl);
  auto* statement = llvm::dyn_cast<clang::TopLevelStmtDecl>(decl);
  if (statement) move_locals_to_namespace(*statement);
  if (statement && statement->isSemiMissing()) values_.push_back(decl);
  for_each_name(decl, [this](clang::NamedDecl* named) {
    tag(named);
    const auto* part = llvm::dyn_cast<clang::BindingDecl>(named);
    if (part && part->getHoldingVar()) tag(part->getHoldingVar());
  });
}

void Declarations::name_unnamed() {
  if (number_ == 0) return;
  clang::ASTContext& context = compiler_->getASTContext();
  const clang::TranslationUnitDecl* unit = context.getTranslationUnitDecl();
  if (unit != unit_) last_named_ = nullptr;
  unit_ = unit;
  const auto name = [&](clang::NamedDecl* named, const char* kind) {
    named->setDeclName(&context.Idents.get('(' + std::string(kind) + ' ' + std::to_string(++named_) + ')'));
  };
  clang::Decl* decl = last_named_ ? last_named_->getNextDeclInContext() : *unit->noload_decls().begin();
  for (; decl; decl = decl->getNextDeclInContext()) {
    last_named_ = decl;
    const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(decl);
    if (auto* directive = llvm::dyn_cast<clang::UsingDirectiveDecl>(decl)) {
      directives_.push_back(directive);
      name(directive, "directive");
    } else if (auto* named = llvm::dyn_cast<clang::NamedDecl>(decl); named && !named->getDeclName()) {
      name(named, record && record->isLambda() ? "lambda" : "unnamed");
    }
  }
}

void Declarations::move_locals_to_namespace() {
  if (number_ == 0) return;
  for (const clang::Scope* scope = compiler_->getSema().getCurScope(); scope; scope = scope->getParent())
    if (auto* statement = llvm::dyn_cast_or_null<clang::TopLevelStmtDecl>(scope->getEntity()))
      move_locals_to_namespace(*statement);
}

void Declarations::move_locals_to_namespace(clang::TopLevelStmtDecl& statement) {
  clang::ASTContext& context = statement.getASTContext();
  for (clang::Decl* decl : statement.noload_decls()) {
    auto* type = llvm::dyn_cast<clang::TagDecl>(decl);
    auto* variable = llvm::dyn_cast<clang::VarDecl>(decl);
    const bool has_symbols = type ? type->isCompleteDefinition() : variable && variable->isStaticLocal();
    if (!has_symbols || decl->getDeclContext() != &statement) continue;
    const std::string number = std::to_string(++moved_);
    if (type && !type->getDeclName())
      type->setDeclName(&context.Idents.get("(lambda of a statement " + number + ')'));
    decl->setDeclContext(context.getTranslationUnitDecl());
    llvm::StringRef name = context.Idents.get("statement" + number).getName();
    decl->addAttr(clang::AbiTagAttr::CreateImplicit(context, &name, 1));
  }
}

void Declarations::tag(clang::Decl* decl) const {
  decl = number_ > 0 && !decl->isFromASTFile() ? tagged(decl) : nullptr;
  if (!decl || decl->hasAttr<clang::AbiTagAttr>()) return;
  const auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl);
  if (function && (function->isMain() || function->isExternC())) return;
  const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl);
  if (variable && variable->isExternC()) return;
  clang::ASTContext& context = decl->getASTContext();
  std::string text = "cell" + std::to_string(number_);
  // A redeclaration takes the tag of the first declaration.
  if (const clang::Decl* first = decl->getCanonicalDecl(); first != decl) {
    const auto* tags = first->getAttr<clang::AbiTagAttr>();
    if (!tags) return;
    text = tags->tags_begin()->str();
  }
  llvm::StringRef name = context.Idents.get(text).getName();
  decl->addAttr(clang::AbiTagAttr::CreateImplicit(context, &name, 1));
}

void Declarations::remove_from_table(clang::NamedDecl* decl) const {
  clang::DeclContext* const context = decl->getDeclContext()->getRedeclContext()->getPrimaryContext();
  remove_from_table(decl, context);
  remove_from_table(decl, decl->getASTContext().getExternCContextDecl());
}

void Declarations::remove_from_table(clang::NamedDecl* decl, clang::DeclContext* context) {
  context->lookup(decl->getDeclName());  // loads the table from the precompiled header
  clang::StoredDeclsMap* table = context->getLookupPtr();
  if (!table) return;
  const auto place = table->find(decl->getDeclName());
  // The entry stays even when empty: without it, clang would read the precompiled header again.
  if (place == table->end()) return;
  for (clang::NamedDecl* one : place->second.getLookupResult())
    if (one == decl) return place->second.remove(decl);
}

void Declarations::hide(clang::NamedDecl* decl, std::vector<Hidden>& list) {
  clang::Sema& sema = compiler_->getSema();
  Hidden hidden{decl, false};
  for (auto i = sema.IdResolver.begin(decl->getDeclName()); i != sema.IdResolver.end(); ++i)
    hidden.in_scope = hidden.in_scope || *i == decl;
  if (hidden.in_scope) sema.IdResolver.RemoveDecl(decl);
  if (sema.TUScope) sema.TUScope->RemoveDecl(decl);
  remove_from_table(decl);
  list.push_back(hidden);
}

void Declarations::forget(clang::NamedDecl* decl) {
  std::vector<Hidden> gone;
  hide(decl, gone);
}

void Declarations::restore(const Hidden& hidden) {
  clang::Sema& sema = compiler_->getSema();
  if (hidden.in_scope) {
    sema.IdResolver.AddDecl(hidden.decl);
    if (sema.TUScope) sema.TUScope->AddDecl(hidden.decl);
  }
  clang::DeclContext* context = hidden.decl->getDeclContext()->getRedeclContext()->getPrimaryContext();
  if (clang::StoredDeclsMap* table = context->getLookupPtr())
    (*table)[hidden.decl->getDeclName()].addOrReplaceDecl(hidden.decl);
  std::erase(hidden_of_header_, hidden.decl);
}

std::vector<clang::NamedDecl*> Declarations::around(clang::SourceLocation place) const {
  std::vector<clang::NamedDecl*> found;
  const clang::SourceManager& sources = compiler_->getSourceManager();
  if (place.isFileID())
    for (clang::NamedDecl* decl : visible_) {
      const clang::SourceRange range = decl->getSourceRange();
      if (sources.isPointWithin(place, range.getBegin(), range.getEnd())) found.push_back(decl);
    }
  return found;
}

bool Declarations::hide(const Clash& clash) {
  clang::ASTContext& context = compiler_->getASTContext();
  std::vector<clang::DeclContext*> places = reopened_;
  places.push_back(context.getTranslationUnitDecl()->getPrimaryContext());
  std::vector<clang::NamedDecl*> all, exact;
  for (clang::DeclContext* place : places) {
    if (!all.empty()) break;
    if (!clash.name) break;
    for (clang::NamedDecl* found : place->lookup(clash.name)) {
      all.push_back(found);
      for (const clang::Decl* one : found->redecls())
        if (one->getLocation() == clash.previous && !llvm::is_contained(exact, found)) exact.push_back(found);
    }
  }
  if (exact.empty()) exact = around(clash.previous);
  std::vector<clang::NamedDecl*>& chosen = exact.empty() ? all : exact;
  std::erase_if(chosen, is_part_of_another);
  for (clang::NamedDecl* decl : chosen) {
    hide(decl, hidden_by_cell_);
    if (decl->isFromASTFile()) hidden_of_header_.push_back(decl);
  }
  return !chosen.empty();
}

void Declarations::restart() {
  std::vector<Hidden> gone;
  std::vector<clang::NamedDecl*> before;  // the earlier declarations that the cell redeclared
  for (clang::Decl* decl : of_cell_)
    for_each_name(decl, [&](clang::NamedDecl* named) {
      hide(named, gone);
      if (auto* previous = llvm::dyn_cast_or_null<clang::NamedDecl>(named->getPreviousDecl()))
        before.push_back(previous);
    });
  for (clang::NamedDecl* decl : before)
    if (llvm::none_of(gone, [&](const Hidden& one) { return one.decl == decl; }) &&
        llvm::none_of(hidden_by_cell_, [&](const Hidden& one) { return one.decl == decl; }))
      restore({decl, true});
  ++number_;
  reopened_.clear();
  for (clang::Decl* decl : of_cell_)
    if (auto* space = llvm::dyn_cast<clang::NamespaceDecl>(decl))
      reopened_.push_back(space->getPrimaryContext());
  of_cell_.clear();
  directives_.clear();
}

void Declarations::hide_header_names_again() const {
  for (clang::NamedDecl* decl : hidden_of_header_) remove_from_table(decl);
}

void Declarations::abandon_cell() {
  restart();
  for (const Hidden& hidden : hidden_by_cell_) restore(hidden);
  hidden_by_cell_.clear();
}

void Declarations::abandon(const std::vector<const clang::VarDecl*>& variables) {
  std::vector<Hidden> gone;
  for (const clang::VarDecl* variable : variables) {
    std::erase(of_cell_, variable);
    for_each_name(const_cast<clang::VarDecl*>(variable), [&](clang::NamedDecl* named) {
      hide(named, gone);
      const auto has_name = [&](const Hidden& hidden) {
        return hidden.decl->getDeclName() == named->getDeclName();
      };
      for (const Hidden& hidden : hidden_by_cell_)
        if (has_name(hidden)) restore(hidden);
      std::erase_if(hidden_by_cell_, has_name);
    });
  }
}

void Declarations::end_cell() {
  for (clang::UsingDirectiveDecl* directive : directives_)
    directive->setDeclName(clang::DeclarationName::getUsingDirectiveName());
  for (const Hidden& hidden : hidden_by_cell_) std::erase(visible_, hidden.decl);
  for (clang::Decl* decl : of_cell_)
    for_each_name(decl, [this](clang::NamedDecl* named) {
      const clang::IdentifierInfo* name = named->getDeclName().getAsIdentifierInfo();
      const bool typed = name && !name->getName().starts_with("(") &&
                         !llvm::isa<clang::NamespaceDecl, clang::DecompositionDecl>(named);
      if (typed && !llvm::is_contained(visible_, named->getCanonicalDecl()))
        visible_.push_back(llvm::cast<clang::NamedDecl>(named->getCanonicalDecl()));
    });
}

std::vector<Declarations::Statement> Declarations::statements() const {
  const clang::SourceManager& sources = compiler_->getSourceManager();
  std::vector<Statement> statements;
  for (const clang::Decl* decl : of_cell_) {
    if (!llvm::isa<clang::TopLevelStmtDecl>(decl)) continue;
    const clang::CharSourceRange range = clang::Lexer::getAsCharRange(
        sources.getExpansionRange(decl->getSourceRange()), sources, compiler_->getLangOpts());
    const std::size_t begin = sources.getFileOffset(range.getBegin()),
                      end = sources.getFileOffset(range.getEnd());
    if (begin < end)
      statements.push_back(
          {begin, end, sources.getPresumedLineNumber(range.getBegin()), llvm::is_contained(values_, decl)});
  }
  return statements;
}

std::vector<Declarations::Alias> Declarations::aliases_of(clang::DeclarationName type) const {
  const bool known = llvm::any_of(visible_, [&](const clang::NamedDecl* decl) {
    return decl->getDeclName() == type && llvm::isa<clang::TypeDecl, clang::ClassTemplateDecl>(decl);
  });
  std::vector<Alias> aliases;
  if (!known || !type.isIdentifier()) return aliases;
  const clang::SourceManager& sources = compiler_->getSourceManager();
  const std::regex word("\\b" + type.getAsString() + "\\b");
  for (const clang::NamedDecl* decl : visible_) {
    if (!llvm::isa<clang::TypedefNameDecl, clang::TypeAliasTemplateDecl>(decl) || decl->getDeclName() == type)
      continue;
    const auto range = clang::CharSourceRange::getTokenRange(decl->getSourceRange());
    const std::string text = clang::Lexer::getSourceText(range, sources, compiler_->getLangOpts()).str();
    if (decl->getDeclContext()->isTranslationUnit() && std::regex_search(text, word))
      aliases.push_back({decl->getNameAsString(), text});
  }
  return aliases;
}

bool Declarations::declares(const std::string& name) const {
  bool found = false;
  for (clang::Decl* decl : of_cell_)
    for_each_name(decl,
                  [&](const clang::NamedDecl* named) { found = found || named->getNameAsString() == name; });
  return found;
}

std::vector<const clang::VarDecl*> Declarations::hidden_variables() const {
  std::vector<const clang::VarDecl*> variables;
  for (const Hidden& hidden : hidden_by_cell_)
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(hidden.decl);
        variable && !variable->isFromASTFile())
      variables.push_back(variable);
  return variables;
}

std::vector<const clang::VarDecl*> Declarations::variables_of_cell() const {
  std::vector<const clang::VarDecl*> variables;
  for (clang::Decl* decl : of_cell_) {
    if (const auto* parts = llvm::dyn_cast<clang::DecompositionDecl>(decl)) variables.push_back(parts);
    for_each_name(decl, [&](clang::NamedDecl* named) {
      if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(named)) variables.push_back(variable);
    });
  }
  return variables;
}

}  // namespace ktape::interactive
