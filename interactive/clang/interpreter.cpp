#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Mangle.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Interpreter/Interpreter.h>
#include <clang/Interpreter/PartialTranslationUnit.h>
#include <clang/Interpreter/Value.h>
#include <clang/Sema/Lookup.h>
#include <clang/Sema/Sema.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <ktape/autograd/base/interrupt.hpp>
#include <ktape/interactive/clang/bracket_closer.hpp>
#include <ktape/interactive/clang/cell_code.hpp>
#include <ktape/interactive/clang/cell_text.hpp>
#include <ktape/interactive/clang/completion.hpp>
#include <ktape/interactive/clang/definition_shadowing.hpp>
#include <ktape/interactive/clang/described_types.hpp>
#include <ktape/interactive/clang/diagnostics.hpp>
#include <ktape/interactive/clang/hints.hpp>
#include <ktape/interactive/clang/input_validator.hpp>
#include <ktape/interactive/clang/interpreter.hpp>
#include <ktape/interactive/clang/lookup.hpp>
#include <ktape/interactive/clang/parse_watchdog.hpp>
#include <ktape/interactive/clang/session_code.hpp>
#include <ktape/interactive/clang/session_objects.hpp>
#include <ktape/interactive/clang/shown_values.hpp>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <regex>
#include <set>

namespace ktape::interactive {
namespace {

std::unique_ptr<clang::CompilerInstance> make_compiler(const std::vector<std::string>& flags,
                                                       const std::vector<std::string>& more) {
  std::vector<const char*> arguments;
  for (const std::string& flag : flags) arguments.push_back(flag.c_str());
  for (const std::string& flag : more) arguments.push_back(flag.c_str());
  clang::IncrementalCompilerBuilder builder;
  builder.SetCompilerArgs(arguments);
  auto compiler = builder.CreateCpp();
  if (!compiler) throw std::runtime_error(llvm::toString(compiler.takeError()));
  (*compiler)->setVerboseOutputStream(llvm::nulls());  // "1 error generated."
  return std::move(*compiler);
}

/// Throws std::runtime_error if clang rejects the precompiled header, with which its interpreter would crash.
void check_header(std::unique_ptr<clang::CompilerInstance> compiler) {
  Diagnostics diagnostics(false);
  compiler->getDiagnostics().setClient(&diagnostics, false);
  clang::SyntaxOnlyAction nothing;
  if (!compiler->ExecuteAction(nothing) || compiler->getDiagnostics().hasErrorOccurred())
    throw std::runtime_error(diagnostics.text());
}

class Clang : public clang::Interpreter {
 public:
  Clang(std::unique_ptr<clang::CompilerInstance> compiler, ShownValues& values, llvm::Error& error)
      : Interpreter(std::move(compiler), error), values_(values) {}
  std::unique_ptr<clang::RuntimeInterfaceBuilder> FindRuntimeInterface() override {
    return make_value_display(*getCompilerInstance(), values_);
  }

 private:
  ShownValues& values_;
};

/// Gives the code generator the functions that clang reads from the precompiled header on first use, which
/// clang's interpreter does not do. The generator forgets functions when a cell is refused, and clang reports
/// each function only once.
class Generator : public clang::ASTConsumer {
 public:
  void attach(clang::CompilerInstance& compiler) {
    generator_ = &compiler.getASTConsumer();
    if (auto* header = compiler.getASTContext().getExternalSource()) header->StartTranslationUnit(this);
  }
  void HandleInterestingDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* decl : group)
      if (auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl); function && function->isInlined())
        functions_.insert(function);
    generator_->HandleTopLevelDecl(group);
  }
  void HandleVTable(clang::CXXRecordDecl* record) override { generator_->HandleVTable(record); }

  /// Reports all functions again, instantiated templates included.
  void report_again(const llvm::SetVector<clang::FunctionDecl*>& instantiated) {
    functions_.insert(instantiated.begin(), instantiated.end());
    for (clang::FunctionDecl* function : functions_)
      if (!function->isInvalidDecl() && function->isThisDeclarationADefinition())
        generator_->HandleTopLevelDecl(clang::DeclGroupRef(function));
  }

 private:
  clang::ASTConsumer* generator_ = nullptr;
  llvm::SetVector<clang::FunctionDecl*> functions_;
};

