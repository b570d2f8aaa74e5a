#include <ktape/interactive/display/inspected_name.hpp>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace ktape::interactive {
namespace {

bool of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Returns the beginning of the parentheses that end before `end`.
std::size_t begin_of_call(std::string_view code, std::size_t end) {
  int open = 0;
  for (std::size_t i = end; i-- > 0;) {
    open += (code[i] == ')') - (code[i] == '(');
    if (open == 0) return i;
  }
  return end;
}

/// Returns the expression of names, `::`, `.`, `->` and calls that ends before `end`.
std::string expression_before(std::string_view code, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0) {
    const char c = code[begin - 1];
    const std::string_view two = begin > 1 ? code.substr(begin - 2, 2) : std::string_view();
    const bool after_operator = begin < end && !of_word(code[begin]) && code[begin] != '(';
    if (of_word(c)) --begin;
    else if (two == "::" || two == "->") begin -= 2;
    else if (c == '.') --begin;
    else if (c == ')' && after_operator && begin_of_call(code, begin) < begin)
      begin = begin_of_call(code, begin);
    else break;
  }
  return std::string(code.substr(begin, end - begin));
}

/// Returns the code up to `at` with the text of literals blanked, so that their brackets do not count.
std::string without_literals(const std::string& code, std::size_t at) {
  std::string text = code.substr(0, at);
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      text[i] = ' ';
      if (c == '\\' && i + 1 < text.size()) text[++i] = ' ';
      else if (c == quote) quote = 0;
    } else if (c == '"' || (c == '\'' && (i == 0 || !of_word(text[i - 1])))) {
      quote = c;
      text[i] = ' ';
    }
  }
  return text;
}

/// Appends the names before the brackets that are open at the end of the code.
void add_calls(const std::string& code, std::vector<std::string>& names) {
  int closed = 0;
  for (std::size_t i = code.size(); i-- > 0;) {
    const char c = code[i];
    if (c == ')' || c == '}' || c == ']') ++closed;
    if (c != '(' && c != '{' && c != '[') continue;
    if (closed > 0) {
      --closed;
      continue;
    }
    const std::string name = expression_before(code, i);
    if (name.empty()) continue;
    names.push_back(name);
    // A variable that is declared: `nn::Sequential model(`.
    const std::size_t type = code.find_last_not_of(' ', i - name.size() - 1);
    if (i > name.size() && type != std::string::npos && type + 1 < i - name.size())
      if (const std::string before = expression_before(code, type + 1); !before.empty())
        names.push_back(before);
  }
}

}  // namespace

std::vector<std::string> inspected_names(const std::string& code, std::size_t at) {
  at = std::min(at, code.size());
  std::size_t end = at;
  while (end < code.size() && of_word(code[end])) ++end;
  // The name itself, unless a call's parenthesis opens before the place.
  const std::string here = expression_before(without_literals(code, end), end);
  const std::size_t next = code.find_first_not_of(' ', end);
  const bool called = next != std::string::npos && code[next] == '(';
  const bool qualified = here.find_first_of(":.>") != std::string::npos;
  std::vector<std::string> names;
  if (!here.empty() && (called || qualified)) names.push_back(here);
  add_calls(without_literals(code, at), names);
  if (!here.empty() && !called && !qualified) names.push_back(here);
  return names;
}

}  // namespace ktape::interactive
