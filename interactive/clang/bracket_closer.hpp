#pragma once
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/Token.h>

#include <vector>

namespace ktape::interactive {

/// Closes the brackets that are open at the end of a cell, and reports the innermost open bracket as an error.
/// clang 19's parser would otherwise read the end of the cell for ever. Brackets are counted as the parser
/// reads them: after macros are expanded and conditions are evaluated.
class BracketCloser {
 public:
  BracketCloser() = default;
  BracketCloser(const BracketCloser&) = delete;
  BracketCloser& operator=(const BracketCloser&) = delete;
  void attach(clang::Preprocessor& preprocessor) { preprocessor_ = &preprocessor; }
  void begin_cell();
  /// Counts a token that the preprocessor gives to the parser, and replaces the end of a cell with open brackets.
  void read(clang::Token& token);

 private:
  void match(clang::tok::TokenKind opening);
  void close(clang::Token& end);

  clang::Preprocessor* preprocessor_ = nullptr;
  std::vector<clang::Token> open_;  ///< the brackets that no bracket has closed yet
};

}  // namespace ktape::interactive
