#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Sema/Sema.h>
#include <ktape/interactive/clang/display_call.hpp>
#include <ktape/interactive/clang/session_objects.hpp>
#include <ktape/interactive/clang/shown_values.hpp>

#include <regex>

namespace ktape::interactive {

std::shared_ptr<void> take_kept_value();  // of display.hpp, whose includes need run-time type information

namespace {

constexpr std::size_t most_results = 100;  // older values are forgotten

class ValueDisplay : public clang::RuntimeInterfaceBuilder {
 public:
  ValueDisplay(clang::CompilerInstance& compiler, ShownValues& values)
      : compiler_(compiler), values_(values) {}
  TransformExprFunction* getPrintValueTransformer() override { return transform; }

 private:
  static clang::ExprResult transform(clang::RuntimeInterfaceBuilder* self, clang::Expr* value,
                                     llvm::ArrayRef<clang::Expr*>) {
    return static_cast<ValueDisplay*>(self)->call(value);
  }

  clang::ExprResult call(clang::Expr* value) {
    clang::Sema& sema = compiler_.getSema();
    if (auto* whole = llvm::dyn_cast<clang::ExprWithCleanups>(value)) value = whole->getSubExpr();
    if (value->getType()->isVoidType()) return clang::ExprWithCleanups::Create(sema.Context, value, true, {});
    const clang::QualType type = value->getType().getNonReferenceType().getUnqualifiedType();
    const bool keep = can_be_copied(type) && !is_stream(type);
    const clang::ExprResult call = call_display_function(sema, keep ? "show_and_keep" : "show", value);
    if (call.isInvalid()) return clang::ExprError();
    if (keep) values_.will_show(type);
    return clang::ExprWithCleanups::Create(sema.Context, call.get(), true, {});
  }

  static bool is_stream(clang::QualType type) {
    const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
    return record && record->isInStdNamespace() && record->getName().contains("stream");
  }

  clang::CompilerInstance& compiler_;
  ShownValues& values_;
};

clang::VarDecl* declare_variable(clang::ASTContext& context, const std::string& name, clang::QualType type,
                                 const std::string& symbol) {
  clang::TranslationUnitDecl* const unit = context.getTranslationUnitDecl();
  const clang::QualType reference = context.getLValueReferenceType(type);
  auto* variable = clang::VarDecl::Create(context, unit, clang::SourceLocation(), clang::SourceLocation(),
                                          &context.Idents.get(name), reference,
                                          context.getTrivialTypeSourceInfo(reference), clang::SC_Extern);
  variable->addAttr(clang::AsmLabelAttr::CreateImplicit(context, symbol, true));
  unit->addDecl(variable);
  return variable;
}

}  // namespace

std::unique_ptr<clang::RuntimeInterfaceBuilder> make_value_display(clang::CompilerInstance& compiler,
                                                                   ShownValues& values) {
  return std::make_unique<ValueDisplay>(compiler, values);
}

std::vector<clang::NamedDecl*> ShownValues::declare(clang::CompilerInstance& compiler, llvm::orc::LLJIT& jit,
                                                    int number) {
  std::shared_ptr<void> value = take_kept_value();
  if (!value || type_.isNull()) return {};
  std::vector<clang::NamedDecl*> outdated;
  clang::ASTContext& context = compiler.getASTContext();
  static int symbols = 0;
  const std::string symbol = "ktape_shown_value_" + std::to_string(++symbols);
  auto address = std::make_unique<void*>(value.get());
  llvm::cantFail(jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(
      {{jit.mangleAndIntern(symbol),
        {llvm::orc::ExecutorAddr::fromPtr(address.get()), llvm::JITSymbolFlags::Exported}}})));
  if (const auto old = results_.find(number); old != results_.end()) {
    outdated.push_back(old->second.variable);
    results_.erase(old);
  }
  clang::PrintingPolicy policy(compiler.getLangOpts());
  policy.SuppressTagKeyword = true;
  clang::VarDecl* const variable =
      declare_variable(context, "Out_" + std::to_string(number) + '_', type_, symbol);
  results_[number] = {std::move(value), std::move(address), variable, type_.getAsString(policy)};
  if (results_.size() > most_results) {
    outdated.push_back(results_.begin()->second.variable);
    results_.erase(results_.begin());
  }
  // A variable `_` of the user's is not replaced.
  const clang::IdentifierInfo* const name = &context.Idents.get("_");
  const auto found = context.getTranslationUnitDecl()->getPrimaryContext()->lookup(name);
  if (llvm::any_of(found, [&](const clang::NamedDecl* one) { return one != last_; })) return outdated;
  if (last_) outdated.push_back(last_);
  last_ = declare_variable(context, "_", type_, symbol);
  return outdated;
}

std::string ShownValues::with_names(const std::string& text) const {
  if (text.find("Out[") == std::string::npos) return text;
  static const std::regex name(R"re("(\\.|[^"\\])*"|\bOut\[(\d+)\])re");
  std::string out;
  auto last = text.begin();
  for (std::sregex_iterator i(text.begin(), text.end(), name), end; i != end; ++i) {
    out.append(last, (*i)[0].first);
    const bool known = (*i)[2].matched && has(std::stoi((*i)[2]));
    out += known ? "Out_" + (*i)[2].str() + '_' : (*i)[0].str();
    last = (*i)[0].second;
  }
  return out.append(last, text.end());
}

std::vector<std::pair<int, std::string>> ShownValues::list() const {
  std::vector<std::pair<int, std::string>> list;
  for (const auto& [number, result] : results_) list.emplace_back(number, result.type);
  return list;
}

}  // namespace ktape::interactive
