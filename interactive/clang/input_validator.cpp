#include <ktape/interactive/clang/input_validator.hpp>

#include <algorithm>
#include <cctype>
#include <regex>

namespace ktape::interactive {
namespace {

/// Scans C++ text for brackets, skipping strings and comments.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {
    while (at_ < text_.size()) step();
  }
  int depth() const { return depth_; }
  bool ends_with_if() const { return if_ && statement_ended_ && !open(); }
  bool open() const { return open_ || depth_ > 0 || conditions_ > 0 || text_.ends_with('\\') || needs_body_; }

 private:
  bool at(std::string_view word) const { return text_.substr(at_).starts_with(word); }

  void step() {
    const char c = text_[at_];
    if (at("//")) at_ = std::min(text_.find('\n', at_), text_.size());
    else if (at("/*")) skip_to("*/", at_ + 2);
    else if (std::isspace(static_cast<unsigned char>(c))) ++at_;
    else {
      needs_body_ = false;
      if (depth_ == 0) follow_if(c);
      if (at("R\"") && !in_word()) raw_string();
      else if (c == '"' || (c == '\'' && !in_word())) quoted(c);
      else if (c == '#' && begins_line()) directive();
      else plain(c);
    }
  }

  /// Keeps track, at the begin of a word or at a sign, of an `if` that the next statement may belong to.
  void follow_if(char c) {
    if (in_word() && (std::isalnum(static_cast<unsigned char>(c)) || c == '_')) return;
    const auto word = [&](std::string_view text) {
      const std::size_t end = at_ + text.size();
      return at(text) && (end == text_.size() ||
                          !(std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_'));
    };
    if (statement_ended_ && !word("else")) if_ = false;
    if (word("if")) if_ = true;
    if (word("else")) if_ = false;
    statement_ended_ = c == ';';
  }

  void plain(char c) {
    if (c == '(' && depth_ == 0) head_ = begins_statement(word_before());
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if (c == ')' || c == ']' || c == '}') --depth_;
    if (c == '}' && depth_ == 0) statement_ended_ = true;
    ++at_;
    if (depth_ == 0) needs_body_ = c == ')' ? head_ : word_before() == "else";
  }

  /// Returns whether a statement follows the parentheses after this word (if, for, while, ...).
  static bool begins_statement(std::string_view word) {
    return word == "for" || word == "while" || word == "if" || word == "constexpr" || word == "switch";
  }

  std::string_view word_before() const {
    const std::size_t end = text_.substr(0, at_).find_last_not_of(" \t\n") + 1;
    const std::size_t begin = word_begin(text_.substr(0, end));
    return text_.substr(begin, end - begin);
  }

  /// Returns whether the scan is inside a word or a number, where a quote separates digits (1'000).
  bool in_word() const {
    return at_ > 0 && (std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) || text_[at_ - 1] == '_');
  }

  bool begins_line() const {
    const std::size_t before = text_.substr(0, at_).find_last_not_of(" \t");
    return before == std::string_view::npos || text_[before] == '\n';
  }

  void skip_to(std::string_view end, std::size_t from) {
    const std::size_t found = text_.find(end, from);
    open_ = found == std::string_view::npos;
    at_ = open_ ? text_.size() : found + end.size();
  }

  void raw_string() {
    const std::size_t bracket = text_.find('(', at_);
    if (bracket == std::string_view::npos) skip_to("(", at_);
    else skip_to(')' + std::string(text_.substr(at_ + 2, bracket - at_ - 2)) + '"', bracket);
  }

  // A quote that is open at the end of a line is an error, which further lines cannot mend.
  void quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_)
      if (text_[at_] == '\\') ++at_;
    at_ = std::min(at_ + 1, text_.size());
  }

  void directive() {
    const std::string_view line = text_.substr(at_, text_.find('\n', at_) - at_);
    const std::string word = trimmed(line.substr(1));
    if (word.starts_with("if")) ++conditions_;
    if (word.starts_with("endif")) --conditions_;
    at_ += word.starts_with("define") ? 1 : line.size();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0, conditions_ = 0;
  bool open_ = false;
  bool if_ = false, statement_ended_ = false;  // if_: the last statement may still take an `else`
  bool head_ = false, needs_body_ = false;  // inside, and after, the parentheses of a statement such as `for`
};

}  // namespace

bool incomplete(std::string_view text) { return Scanner(text).open(); }
bool ends_with_if(std::string_view text) { return Scanner(text).ends_with_if(); }
int open_brackets(std::string_view text) { return std::max(0, Scanner(text).depth()); }

bool has_unfinished_pragma(const std::string& text) {
  static const std::regex unfinished(
      R"re(_Pragma\b(?!\s*\(\s*((u8|[uUL])?"([^"\\\n]|\\.)*"|(u8|[uUL])?R"|#?\s*\w+)\s*\)))re");
  return text.find("_Pragma") != std::string::npos && std::regex_search(text, unfinished);
}

std::size_t word_begin(std::string_view text) {
  std::size_t at = text.size();
  while (at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '_')) --at;
  return at == 1 && text[0] == '%' ? 0 : at;
}

}  // namespace ktape::interactive
