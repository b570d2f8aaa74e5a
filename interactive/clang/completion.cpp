#include <clang/Frontend/FrontendActions.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <clang/Sema/CodeCompleteConsumer.h>
#include <clang/Sema/Sema.h>
#include <ktape/interactive/clang/completion.hpp>
#include <ktape/interactive/clang/input_validator.hpp>
#include <ktape/interactive/clang/lookup.hpp>

#include <algorithm>
#include <set>

namespace ktape::interactive {
namespace {

clang::CodeCompleteOptions options() {
  clang::CodeCompleteOptions options;
  options.IncludeMacros = options.IncludeGlobals = options.IncludeNamespaceLevelDecls = 1;
  return options;
}

/// Collects the words that begin with a prefix.
class Collector : public clang::CodeCompleteConsumer {
 public:
  Collector(std::string prefix, std::set<std::string>& words)
      : CodeCompleteConsumer(options()),
        info_(std::make_shared<clang::GlobalCodeCompletionAllocator>()),
        prefix_(std::move(prefix)),
        words_(words) {}

  void ProcessCodeCompleteResults(clang::Sema& sema, clang::CodeCompletionContext context,
                                  clang::CodeCompletionResult* results, unsigned count) override {
    const bool is_file = context.getKind() == clang::CodeCompletionContext::CCC_IncludedFile;
    for (clang::CodeCompletionResult& result : llvm::MutableArrayRef(results, count))
      if (result.Availability != CXAvailability_NotAccessible &&
          result.Availability != CXAvailability_NotAvailable)
        add(word(result, is_file));
    static_cast<void>(sema);
  }
  clang::CodeCompletionAllocator& getAllocator() override { return info_.getAllocator(); }
  clang::CodeCompletionTUInfo& getCodeCompletionTUInfo() override { return info_; }

 private:
  static llvm::StringRef word(const clang::CodeCompletionResult& result, bool is_file) {
    switch (result.Kind) {
      case clang::CodeCompletionResult::RK_Declaration: {
        const auto* field = llvm::dyn_cast<clang::FieldDecl>(result.Declaration);
        if (field && is_by_name(*field)) return "";
        const clang::IdentifierInfo* name = result.Declaration->getIdentifier();
        return name ? name->getName() : "";
      }
      case clang::CodeCompletionResult::RK_Keyword:
        return result.Keyword;
      case clang::CodeCompletionResult::RK_Macro:
        return result.Macro->getName();
      case clang::CodeCompletionResult::RK_Pattern:  // a statement's pattern, or the name of a file
        return is_file ? result.Pattern->getTypedText() : "";
    }
    return "";
  }

  void add(llvm::StringRef word) {
    // Names that begin with an underscore belong to the standard library.
    if (word.empty() || !word.starts_with(prefix_) || (prefix_.empty() && word.starts_with("_"))) return;
    words_.insert(word.str());
  }

  clang::CodeCompletionTUInfo info_;
  const std::string prefix_;
  std::set<std::string>& words_;
};

bool begins_anywhere(const std::string& before) {
  return !before.ends_with('.') && !before.ends_with("->") && !before.ends_with("::") &&
         before.find("#include") == std::string::npos;
}

}  // namespace

std::vector<std::string> complete(std::unique_ptr<clang::CompilerInstance> compiler,
                                  const std::string& declarations, const std::string& text) {
  const std::size_t word = word_begin(text);
  if (word == text.size() && begins_anywhere(text)) return {};
  constexpr const char* file = "ktape_completed.cpp";
  const std::string all = declarations + '\n' + text;
  const std::size_t line = all.rfind('\n');

  clang::FrontendOptions& frontend = compiler->getFrontendOpts();
  frontend.Inputs = {clang::FrontendInputFile(file, clang::Language::CXX)};
  frontend.ProgramAction = clang::frontend::ParseSyntaxOnly;
  frontend.SkipFunctionBodies = true;
  frontend.CodeCompletionAt = {file, 1 + static_cast<unsigned>(std::count(all.begin(), all.end(), '\n')),
                               static_cast<unsigned>(all.size() - line)};
  // The compiler's preprocessor frees the buffer.
  compiler->getPreprocessorOpts().addRemappedFile(file,
                                                  llvm::MemoryBuffer::getMemBufferCopy(all, file).release());
  clang::IgnoringDiagConsumer silence;
  compiler->getDiagnostics().setClient(&silence, false);
  std::set<std::string> words;
  compiler->setCodeCompletionConsumer(new Collector(text.substr(word), words));
  clang::SyntaxOnlyAction action;
  compiler->ExecuteAction(action);
  return {words.begin(), words.end()};
}

}  // namespace ktape::interactive
