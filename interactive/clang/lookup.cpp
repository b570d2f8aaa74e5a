#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/Frontend/CompilerInstance.h>
#include <ktape/interactive/clang/lookup.hpp>

#include <algorithm>
#include <cctype>

namespace ktape::interactive {
namespace {

bool of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

clang::DeclContext* as_context(clang::NamedDecl* decl) {
  decl = decl->getUnderlyingDecl();
  if (auto* alias = llvm::dyn_cast<clang::NamespaceAliasDecl>(decl)) return alias->getNamespace();
  if (auto* pattern = llvm::dyn_cast<clang::ClassTemplateDecl>(decl)) return pattern->getTemplatedDecl();
  if (auto* alias = llvm::dyn_cast<clang::TypedefNameDecl>(decl))
    return alias->getUnderlyingType()->getAsTagDecl();
  return llvm::dyn_cast<clang::DeclContext>(decl);
}

}  // namespace

std::vector<clang::NamedDecl*> NameLookup::declarations(const std::string& qualified) {
  clang::ASTContext& ast = interpreter_.getASTContext();
  const std::size_t cut = qualified.rfind("::");
  const bool global = cut == std::string::npos || cut == 0;
  clang::DeclContext* place =
      global ? ast.getTranslationUnitDecl()->getPrimaryContext() : context(qualified.substr(0, cut));
  if (!place) return {};
  const std::string name = cut == std::string::npos ? qualified : qualified.substr(cut + 2);
  if (name.empty() || !std::all_of(name.begin(), name.end(), of_word)) return {};
  const auto found = place->getPrimaryContext()->lookup(&ast.Idents.get(name));
  return {found.begin(), found.end()};
}

clang::DeclContext* NameLookup::context(const std::string& qualified) {
  for (clang::NamedDecl* decl : declarations(qualified))
    if (clang::DeclContext* context = as_context(decl)) return context;
  return nullptr;
}

std::vector<Interpreter::Place> NameLookup::places(const std::string& name) {
  const clang::SourceManager& sources = interpreter_.getCompilerInstance()->getSourceManager();
  std::vector<Interpreter::Place> places;
  for (clang::NamedDecl* found : declarations(name)) {
    clang::NamedDecl* decl = found->getUnderlyingDecl();
    if (auto* alias = llvm::dyn_cast<clang::NamespaceAliasDecl>(decl)) decl = alias->getNamespace();
    clang::SourceLocation end = decl->getEndLoc();
    if (auto* pattern = llvm::dyn_cast<clang::TemplateDecl>(decl))
      end = pattern->getTemplatedDecl()->getEndLoc();
    const clang::FunctionDecl* function = decl->getAsFunction();
    if (function && function->hasBody() && function->getBody()) end = function->getBody()->getBeginLoc();
    if (llvm::isa<clang::NamespaceDecl>(decl)) end = decl->getBeginLoc();
    const clang::PresumedLoc first = sources.getPresumedLoc(sources.getExpansionLoc(decl->getBeginLoc()));
    if (first.isValid())
      places.push_back({first.getFilename(), first.getLine(),
                        sources.getPresumedLineNumber(sources.getExpansionLoc(end))});
  }
  std::sort(places.begin(), places.end(),
            [](const auto& a, const auto& b) { return std::tie(a.file, a.line) < std::tie(b.file, b.line); });
  return places;
}

}  // namespace ktape::interactive
