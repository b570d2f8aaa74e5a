#include <clang/AST/DeclCXX.h>
#include <clang/Basic/CharInfo.h>
#include <clang/Basic/DiagnosticParse.h>
#include <clang/Basic/DiagnosticSema.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/Preprocessor.h>
#include <ktape/interactive/clang/diagnostics.hpp>

#include <string_view>

namespace ktape::interactive {
namespace {

llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options(bool colors) {
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options(new clang::DiagnosticOptions);
  options->ShowColors = colors;
  options->ShowPresumedLoc = true;
  options->ShowOptionNames = false;
  return options;
}

bool redeclares(unsigned id) {
  using namespace clang::diag;
  for (const unsigned one : {err_redefinition,
                             err_redefinition_different_kind,
                             err_redefinition_different_type,
                             err_redefinition_different_typedef,
                             err_redefinition_different_namespace_alias,
                             err_redefinition_different_concept,
                             err_redefinition_of_enumerator,
                             err_extern_c_global_conflict,
                             err_ovl_diff_return_type,
                             err_auto_fn_different_deductions,
                             err_use_with_wrong_tag,
                             err_conflicting_types,
                             err_static_non_static,
                             err_non_static_static,
                             err_constexpr_redecl_mismatch,
                             err_using_decl_conflict,
                             err_using_decl_conflict_reverse,
                             err_param_default_argument_redefinition,
                             err_template_param_default_arg_redefinition,
                             err_template_param_list_different_arity,
                             err_template_param_different_kind,
                             err_mismatched_exception_spec,
                             err_enum_redeclare_scoped_mismatch,
                             err_enum_redeclare_type_mismatch,
                             err_tag_definition_of_typedef,
                             err_template_different_requires_clause})
    if (one == id) return true;
  return false;
}

clang::DeclarationName name_of(const clang::Diagnostic& info, const clang::LangOptions& language,
                               const clang::Preprocessor& preprocessor) {
  for (unsigned i = 0; i < info.getNumArgs(); ++i) {
    if (info.getArgKind(i) == clang::DiagnosticsEngine::ak_declarationname)
      return clang::DeclarationName::getFromOpaqueInteger(info.getRawArg(i));
    if (info.getArgKind(i) == clang::DiagnosticsEngine::ak_nameddecl)
      return reinterpret_cast<clang::NamedDecl*>(info.getRawArg(i))->getDeclName();
    if (info.getArgKind(i) == clang::DiagnosticsEngine::ak_identifierinfo) return info.getArgIdentifier(i);
  }
  const clang::CharSourceRange token = clang::CharSourceRange::getTokenRange(info.getLocation());
  const llvm::StringRef word = clang::Lexer::getSourceText(token, info.getSourceManager(), language);
  return clang::isAsciiIdentifierStart(word.empty() ? '0' : word.front())
             ? preprocessor.getIdentifierInfo(word)
             : nullptr;
}

/// Returns whether a line "In file included from ..." names the session's own headers, which the user does
/// not know.
bool of_session(llvm::StringRef line) {
  constexpr llvm::StringRef begin = "In file included from ";
  return line.starts_with(begin) && (line.contains("/ktape/interactive/") || line.contains("<<<"));
}

/// Returns whether a note points into system headers or generated code.
bool is_useless(const clang::SourceManager& sources, clang::SourceLocation at) {
  return sources.isInSystemHeader(at) ||
         llvm::StringRef(sources.getPresumedLoc(at).getFilename()).starts_with("<<<");
}

bool typed(const clang::SourceManager& sources, clang::SourceLocation at) {
  const llvm::StringRef file = sources.getPresumedLoc(at).getFilename();
  return file.starts_with("input_line_") || file.starts_with("<<<");
}

}  // namespace

Diagnostics::Diagnostics(bool colors) : options_(options(colors)), printer_(out_, options_.get()) {}

void Diagnostics::BeginSourceFile(const clang::LangOptions& language,
                                  const clang::Preprocessor* preprocessor) {
  language_ = language;
  preprocessor_ = preprocessor;
  printer_.BeginSourceFile(language_, preprocessor);
}

void Diagnostics::begin_cell() {
  text_.clear();
  clashes_.clear();
  needless_captures_.clear();
  signs_.clear();
  missing_semicolons_.clear();
  refused_lists_.clear();
  unordered_lists_.clear();
  deep_error_ = repeats_ = false;
}

void Diagnostics::HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) {
  DiagnosticConsumer::HandleDiagnostic(level, info);
  note_clash(level, info);
  if (info.getID() == clang::diag::err_capture_default_non_local ||
      info.getID() == clang::diag::err_capture_non_automatic_variable)
    needless_captures_.push_back(info.getLocation());
  if (info.getID() == clang::diag::err_expected_external_declaration) signs_.push_back(info.getLocation());
  if (info.getID() == clang::diag::err_invalid_token_after_toplevel_declarator ||
      info.getID() == clang::diag::err_expected_after ||
      info.getID() == clang::diag::err_expected_semi_after_namespace_name)
    missing_semicolons_.push_back(info.getLocation());
  if (info.getID() == clang::diag::note_ovl_candidate_bad_list_argument) note_refused_list(info);
  if (info.getID() == clang::diag::ext_designated_init_reordered) return note_unordered_list(info);
  const bool located = info.hasSourceManager() && info.getLocation().isValid();
  if (level == clang::DiagnosticsEngine::Note && located &&
      is_useless(info.getSourceManager(), info.getLocation()))
    return;
  if (repeats(level, info)) return;
  options_->ShowLocation = located && !typed(info.getSourceManager(), info.getLocation());
  printer_.HandleDiagnostic(level, info);
}

