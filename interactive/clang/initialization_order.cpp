#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <ktape/interactive/clang/initialization_order.hpp>

namespace ktape::interactive {
namespace {

/// Gives a variable the linkage GVA_StrongODR in place of GVA_DiscardableODR: clang emits and initializes variables
/// with the latter linkage on demand. Of all attributes only dllexport changes the linkage; object files of ELF
/// platforms do not record the attribute.
void strengthen_linkage(clang::VarDecl& variable) {
  const bool discardable = variable.isInline() || variable.getType().isConstQualified();
  if (!discardable || variable.isConstexpr() || !variable.hasInit() || variable.isTemplated()) return;
  if (!variable.hasConstantInitialization() && !variable.hasAttr<clang::DLLExportAttr>())
    variable.addAttr(clang::DLLExportAttr::CreateImplicit(variable.getASTContext()));
}

}  // namespace

void initialize_in_order(clang::Decl& declaration) {
  if (auto* variable = llvm::dyn_cast<clang::VarDecl>(&declaration)) strengthen_linkage(*variable);
  if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl, clang::RecordDecl>(declaration))
    for (clang::Decl* inner : llvm::cast<clang::DeclContext>(declaration).decls())
      initialize_in_order(*inner);
}

}  // namespace ktape::interactive
