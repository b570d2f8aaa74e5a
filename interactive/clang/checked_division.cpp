#include <clang/AST/ASTContext.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <ktape/interactive/clang/checked_division.hpp>
#include <ktape/interactive/clang/display_call.hpp>

namespace ktape::interactive {
namespace {

class Divisors : public clang::RecursiveASTVisitor<Divisors> {
 public:
  explicit Divisors(clang::Sema& sema) : sema_(sema) {}

  bool VisitBinaryOperator(clang::BinaryOperator* op) {
    if (divides_integers(*op) && !is_known(*op->getRHS())) {
      const clang::ExprResult call = call_display_function(sema_, "divisor", op->getRHS());
      if (call.isUsable()) op->setRHS(call.get());
    }
    return true;
  }

 private:
  static bool divides_integers(const clang::BinaryOperator& op) {
    const clang::BinaryOperatorKind kind = op.getOpcode();
    const auto* assignment = llvm::dyn_cast<clang::CompoundAssignOperator>(&op);
    const bool divides = kind == clang::BO_Div || kind == clang::BO_Rem || kind == clang::BO_DivAssign ||
                         kind == clang::BO_RemAssign;
    const clang::QualType left = assignment ? assignment->getComputationLHSType() : op.getLHS()->getType();
    const clang::QualType right = op.getRHS()->getType();
    return divides && !op.isTypeDependent() && !op.getRHS()->isTypeDependent() && left->isIntegerType() &&
           right->isIntegerType();
  }

  /// Returns whether a divisor is a constant other than 0.
  bool is_known(const clang::Expr& divisor) const {
    clang::Expr::EvalResult result;
    return divisor.isValueDependent() ||
           (divisor.EvaluateAsInt(result, sema_.Context) && result.Val.getInt().getBoolValue());
  }

  clang::Sema& sema_;
};

}  // namespace

void check_divisors(clang::Decl& decl, clang::Sema& sema) { Divisors(sema).TraverseDecl(&decl); }

}  // namespace ktape::interactive