bool Diagnostics::repeats(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) {
  if (level == clang::DiagnosticsEngine::Note) return repeats_;
  const bool deep = level >= clang::DiagnosticsEngine::Error && info.hasSourceManager() &&
                    info.getLocation().isValid() &&
                    info.getSourceManager().isInSystemHeader(info.getLocation());
  repeats_ = deep && deep_error_;
  deep_error_ = deep_error_ || deep;
  return repeats_;
}

void Diagnostics::note_refused_list(const clang::Diagnostic& info) {
  for (unsigned i = 0; i < info.getNumArgs(); ++i) {
    if (info.getArgKind(i) != clang::DiagnosticsEngine::ak_qualtype) continue;
    const auto type = clang::QualType::getFromOpaquePtr(reinterpret_cast<void*>(info.getRawArg(i)));
    if (const auto* record = type.getNonReferenceType()->getAsCXXRecordDecl();
        record && record->hasDefinition())
      refused_lists_.push_back(record->getDefinition());
  }
}

/// Keeps the class for a hint of the session, in place of clang's message and its notes.
void Diagnostics::note_unordered_list(const clang::Diagnostic& info) {
  repeats_ = true;
  if (info.getNumArgs() == 0 || info.getArgKind(0) != clang::DiagnosticsEngine::ak_nameddecl) return;
  const auto* field =
      llvm::dyn_cast<clang::FieldDecl>(reinterpret_cast<clang::NamedDecl*>(info.getRawArg(0)));
  const auto* record = field ? llvm::dyn_cast<clang::CXXRecordDecl>(field->getParent()) : nullptr;
  if (record && !llvm::is_contained(unordered_lists_, record)) unordered_lists_.push_back(record);
}

void Diagnostics::note_clash(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) {
  if (preprocessor_ && redeclares(info.getID())) {
    clashes_.push_back({name_of(info, language_, *preprocessor_), info.getLocation()});
  } else if (level == clang::DiagnosticsEngine::Note && !clashes_.empty() &&
             clashes_.back().previous.isInvalid()) {
    clashes_.back().previous = info.getLocation();
  }
}

std::string Diagnostics::text() {
  std::string kept;
  bool in_session = false;  // whether the lines before named the session's headers
  std::string_view rest = out_.str();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end);
    in_session = of_session(line) || (in_session && line.starts_with("In file included from "));
    if (!in_session && !line.starts_with("In included file:")) kept += line;
  }
  kept.erase(kept.find_last_not_of('\n') + 1);
  return kept;
}

}  // namespace ktape::interactive
