#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/Basic/SourceManager.h>
#include <ktape/interactive/clang/described_types.hpp>

namespace ktape::interactive {
namespace {

/// Returns the code that describes a type by a function that writes `value`. Statements with lambdas would crash clang 19.
std::string description(const clang::TagDecl& type, const std::string& body) {
  static int described = 0;
  const std::string number = std::to_string(++described), writer = "ktape_write_" + number;
  return "static void " + writer + "(std::ostream& out, const ::" + type.getQualifiedNameAsString() +
         "& value) {\n" + body + "}\nbool ktape_described_" + number + " = ktape::interactive::describe(" +
         writer + ");\n";
}

std::string description(const clang::EnumDecl& type) {
  if (type.enumerators().empty()) return {};
  const std::string name = type.getQualifiedNameAsString();
  std::string text;
  for (const clang::EnumConstantDecl* one : type.enumerators()) {
    const std::string enumerator = name + "::" + one->getNameAsString();
    text += "if (value == ::" + enumerator + ") { out << \"" + enumerator + "\"; return; }\n";
  }
  return description(type, text + "ktape::interactive::write_number_of(out, \"" + name + "\", value);\n");
}

/// Returns the code that writes the public members of a class and its public bases.
std::string members(const clang::CXXRecordDecl& type) {
  std::string text;
  for (const clang::CXXBaseSpecifier& base : type.bases()) {
    const auto* of = base.getType()->getAsCXXRecordDecl();
    if (of && base.getAccessSpecifier() == clang::AS_public) text += members(*of->getDefinition());
  }
  for (const clang::FieldDecl* field : type.fields())
    if (field->getDeclName() && field->getAccess() == clang::AS_public)
      text += "members.add(\"" + field->getNameAsString() + "\", value." + field->getNameAsString() + ");\n";
  return text;
}

std::string description(const clang::CXXRecordDecl& type) {
  const std::string all = type.isUnion() ? std::string() : members(type);
  if (all.empty()) return {};
  return description(type, "ktape::interactive::MemberList members(out, \"" +
                               type.getQualifiedNameAsString() + "\");\n" + all);
}

/// Returns the descriptions of a type and of the public types in it.
std::string descriptions_in(const clang::Decl& decl) {
  const clang::SourceManager& sources = decl.getASTContext().getSourceManager();
  const auto* type = llvm::dyn_cast<clang::TagDecl>(&decl);
  const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(&decl);
  if (sources.isInSystemHeader(decl.getLocation()) || (!type && !space)) return {};
  if (type && (!type->isCompleteDefinition() || !type->getIdentifier() || type->isInvalidDecl() ||
               type->isDependentType()))
    return {};
  std::string text;
  const auto* enumeration = llvm::dyn_cast<clang::EnumDecl>(&decl);
  const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(&decl);
  if (enumeration) text = description(*enumeration);
  if (record && !llvm::isa<clang::ClassTemplateSpecializationDecl>(record)) text = description(*record);
  if (enumeration) return text;
  for (const clang::Decl* inner : llvm::cast<clang::DeclContext>(&decl)->decls())
    if (!inner->isImplicit() && inner->getAccess() != clang::AS_private &&
        inner->getAccess() != clang::AS_protected)
      text += descriptions_in(*inner);
  return text;
}

}  // namespace

std::string descriptions(const std::vector<clang::Decl*>& cell) {
  std::string text;
  for (const clang::Decl* decl : cell) text += descriptions_in(*decl);
  return text;
}

}  // namespace ktape::interactive