/// Translates the linker's `Symbols not found: [ _Z1fv ]` to "declared, but not defined: f()".
std::string undefined_symbols(const std::string& message) {
  static const std::regex list("Symbols not found: \\[([^\\]]*)\\]"), tag("\\[abi:[^\\]]*\\]");
  std::smatch match;
  if (!std::regex_search(message, match, list)) return "error: " + message;
  std::string text, name;
  std::istringstream names(match[1].str());
  while (std::getline(names >> std::ws, name, ',')) {
    name.erase(name.find_last_not_of(' ') + 1);
    text += "error: declared, but not defined: " + std::regex_replace(llvm::demangle(name), tag, "") + '\n';
  }
  return text;
}

}  // namespace

class Interpreter::Session {
 public:
  explicit Session(const Options& options) : options_(options), diagnostics_(options.colors) {
    if (!options.precompiled.empty()) check_header(another_compiler());
    auto compiler = another_compiler();
    compiler->getDiagnostics().setClient(&diagnostics_, false);
    const DeclarationsScope scope(declarations_);
    llvm::Error error = llvm::Error::success();
    clang_ = std::make_unique<Clang>(std::move(compiler), values_, error);
    check(std::move(error));
    diagnostics_.BeginSourceFile(this->compiler().getLangOpts(), &this->compiler().getPreprocessor());
    if (this->compiler().getDiagnostics().hasErrorOccurred()) throw std::runtime_error(diagnostics_.text());
    declarations_.attach(this->compiler());
    generator_.attach(this->compiler());
    watch_tokens(this->compiler().getPreprocessor());
    report_code(jit());
    define_shared();
    jit().getExecutionSession().setErrorReporter(
        [this](llvm::Error error) { problems_ += llvm::toString(std::move(error)) + '\n'; });
  }

  Ending run(const std::string& cell, const std::string& file, int number) {
    const InterruptHandler interruptible;
    ++cells_;
    last_result_ = 0;
    declarations_.begin_cell();
    warnings_.clear();
    const std::string head = file.empty() ? "" : "#line 1 \"" + file + "\"\n";
    text_ = head + values_.with_names(cell);
    head_ = head.size();
    clang::PartialTranslationUnit* unit = parse(text_);
    if (!unit) {
      declarations_.abandon_cell();
      return {Ending::Rejected, diagnostics_.text() + error_notes()};
    }
    warnings_ = diagnostics_.text();
    const std::string orders = order_hints(text_, diagnostics_.unordered_lists());
    warnings_ += (warnings_.empty() || orders.empty() ? "" : "\n") + orders;
    std::vector<std::function<void()>> functions;
    std::vector<Step> steps;
    if (unit->TheModule) {
      steps = code_.prepare(*unit->TheModule, cells_);
      if (std::string problem = load(*unit, steps, functions); !problem.empty()) {
        declarations_.abandon_cell();
        return {Ending::Rejected, problem};
      }
    }
    describe_types();
    std::size_t done = 0;
    bool inside = false;  // whether step `done` is running
    const auto begin = std::chrono::steady_clock::now();
    Ending ending = guarded([&] {
      while (done < functions.size()) {
        inside = true;
        functions[done]();
        inside = false;
        ++done;
        // Ctrl-C after the last op of a step ends the cell, too.
        if (clear_interrupt()) throw Interrupted(take_interrupt_text());
      }
    });
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (ending.kind != Ending::Finished) {
      const std::size_t last = inside || done == 0 ? done : done - 1;
      if (last < steps.size()) ending.line = line_of(steps, last);
      if (ending.kind == Ending::Interrupted && (last + 1 < steps.size() || has_joined_statements(steps)))
        ending.message += "\nthe rest of the cell did not run";
      declarations_.abandon(initialized_by({steps.begin() + static_cast<std::ptrdiff_t>(done), steps.end()}));
    }
    references_.add(declarations_.of_cell());
    const std::vector<const clang::VarDecl*> hidden = declarations_.hidden_variables();
    declarations_.end_cell();
    if (ending.kind != Ending::Finished) return ending;
    for (clang::NamedDecl* outdated : values_.declare(compiler(), jit(), number))
      declarations_.forget(outdated);
    if (values_.has(number)) last_result_ = number;
    return destroy(hidden);
  }

  /// Returns a new compiler with the session's flags and precompiled header, without its declarations.
  std::unique_ptr<clang::CompilerInstance> another_compiler() const {
    std::vector<std::string> more;
    if (!options_.precompiled.empty()) more = {"-include-pch", options_.precompiled};
    for (const std::string& folder : folders_) more.push_back("-I" + folder);
    return make_compiler(options_.flags, more);
  }

