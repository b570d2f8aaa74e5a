#include <clang/Basic/DiagnosticParse.h>
#include <ktape/interactive/clang/bracket_closer.hpp>

#include <algorithm>
#include <memory>

namespace ktape::interactive {
namespace {

clang::tok::TokenKind closing(const clang::Token& bracket) {
  switch (bracket.getKind()) {
    case clang::tok::l_paren:
      return clang::tok::r_paren;
    case clang::tok::l_square:
      return clang::tok::r_square;
    default:
      return clang::tok::r_brace;
  }
}

}  // namespace

void BracketCloser::begin_cell() {
  open_.clear();
  preprocessor_->getDiagnostics().setSuppressAllDiagnostics(false);
}

void BracketCloser::read(clang::Token& token) {
  switch (token.getKind()) {
    case clang::tok::l_paren:
    case clang::tok::l_square:
    case clang::tok::l_brace:
      open_.push_back(token);
      break;
    case clang::tok::r_paren:
      match(clang::tok::l_paren);
      break;
    case clang::tok::r_square:
      match(clang::tok::l_square);
      break;
    case clang::tok::r_brace:
      match(clang::tok::l_brace);
      break;
    case clang::tok::annot_repl_input_end:
      if (!open_.empty()) close(token);
      break;
    default:
      break;
  }
}

/// Drops the last open bracket of a kind, and the brackets opened after that bracket, which stay unclosed.
void BracketCloser::match(clang::tok::TokenKind opening) {
  for (std::size_t i = open_.size(); i-- > 0;)
    if (open_[i].is(opening)) {
      open_.resize(i);
      return;
    }
}

/// Puts the missing brackets between the cell and its end.
void BracketCloser::close(clang::Token& end) {
  if (!preprocessor_->getDiagnostics().hasErrorOccurred()) {
    const clang::Token& innermost = open_.back();
    preprocessor_->Diag(end.getLocation(), clang::diag::err_expected) << closing(innermost);
    preprocessor_->Diag(innermost.getLocation(), clang::diag::note_matching) << innermost.getKind();
  }
  std::vector<clang::Token> missing;
  for (; !open_.empty(); open_.pop_back()) {
    clang::Token bracket;
    bracket.startToken();
    bracket.setKind(closing(open_.back()));
    bracket.setLocation(end.getLocation());
    bracket.setLength(1);
    missing.push_back(bracket);
  }
  preprocessor_->getDiagnostics().setSuppressAllDiagnostics(true);  // of the text after the missing brackets
  missing.push_back(end);
  end = missing.front();
  const std::size_t count = missing.size() - 1;
  auto rest = std::make_unique<clang::Token[]>(count);
  std::copy(missing.begin() + 1, missing.end(), rest.get());
  preprocessor_->EnterTokenStream(std::move(rest), static_cast<unsigned>(count), true, false);
}

}  // namespace ktape::interactive
