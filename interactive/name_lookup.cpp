#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Sema/Lookup.h>
#include <clang/Sema/Sema.h>
#include <ktape/interactive/name_lookup.hpp>
#include <ktape/interactive/source.hpp>

#include <algorithm>
#include <cctype>
#include <set>

namespace ktape::interactive {
namespace {

bool of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Where the expression begins that ends at `end`: names, ::, ., ->, calls and indices.
std::size_t expression_begin(const std::string& text, std::size_t end) {
  std::size_t at = end;
  while (at > 0) {
    const char c = text[at - 1];
    if (c == ')' || c == ']') {
      int depth = 0;
      do {
        --at;
        if (text[at] == ')' || text[at] == ']') ++depth;
        if (text[at] == '(' || text[at] == '[') --depth;
      } while (at > 0 && depth > 0);
      if (depth > 0) return end;
    } else if (of_word(c) || c == ':' || c == '.') --at;
    else if (c == '>' && at > 1 && text[at - 2] == '-') at -= 2;
    else break;
  }
  return at;
}

/// Collects the names that begin with a prefix.
class Names : public clang::VisibleDeclConsumer {
 public:
  explicit Names(std::string prefix) : prefix_(std::move(prefix)) {}
  void FoundDecl(clang::NamedDecl* decl, clang::NamedDecl* hiding, clang::DeclContext*, bool) override {
    const clang::IdentifierInfo* name = decl->getIdentifier();
    if (hiding || !name || !name->getName().starts_with(prefix_) || decl->getAccess() == clang::AS_private ||
        decl->getAccess() == clang::AS_protected)
      return;
    // Names with underscores in front are the system's.
    if (name->getName().starts_with("_") && prefix_.empty()) return;
    if (const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(decl);
        record && record->isInjectedClassName())
      return;
    if (!name->getName().starts_with("(")) names_.insert(name->getName().str());
  }
  std::vector<std::string> sorted() const { return {names_.begin(), names_.end()}; }

 private:
  std::string prefix_;
  std::set<std::string> names_;
};

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

clang::DeclContext* NameLookup::class_of(const std::string& expression, bool pointed_to) {
  clang::CompilerInstance& compiler = *interpreter_.getCompilerInstance();
  const std::string text =
      "decltype(" + std::string(pointed_to ? "&*" : "&") + "static_cast<std::remove_reference_t<decltype(" +
      expression + ")>&>(*static_cast<std::remove_reference_t<decltype(" + expression + ")>*>(nullptr)))";
  auto unit = interpreter_.Parse("using ktape_completed = " + text + ";");
  if (!unit) {
    llvm::consumeError(unit.takeError());
    return nullptr;
  }
  clang::DeclContext* found = nullptr;
  for (clang::Decl* decl : unit->TUPart->decls())
    if (auto* alias = llvm::dyn_cast<clang::TypeAliasDecl>(decl))
      found = alias->getUnderlyingType().getCanonicalType()->getPointeeType()->getAsTagDecl();
  llvm::consumeError(interpreter_.Undo());
  compiler.getDiagnostics().Reset(true);
  return found;
}

std::vector<std::string> NameLookup::completions(const std::string& text) {
  std::size_t word = text.size();
  while (word > 0 && of_word(text[word - 1])) --word;
  Names names(text.substr(word));
  clang::Sema& sema = interpreter_.getCompilerInstance()->getSema();
  const std::string before = text.substr(0, word);
  clang::DeclContext* place = nullptr;
  if (before.ends_with("::")) {
    const std::size_t end = before.size() - 2;
    place = context(before.substr(expression_begin(before, end), end - expression_begin(before, end)));
  } else if (before.ends_with('.') || before.ends_with("->")) {
    const bool arrow = before.ends_with('>');
    const std::size_t end = before.size() - (arrow ? 2 : 1), begin = expression_begin(before, end);
    if (begin < end) place = class_of(before.substr(begin, end - begin), arrow);
  } else if (word < text.size()) {
    place = sema.Context.getTranslationUnitDecl()->getPrimaryContext();
  }
  if (place) sema.LookupVisibleDecls(place, clang::Sema::LookupAnyName, names, false);
  return names.sorted();
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