  void add_include_folder(const std::string& folder) {
    folders_.push_back(folder);
    const auto entry = compiler().getFileManager().getOptionalDirectoryRef(folder);
    if (entry)
      compiler().getPreprocessor().getHeaderSearchInfo().AddSearchPath(
          clang::DirectoryLookup(*entry, clang::SrcMgr::C_User, false), true);
  }

  const ShownValues& values() const { return values_; }
  int last_result() const { return last_result_; }
  const std::string& warnings() const { return warnings_; }
  /// Returns the text of the last cell, which begins at text_begin().
  const std::string& text() const { return text_; }
  std::size_t text_begin() const { return head_; }
  double seconds_running() const { return seconds_; }
  clang::Interpreter& clang() { return *clang_; }
  Declarations& declarations() { return declarations_; }
  const CellCode& code() const { return code_; }
  clang::CompilerInstance& compiler() const { return *clang_->getCompilerInstance(); }
  llvm::orc::LLJIT& jit() { return llvm::cantFail(clang_->getExecutionEngine()); }

  void* address(const std::string& symbol, std::string& problem) {
    auto found = jit().lookup(symbol);
    if (found) return found->toPtr<void*>();
    problem = llvm::toString(found.takeError());
    return nullptr;
  }

 private:
  /// Defines the symbol that all exception handling refers to. The first code with a handler defines it, and
  /// would take it away if it were a cell that cannot be linked.
  void define_shared() {
    auto unit = clang_->Parse("void ktape_session_begins() { try { throw 0; } catch (int) {} }");
    check(unit.takeError());
    code_.prepare(*unit->TheModule, 0);
    std::vector<std::function<void()>> none;
    if (std::string problem = load(*unit, {}, none); !problem.empty()) throw std::runtime_error(problem);
  }

  /// Compiles and runs what tells display.hpp about the types of the cell. A type that clang refuses there is shown by its name.
  void describe_types() {
    const std::string text = descriptions(declarations_.of_cell());
    if (text.empty()) return;
    const Declarations::Pause pause(declarations_);
    std::vector<std::function<void()>> functions;
    auto unit = parse_once(text);
    if (unit && diagnostics_.getNumErrors() == 0) {
      const std::vector<Step> steps = code_.prepare(*unit->TheModule, ++cells_);
      if (load(*unit, steps, functions).empty())
        for (const auto& function : functions) function();
    } else {
      if (unit) undo();
      else llvm::consumeError(unit.takeError());
      drop_generated_code();
    }
    diagnostics_.clear();
  }

  void watch_tokens(clang::Preprocessor& preprocessor) {
    brackets_.attach(preprocessor);
    watchdog_.attach(preprocessor);
    preprocessor.setTokenWatcher([this](const clang::Token& given) {
      auto& token = const_cast<clang::Token&>(given);  // a variable of the parser, or of the preprocessor
      brackets_.read(token);
      watchdog_.read(token);
    });
  }

  llvm::Expected<clang::PartialTranslationUnit&> parse_once(const std::string& text) {
    const ParseWatchdog::Scope watched(watchdog_);
    // Without a further line clang would read the end of an unfinished _Pragma endlessly.
    return clang_->Parse(has_unfinished_pragma(text) ? text + "\n;" : text);
  }

  static void check(llvm::Error error) {
    if (error) throw std::runtime_error(llvm::toString(std::move(error)));
  }

  /// Compiles a cell; null if clang refuses it. Then the cell's declarations are gone, but the declarations
  /// that the cell hid are still hidden.
  clang::PartialTranslationUnit* parse(std::string& text) {
    for (;;) {
      diagnostics_.begin_cell();
      values_.begin_cell();
      brackets_.begin_cell();
      auto unit = parse_once(text);
      if (unit && diagnostics_.getNumErrors() == 0) return &*unit;
      if (unit) undo();  // an error in the instantiation of a template
      else llvm::consumeError(unit.takeError());
      const std::string last_variable = name_of_last_variable();
      const std::vector<Insertion> aliases = outdated_aliases(text);
      declarations_.restart();
      bool mended = remove_captures(text) || insert_operands(text) || end_declaration(text, last_variable);
      if (!mended) {
        for (const Insertion& alias : aliases) text.insert(alias.at, alias.text);
        for (const Clash& clash : diagnostics_.clashes()) mended = declarations_.hide(clash) || mended;
      }
      drop_generated_code();
      if (!mended) return nullptr;
    }
  }

