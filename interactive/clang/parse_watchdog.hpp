#pragma once
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/Token.h>

#include <csignal>

namespace ktape::interactive {

/// Ends a parse that reads no more tokens: clang 19's parser has loops that read the end of a cell for ever. The
/// parser's token then becomes the end of a file, at which all loops stop.
class ParseWatchdog {
 public:
  ParseWatchdog() = default;
  ParseWatchdog(const ParseWatchdog&) = delete;
  ParseWatchdog& operator=(const ParseWatchdog&) = delete;
  void attach(clang::Preprocessor& preprocessor) { preprocessor_ = &preprocessor; }

  /// Counts a token that the preprocessor gives to the parser.
  void read(clang::Token& token);

  /// Watches a parse during its lifetime.
  class Scope {
   public:
    explicit Scope(ParseWatchdog& watchdog);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ParseWatchdog& watchdog_;
    struct sigaction before_;
  };

 private:
  static void on_tick(int);
  void tick();
  void end_parse();

  clang::Preprocessor* preprocessor_ = nullptr;
  clang::Token* parser_token_ =
      nullptr;  ///< the parser's variable, into which the first token of a parse is read
  volatile std::sig_atomic_t reads_ = 0, reads_before_ = 0, idle_ticks_ = 0;
  volatile std::sig_atomic_t at_end_ = 0;  ///< whether the last token was the end of the cell
  volatile std::sig_atomic_t ended_ = 0;
  int ends_ = 0;
};

}  // namespace ktape::interactive
