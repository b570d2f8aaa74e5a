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

/// Returns an expression without the arguments of the call at its end: `m.layers()` is `m.layers`.
std::string without_call(const std::string& expression) {
  if (!expression.ends_with(')')) return expression;
  int open = 0;
  for (std::size_t i = expression.size(); i-- > 0;) {
    open += (expression[i] == ')') - (expression[i] == '(');
    if (open == 0) return expression.substr(0, i);
  }
  return {};
}

/// Adds the members of a name in a class and its bases.
void add_members(clang::DeclContext& place, clang::DeclarationName name,
                 std::vector<clang::NamedDecl*>& found) {
  for (clang::NamedDecl* decl : place.getPrimaryContext()->lookup(name)) found.push_back(decl);
  const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(&place);
  if (!found.empty() || !record || !record->hasDefinition()) return;
  for (const clang::CXXBaseSpecifier& base : record->getDefinition()->bases())
    if (auto* of_base = base.getType()->getAsCXXRecordDecl()) add_members(*of_base, name, found);
}

}  // namespace

std::vector<clang::NamedDecl*> NameLookup::members(clang::DeclContext& place, const std::string& name) {
  std::vector<clang::NamedDecl*> found;
  if (!name.empty() && std::all_of(name.begin(), name.end(), of_word))
    add_members(place, &interpreter_.getASTContext().Idents.get(name), found);
  return found;
}

std::vector<clang::NamedDecl*> NameLookup::declarations(const std::string& expression) {
  const std::size_t dot = expression.rfind('.'), arrow = expression.rfind("->");
  const bool points = arrow != std::string::npos && (dot == std::string::npos || arrow > dot);
  const std::size_t cut = points ? arrow : dot;
  if (cut != std::string::npos && expression.find(')', cut) == std::string::npos) {
    clang::CXXRecordDecl* const of = class_of(expression.substr(0, cut), points);
    return of ? members(*of, expression.substr(cut + (points ? 2 : 1))) : std::vector<clang::NamedDecl*>();
  }
  const std::size_t colons = expression.rfind("::");
  if (colons == std::string::npos || colons == 0) {
    clang::DeclContext* const all = interpreter_.getASTContext().getTranslationUnitDecl();
    return members(*all, colons == 0 ? expression.substr(2) : expression);
  }
  clang::DeclContext* const place = context(expression.substr(0, colons));
  return place ? members(*place, expression.substr(colons + 2)) : std::vector<clang::NamedDecl*>();
}

clang::CXXRecordDecl* NameLookup::pointee(clang::CXXRecordDecl& pointer) {
  std::vector<clang::NamedDecl*> found;
  const clang::OverloadedOperatorKind arrow = clang::OO_Arrow;
  add_members(pointer, interpreter_.getASTContext().DeclarationNames.getCXXOperatorName(arrow), found);
  for (const clang::NamedDecl* decl : found)
    if (const clang::FunctionDecl* function = decl->getAsFunction())
      return function->getReturnType()->getPointeeType()->getAsCXXRecordDecl();
  return nullptr;
}

clang::CXXRecordDecl* NameLookup::class_of(const std::string& expression, bool through_pointer) {
  const std::string name = without_call(expression);
  for (clang::NamedDecl* found : declarations(name)) {
    clang::QualType type;
    if (const clang::FunctionDecl* function = found->getUnderlyingDecl()->getAsFunction())
      type = function->getReturnType();
    else if (const auto* value = llvm::dyn_cast<clang::ValueDecl>(found->getUnderlyingDecl()))
      type = value->getType();
    if (type.isNull()) continue;
    type = type.getNonReferenceType();
    if (through_pointer && type->isPointerType()) return type->getPointeeType()->getAsCXXRecordDecl();
    clang::CXXRecordDecl* const record = type->getAsCXXRecordDecl();
    if (record) return through_pointer ? pointee(*record) : record;
  }
  return nullptr;
}