  struct Insertion {
    std::size_t at;
    std::string text;
  };

  /// Returns the aliases of types that the cell defines again, and their places after these definitions, last place
  /// first: `using Scale = nn::LayerOf<ScaleImpl>` then refers to the new ScaleImpl.
  std::vector<Insertion> outdated_aliases(const std::string& text) const {
    std::vector<Insertion> aliases;
    std::set<std::string> seen;
    for (const Clash& clash : diagnostics_.clashes()) seen.insert(clash.name.getAsString());
    for (const Clash& clash : diagnostics_.clashes()) {
      if (!clash.name || !clash.place.isFileID()) continue;
      const std::size_t end =
          end_of_declaration(text, compiler().getSourceManager().getFileOffset(clash.place));
      for (const Declarations::Alias& alias : declarations_.aliases_of(clash.name))
        if (end <= text.size() && !declarations_.declares(alias.name) && seen.insert(alias.name).second)
          aliases.push_back({end, ' ' + alias.text + ';'});
    }
    std::stable_sort(aliases.begin(), aliases.end(),
                     [](const auto& a, const auto& b) { return a.at > b.at; });
    return aliases;
  }

  /// Returns notes on the errors of a cell: a clash with a definition of an earlier cell that cannot be
  /// hidden, options that a function does not have, and habits of Python.
  std::string error_notes() {
    return clash_note() + option_hints(text_, diagnostics_.refused_lists()) +
           python_hints(text_.substr(head_), diagnostics_.text());
  }

  std::string clash_note() const {
    const clang::SourceManager& sources = compiler().getSourceManager();
    for (const Clash& clash : diagnostics_.clashes())
      if (clash.previous.isFileID() && sources.getBufferName(clash.previous).starts_with("input_line_") &&
          sources.getFileID(clash.previous) != sources.getFileID(clash.place))
        return "\nnote: a definition outside of its class or template can only be replaced together with "
               "the class or template";
    return {};
  }

  /// Removes needless captures of the session's variables from the text. Returns whether there were any.
  bool remove_captures(std::string& text) {
    std::set<std::size_t, std::greater<>> offsets;
    for (const clang::SourceLocation place : diagnostics_.needless_captures())
      if (place.isFileID()) offsets.insert(compiler().getSourceManager().getFileOffset(place));
    for (const std::size_t offset : offsets) remove_capture(text, offset);
    return !offsets.empty();
  }

  /// Returns the name of the variable that the cell declared last; empty if the cell declared none.
  std::string name_of_last_variable() const {
    const std::vector<const clang::VarDecl*> variables = declarations_.variables_of_cell();
    return variables.empty() ? std::string() : variables.back()->getNameAsString();
  }

  /// Ends a declaration at the end of the text with the missing semicolon, and shows the variable, as cling
  /// does. Returns whether a semicolon was missing there.
  bool end_declaration(std::string& text, const std::string& variable) {
    const clang::SourceManager& sources = compiler().getSourceManager();
    const std::size_t end = text.find_last_not_of(" \t\n") + 1;
    const bool at_end = llvm::any_of(diagnostics_.missing_semicolons(), [&](clang::SourceLocation place) {
      return place.isFileID() && sources.getFileOffset(place) >= end;
    });
    if (!at_end || end == 0 || text[end - 1] == ';' || diagnostics_.getNumErrors() > 1) return false;
    text.resize(end);
    text += text[end - 1] == '}' || variable.empty() ? ";" : ";\n" + variable;
    return true;
  }

  /// Puts an operand before statements that begin with a sign. Returns whether there were any.
  bool insert_operands(std::string& text) {
    const clang::SourceManager& sources = compiler().getSourceManager();
    std::vector<clang::SourceLocation> places = diagnostics_.signs();
    std::erase_if(places, [&](clang::SourceLocation place) {
      return !place.isFileID() || !sources.getBufferName(place).starts_with("input_line_");
    });
    std::sort(places.begin(), places.end(), std::greater<>());
    for (const clang::SourceLocation place : places)
      insert_operand(text, sources.getFileOffset(place), sources.getPresumedLineNumber(place));
    return !places.empty();
  }

