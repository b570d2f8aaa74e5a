#pragma once
#include <clang/AST/DeclarationName.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/Support/raw_ostream.h>

#include <string>
#include <vector>

/// Internal: sources only, as are all headers here that include clang's.
namespace ktape::interactive {

/// A declaration that clang refuses because of an earlier one.
struct Clash {
  clang::DeclarationName name;
  clang::SourceLocation place = {};
  clang::SourceLocation previous = {};  ///< the earlier declaration; invalid if unknown
};

/// Collects clang's messages about a cell, without the names of internal buffers and notes about system
/// headers.
class Diagnostics : public clang::DiagnosticConsumer {
 public:
  explicit Diagnostics(bool colors);
  void BeginSourceFile(const clang::LangOptions& language, const clang::Preprocessor* preprocessor) override;
  void EndSourceFile() override {}
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override;

  void begin_cell();
  std::string text();
  const std::vector<Clash>& clashes() const { return clashes_; }
  /// Returns the places of lambda captures (`[&]`, `[x]`) outside of functions, which clang refuses because
  /// variables of a session are not local.
  const std::vector<clang::SourceLocation>& needless_captures() const { return needless_captures_; }
  /// Returns the places of statements that begin with `+` or `-`, which clang takes for Objective-C methods.
  const std::vector<clang::SourceLocation>& signs() const { return signs_; }
  /// Returns the places after declarations that end without a semicolon.
  const std::vector<clang::SourceLocation>& missing_semicolons() const { return missing_semicolons_; }
  /// Returns the classes, such as option structs, to which clang could not convert a list in braces.
  const std::vector<const clang::CXXRecordDecl*>& refused_lists() const { return refused_lists_; }
  /// Returns the classes whose fields a list in braces names in another order than that of their declaration.
  const std::vector<const clang::CXXRecordDecl*>& unordered_lists() const { return unordered_lists_; }

 private:
  /// Returns whether the message only repeats, inside a system header, an error that was reported before.
  bool repeats(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info);
  void note_refused_list(const clang::Diagnostic& info);
  void note_unordered_list(const clang::Diagnostic& info);
  void note_clash(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info);

  std::string text_;
  llvm::raw_string_ostream out_{text_};
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options_;
  clang::TextDiagnosticPrinter printer_;
  clang::LangOptions language_;
  const clang::Preprocessor* preprocessor_ = nullptr;
  std::vector<Clash> clashes_;
  std::vector<clang::SourceLocation> needless_captures_, signs_, missing_semicolons_;
  std::vector<const clang::CXXRecordDecl*> refused_lists_, unordered_lists_;
  bool deep_error_ = false, repeats_ = false;  // deep: inside a system header
};

}  // namespace ktape::interactive