clang::DeclContext* NameLookup::context(const std::string& qualified) {
  for (clang::NamedDecl* decl : declarations(qualified))
    if (clang::DeclContext* context = as_context(decl)) return context;
  return nullptr;
}

Interpreter::Place NameLookup::place(const clang::Decl& decl, clang::SourceLocation begin,
                                     clang::SourceLocation end) {
  const clang::SourceManager& sources = interpreter_.getCompilerInstance()->getSourceManager();
  begin = sources.getExpansionLoc(begin), end = sources.getExpansionLoc(end);
  if (begin.isInvalid()) return {};
  const bool in_cell = !decl.isFromASTFile() && sources.getBufferName(begin).starts_with("input_line_");
  if (in_cell)
    return {sources.getPresumedLoc(begin).getFilename(), sources.getSpellingLineNumber(begin),
            sources.getSpellingLineNumber(end), sources.getBufferData(sources.getFileID(begin)).str()};
  const clang::PresumedLoc first = sources.getPresumedLoc(begin);
  return {first.getFilename(), first.getLine(), sources.getPresumedLineNumber(end)};
}

std::vector<Interpreter::Place> NameLookup::places(const std::string& name) {
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
    places.push_back(place(*decl, decl->getBeginLoc(), end));
    places.back().is_class = llvm::isa<clang::CXXRecordDecl, clang::ClassTemplateDecl>(decl);
  }
  std::erase_if(places, [](const Interpreter::Place& one) { return one.line == 0; });
  std::sort(places.begin(), places.end(),
            [](const auto& a, const auto& b) { return std::tie(a.file, a.line) < std::tie(b.file, b.line); });
  return places;
}

namespace {

/// Returns the functions of a declaration: itself, or the constructors of a class.
std::vector<const clang::FunctionDecl*> functions_of(clang::NamedDecl* found) {
  if (const clang::FunctionDecl* function = found->getUnderlyingDecl()->getAsFunction()) return {function};
  const auto* record = llvm::dyn_cast_or_null<clang::CXXRecordDecl>(as_context(found));
  if (!record || !record->hasDefinition()) return {};
  std::vector<const clang::FunctionDecl*> constructors;
  for (clang::Decl* member : record->getDefinition()->decls())
    if (const clang::FunctionDecl* function = member->getAsFunction())  // of a template, too
      if (llvm::isa<clang::CXXConstructorDecl>(function)) constructors.push_back(function);
  return constructors;
}

}  // namespace

bool is_by_name(const clang::FieldDecl& field) {
  const auto* type = field.getType()->getAsCXXRecordDecl();
  return type && type->getName() == "ByName";
}

std::vector<Interpreter::OptionStruct> NameLookup::options(const std::string& name) {
  std::vector<Interpreter::OptionStruct> options;
  for (clang::NamedDecl* found : declarations(name))
    for (const clang::FunctionDecl* function : functions_of(found))
      for (const clang::ParmVarDecl* parameter : function->parameters()) {
        const auto* record = parameter->getType().getNonReferenceType()->getAsCXXRecordDecl();
        if (!record || !record->hasDefinition() || !record->getName().ends_with("Options")) continue;
        const std::string of = record->getNameAsString();
        std::vector<std::string> others;
        for (const clang::ParmVarDecl* other : function->parameters())
          if (other != parameter) others.push_back(other->getNameAsString());
        const auto known = llvm::find_if(options, [&](const auto& one) { return one.name == of; });
        if (known != options.end()) {
          if (others.size() > known->arguments.size()) known->arguments = others;
          continue;
        }
        options.push_back({of, others});
        for (const clang::FieldDecl* field : record->getDefinition()->fields())
          if (!is_by_name(*field))
            options.back().fields.emplace_back(field->getNameAsString(),
                                               place(*field, field->getLocation(), field->getEndLoc()));
      }
  return options;
}

}  // namespace ktape::interactive