  /// Drops the code generated before the first error of a cell, which would appear in the next cell.
  void drop_generated_code() {
    if (auto remains = parse_once("")) undo();
    else llvm::consumeError(remains.takeError());
    declarations_.hide_header_names_again();
    generator_.report_again(declarations_.instantiated());
  }

  void undo() {
    llvm::consumeError(clang_->Undo());
    compiler().getDiagnostics().Reset(true);
    diagnostics_.clear();
    declarations_.hide_header_names_again();
  }

  /// Links the unit and appends its steps' functions. Returns an error message, or nothing.
  std::string load(clang::PartialTranslationUnit& unit, const std::vector<Step>& steps,
                   std::vector<std::function<void()>>& functions) {
    if (code_.any_definition().empty()) return {};
    problems_.clear();
    std::string problem;
    if (llvm::Error error = clang_->Execute(unit)) problem = llvm::toString(std::move(error));
    for (const Step& step : steps)
      if (problem.empty())
        functions.push_back([f = address(step.symbol, problem)] { reinterpret_cast<void (*)()>(f)(); });
    if (problem.empty() && steps.empty()) address(code_.any_definition(), problem);
    if (problem.empty()) {
      code_.keep();
    } else {
      undo();
      generator_.report_again(declarations_.instantiated());
    }
    return problem.empty() ? problem : undefined_symbols(problems_.empty() ? problem : problems_);
  }

  std::string symbol_of(const clang::VarDecl* variable) const {
    const std::unique_ptr<clang::MangleContext> mangler(compiler().getASTContext().createMangleContext());
    if (!mangler->shouldMangleDeclName(variable)) return variable->getNameAsString();
    std::string symbol;
    llvm::raw_string_ostream out(symbol);
    mangler->mangleName(variable, out);
    return symbol;
  }

  /// Calls the destructors of hidden variables that no code and no other variable can reach any more.
  Ending destroy(const std::vector<const clang::VarDecl*>& hidden) {
    return guarded([&] {
      for (const clang::VarDecl* variable : hidden) {
        std::string problem;
        if (!references_.may_reach(variable)) destroy_object(address(symbol_of(variable), problem));
      }
    });
  }

  /// Returns the variables that the given steps initialize.
  std::vector<const clang::VarDecl*> initialized_by(const std::vector<Step>& steps) {
    std::vector<const clang::VarDecl*> variables;
    for (const clang::VarDecl* variable : declarations_.variables_of_cell()) {
      const std::string symbol = symbol_of(variable);
      for (const Step& step : steps)
        if (llvm::is_contained(step.initializes, symbol)) variables.push_back(variable);
    }
    return variables;
  }

  /// Returns whether a step consists of several statements: clang makes one function of statements that follow each
  /// other.
  bool has_joined_statements(const std::vector<Step>& steps) const {
    const auto count =
        std::count_if(steps.begin(), steps.end(), [](const Step& one) { return one.is_statement; });
    return static_cast<std::size_t>(count) < declarations_.statements().size();
  }

  /// Returns the step's line in the cell.
  std::size_t line_of(const std::vector<Step>& steps, std::size_t step) {
    if (steps[step].is_statement) {
      const auto end = steps.begin() + static_cast<std::ptrdiff_t>(step);
      const auto before = std::count_if(steps.begin(), end, [](const Step& one) { return one.is_statement; });
      const auto statements = declarations_.statements();
      const auto number = static_cast<std::size_t>(before);
      return number < statements.size() ? statements[number].line : 0;
    }
    const auto variables = initialized_by({steps[step]});
    return variables.empty()
               ? 0
               : compiler().getSourceManager().getPresumedLineNumber(variables.front()->getBeginLoc());
  }

  const Options options_;
  Diagnostics diagnostics_;
  Declarations declarations_;
  Generator generator_;
  BracketCloser brackets_;
  ParseWatchdog watchdog_;
  std::unique_ptr<Clang> clang_;
  CellCode code_;
  References references_;
  ShownValues values_;
  int last_result_ = 0;  // the number of the value that the last cell showed; 0 for none
  std::vector<std::string> folders_;
  int cells_ = 0;
  double seconds_ = 0;
  std::size_t head_ = 0;  // length of the #line directive before the cell in text_
  std::string problems_, warnings_, text_;
};

