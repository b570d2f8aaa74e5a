#include <clang/AST/ASTContext.h>
#include <clang/Sema/Lookup.h>
#include <ktape/interactive/clang/display_call.hpp>

namespace ktape::interactive {
namespace {

clang::ExprResult find(clang::Sema& sema, const char* function, clang::SourceLocation at) {
  clang::DeclContext* place = sema.Context.getTranslationUnitDecl();
  for (const char* name : {"ktape", "interactive"}) {
    const auto found = place->lookup(&sema.Context.Idents.get(name));
    if (found.empty()) return clang::ExprError();
    place = llvm::cast<clang::DeclContext>(found.front());
  }
  clang::LookupResult found(sema, &sema.Context.Idents.get(function), at, clang::Sema::LookupOrdinaryName);
  sema.LookupQualifiedName(found, place);
  clang::CXXScopeSpec scope;
  return sema.BuildDeclarationNameExpr(scope, found, false);
}

}  // namespace

clang::ExprResult call_display_function(clang::Sema& sema, const char* function, clang::Expr* argument) {
  const clang::ExprResult callee = find(sema, function, argument->getBeginLoc());
  if (callee.isInvalid()) return clang::ExprError();
  return sema.ActOnCallExpr(sema.TUScope, callee.get(), argument->getBeginLoc(), argument,
                            argument->getEndLoc());
}

}  // namespace ktape::interactive
