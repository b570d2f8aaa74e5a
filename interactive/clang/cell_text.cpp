#include <ktape/interactive/clang/cell_text.hpp>
#include <ktape/interactive/clang/input_validator.hpp>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace ktape::interactive {
namespace {

/// The prefix of a statement that begins with a sign: an operand without effect, and the statement's line.
constexpr std::string_view before_sign = "(void)0,\n#line ";

}  // namespace

void remove_capture(std::string& text, std::size_t begin) {
  const auto of_name = [&](std::size_t at) {
    return std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_';
  };
  std::size_t end = begin + 1;
  while (of_name(begin) && end < text.size() && of_name(end)) ++end;
  while (begin > 0 && (text[begin - 1] == '&' || text[begin - 1] == ' ')) --begin;
  while (end < text.size() && text[end] == ' ') ++end;
  if (text[end] == ',') ++end;
  else if (begin > 0 && text[begin - 1] == ',') --begin;
  text.erase(begin, end - begin);
}

void insert_operand(std::string& text, std::size_t at, unsigned line) {
  const std::size_t column = at - (text.rfind('\n', at) + 1);
  text.insert(at, std::string(before_sign) + std::to_string(line) + '\n' + std::string(column, ' '));
}

std::string without_operand(const std::string& statement) {
  if (!statement.starts_with(before_sign)) return statement;
  return trimmed(statement.substr(statement.find('\n', before_sign.size())));
}

std::size_t end_of_declaration(const std::string& text, std::size_t at) {
  int open = 0;
  char quote = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == '\\') ++at;
      else if (c == quote) quote = 0;
    } else if (text.compare(at, 2, "//") == 0) {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.compare(at, 2, "/*") == 0) {
      at = std::min(text.find("*/", at + 2), text.size() - 1) + 1;
    } else if (c == '"' ||
               (c == '\'' && (at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]))))) {
      quote = c;
    } else if (c == ';' && open == 0) {
      return at + 1;
    } else {
      open += (c == '(' || c == '{' || c == '[') - (c == ')' || c == '}' || c == ']');
    }
  }
  return std::string::npos;
}

}  // namespace ktape::interactive