Interpreter::Interpreter(const Options& options) : session_(std::make_unique<Session>(options)) {}
Interpreter::~Interpreter() = default;
Ending Interpreter::run(const std::string& cell, const std::string& file, int number) {
  return session_->run(cell, file, number);
}
int Interpreter::last_result() const { return session_->last_result(); }
std::vector<std::pair<int, std::string>> Interpreter::results() const { return session_->values().list(); }
void Interpreter::add_include_folder(const std::string& folder) { session_->add_include_folder(folder); }
const std::string& Interpreter::warnings() const { return session_->warnings(); }

Ending Interpreter::finish() {
  const InterruptHandler interruptible;
  return guarded([this] {
    destroy_objects();
    llvm::orc::LLJIT& jit = session_->jit();
    llvm::consumeError(jit.deinitialize(jit.getMainJITDylib()));
  });
}

std::vector<Interpreter::Name> Interpreter::names() const {
  std::vector<Name> names;
  clang::PrintingPolicy policy(session_->compiler().getLangOpts());
  policy.SuppressTagKeyword = true;
  const clang::SourceManager& sources = session_->compiler().getSourceManager();
  for (const clang::NamedDecl* decl : session_->declarations().visible()) {
    if (!sources.getBufferName(sources.getExpansionLoc(decl->getLocation())).starts_with("input_line_"))
      continue;
    const std::string name = decl->getQualifiedNameAsString();
    const clang::Decl* plain = decl;
    if (const auto* pattern = llvm::dyn_cast<clang::TemplateDecl>(decl)) plain = pattern->getTemplatedDecl();
    if (const auto* function = llvm::dyn_cast_or_null<clang::FunctionDecl>(plain))
      names.push_back({name, "function", function->getType().getAsString(policy)});
    else if (const auto* variable = llvm::dyn_cast_or_null<clang::VarDecl>(plain))
      names.push_back({name, "variable", variable->getType().getAsString(policy)});
    else if (llvm::isa_and_nonnull<clang::TypeDecl>(plain)) names.push_back({name, "type", ""});
  }
  return names;
}

void* Interpreter::main_function() {
  for (const Name& name : names())
    if (name.name == "main" && name.kind == "function") {
      std::string problem;
      return session_->address(session_->code().latest("main"), problem);
    }
  return nullptr;
}

double Interpreter::seconds_running() const { return session_->seconds_running(); }
bool Interpreter::redeclared() const { return session_->declarations().redeclared(); }

std::vector<Interpreter::Piece> Interpreter::pieces() const {
  std::vector<Piece> pieces;
  const std::string& text = session_->text();
  std::size_t at = session_->text_begin();
  const auto add = [&](Piece::Kind kind, std::size_t end) {
    const std::string piece = without_operand(trimmed(std::string_view(text).substr(at, end - at)));
    if (!piece.empty() && piece != ";") pieces.push_back({kind, piece});
    at = end;
  };
  for (const auto& [begin, end, line, is_value] : session_->declarations().statements()) {
    add(Piece::Declaration, begin);
    add(is_value ? Piece::Value : Piece::Statement, end);
  }
  add(Piece::Declaration, text.size());
  return pieces;
}

std::vector<std::string> Interpreter::completions(const std::string& declarations,
                                                  const std::string& text) const {
  return complete(session_->another_compiler(), declarations, text);
}

std::vector<Interpreter::Place> Interpreter::find(const std::string& name) {
  return NameLookup(session_->clang()).places(name);
}

std::vector<Interpreter::OptionStruct> Interpreter::options_of(const std::string& name) {
  return NameLookup(session_->clang()).options(name);
}

std::string Interpreter::precompile(const std::string& header, const std::string& to,
                                    const std::vector<std::string>& flags) {
  Diagnostics diagnostics(false);
  auto compiler = make_compiler(flags, {"-fpch-instantiate-templates"});
  compiler->getDiagnostics().setClient(&diagnostics, false);
  clang::FrontendOptions& options = compiler->getFrontendOpts();
  options.OutputFile = to;
  options.Inputs = {clang::FrontendInputFile(header, clang::InputKind(clang::Language::CXX).getHeader())};
  options.ProgramAction = clang::frontend::GeneratePCH;
  clang::GeneratePCHAction action;
  const bool written = compiler->ExecuteAction(action) && !compiler->getDiagnostics().hasErrorOccurred();
  return written ? std::string()
                 : diagnostics.text() + "error: " + header + " cannot be precompiled to " + to;
}

}  // namespace ktape::interactive
