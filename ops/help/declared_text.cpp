#include <ktape/ops/help/declared_text.hpp>

#include <regex>

namespace ktape::help_text {
namespace {

/// Counts the brackets that are open, and knows whether a place is inside of a literal.
struct Nesting {
  int open = 0;
  char quote = 0;

  void pass(char c, char before) {
    if (quote != 0) {
      if (c == quote && before != '\\') quote = 0;
    } else if (c == '"') {
      quote = c;
    } else if (std::string_view("([{<").find(c) != std::string_view::npos) {
      ++open;
    } else if (std::string_view(")]}>").find(c) != std::string_view::npos && before != '-') {
      --open;
    }
  }
  bool outside() const { return open == 0 && quote == 0; }
};

/// Returns the code before the default value.
std::string before_default(const std::string& code) {
  int angles = 0;
  std::size_t end = 0;
  for (; end < code.size() && (angles > 0 || (code[end] != '=' && code[end] != '{')); ++end)
    angles += (code[end] == '<') - (code[end] == '>');
  return trimmed(code.substr(0, end));
}

/// Returns the code before the default value, without what stands in angles.
std::string declarator(const std::string& code) {
  std::string text;
  int angles = 0;
  for (const char c : before_default(code)) {
    angles += c == '<';
    if (angles == 0) text += c;
    angles -= c == '>';
  }
  return text;
}

std::string last_word(const std::string& text) {
  static const std::regex word("(\\w+)(\\[\\w*\\])?\\s*$");
  std::smatch match;
  return std::regex_search(text, match, word) ? match[1].str() : std::string();
}

}  // namespace

std::string without_comment(const std::string& line) {
  Nesting nesting;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    nesting.pass(line[i], i > 0 ? line[i - 1] : ' ');
    if (nesting.quote == 0 && line[i] == '/' && line[i + 1] == '/') return trimmed(line.substr(0, i));
  }
  return trimmed(line);
}

std::string declared_name(const std::string& code) {
  static const std::regex type("^(?:class|struct|enum class|enum) (?:\\[\\[\\w+\\]\\] )?([\\w:]*\\w)");
  static const std::regex alias("^using (\\w+) =");
  static const std::regex function("^[^(=]*?([~\\w]+)\\($");
  std::string text = code;
  for (std::smatch match; text.starts_with("template <") || text.starts_with("requires ");) {
    // The parameters of a template and its condition stand before the declaration, in lines of their own.
    const std::size_t end = text.find('\n');
    if (end == std::string::npos) return {};
    text = text.substr(end + 1);
  }
  std::smatch match;
  if (std::regex_search(text, match, type) || std::regex_search(text, match, alias)) return match[1];
  std::string flat;
  int angles = 0;
  for (const char c : text) {
    if (c == '<') ++angles;
    if (angles == 0) flat += c == '\n' ? ' ' : c;
    if (c == '>') --angles;
    if (angles == 0 && std::string_view("(={;").find(c) != std::string_view::npos) break;
  }
  if (flat.find("operator") != std::string::npos) return {};
  if (std::regex_search(flat, match, function)) return match[1];
  return flat.empty() ? "" : last_word(flat.substr(0, flat.size() - 1));
}

std::vector<std::string> split_outside(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  Nesting nesting;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == separator && nesting.outside()) {
      parts.emplace_back();
      continue;
    }
    nesting.pass(text[i], i > 0 ? text[i - 1] : ' ');
    parts.back() += text[i];
  }
  return parts;
}

std::vector<Parameter> parameters(const std::string& code, std::size_t open) {
  Nesting nesting;
  std::size_t end = open;
  for (; end < code.size(); ++end) {
    nesting.pass(code[end], end > 0 ? code[end - 1] : ' ');
    if (nesting.outside()) break;
  }
  std::vector<Parameter> found;
  for (const std::string& part : split_outside(code.substr(open + 1, end - open - 1), ',')) {
    const std::string text = before_default(part), name = last_word(text);
    if (!name.empty()) found.push_back({trimmed(text.substr(0, text.rfind(name))), name});
  }
  return found;
}

std::vector<std::pair<std::string, std::size_t>> fields_of(const std::vector<std::string>& lines,
                                                           std::size_t first, std::size_t last) {
  std::vector<std::pair<std::string, std::size_t>> fields;
  std::string statement;
  std::vector<std::size_t> line_of;  // of each character of the statement
  for (std::size_t i = first + 1; i < last && i < lines.size(); ++i) {
    const std::string code = without_comment(lines[i]);
    if (code.empty()) continue;
    statement += code + ' ';
    line_of.resize(statement.size(), i);
    if (!code.ends_with(';')) continue;
    std::size_t at = 0;
    const std::string one = statement.substr(0, statement.rfind(';'));
    if (declarator(one).find('(') == std::string::npos && !trimmed(one).starts_with("ByName "))
      for (const std::string& part : split_outside(one, ',')) {
        const std::string text = declarator(part), name = last_word(text);
        if (!name.empty()) fields.emplace_back(name, line_of[at + part.find(name)]);
        at += part.size() + 1;
      }
    statement.clear();
    line_of.clear();
  }
  return fields;
}

}  // namespace ktape::help_text
