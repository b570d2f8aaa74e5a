#include <ktape/interactive/clang/input_validator.hpp>
#include <ktape/interactive/session/open_if.hpp>
#include <ktape/interactive/session/program.hpp>

#include <iterator>
#include <regex>
#include <sstream>

namespace ktape::interactive {
namespace {

constexpr const char* head =
    "#include <ktape/interactive/session/names.hpp>\n\n"
    "template <class T>\n"
    "void display(const T& value) {\n"
    "  constexpr bool is_list = std::is_array_v<T> && !std::is_convertible_v<const T&, const char*>;\n"
    "  if constexpr (requires { std::cout << value; } && !is_list) std::cout << value << std::endl;\n"
    "  else if constexpr (std::ranges::range<const T>)\n"
    "    for (const auto& element : value) display(element);\n"
    "}\n";

}  // namespace

void Program::open_scope() {
  const std::string scope = "\nnamespace again_" + std::to_string(++scopes_) + " {\n";
  body_ += scope;
  declarations_ += scope;
}

/// Replaces `_` and the names of shown values by the expressions of these values.
std::string Program::with_expressions(const std::string& text) const {
  if (results_.empty()) return text;
  static const std::regex name(R"re("(\\.|[^"\\])*"|\b_\b|\bOut_(\d+)_\b)re");
  std::string out;
  auto last = text.begin();
  for (std::sregex_iterator i(text.begin(), text.end(), name), end; i != end; ++i) {
    const std::string found = (*i)[0];
    const auto result =
        found == "_" ? std::prev(results_.end()) : results_.find((*i)[2].matched ? std::stoi((*i)[2]) : 0);
    out.append(last, (*i)[0].first);
    out += result == results_.end() ? found : '(' + result->second + ')';
    last = (*i)[0].second;
  }
  return out.append(last, text.end());
}

/// Adds a statement or a shown value. An `else` joins the `if` of the cell before.
void Program::add_step(const Interpreter::Piece& piece) {
  std::string text = with_expressions(piece.text);
  const std::string end_of_step = "\n  return true;\n}();\n";
  const bool follows = text.starts_with(if_untaken);
  // The text of a statement may lack its semicolon.
  const std::size_t note = text.rfind(std::string(else_note, std::string_view(else_note).size() - 1));
  if (note != std::string::npos) text.erase(note);
  if (follows) {
    text = "  else" + text.substr(text.find('\n', text.find("#line")));
    body_.erase(body_.rfind(end_of_step) + 1);
  } else {
    body_ += "bool step_" + std::to_string(++steps_) + " = [] {\n  ";
  }
  body_ += piece.kind == Interpreter::Piece::Value
               ? "display(" + text + ");"
               : text + (text.ends_with('}') || text.ends_with(';') ? "" : ";");
  body_ += end_of_step;
}

void Program::add(const std::vector<Interpreter::Piece>& cell, bool redeclares, int result) {
  if (redeclares) open_scope();
  for (const Interpreter::Piece& piece : cell) {
    const bool is_else = piece.text.starts_with(if_untaken);
    if (!is_else) body_ += '\n';
    if (piece.kind != Interpreter::Piece::Declaration) {
      add_step(piece);
      continue;
    }
    std::istringstream lines(with_expressions(piece.text));
    for (std::string line; std::getline(lines, line);) {
      line += '\n';
      if (trimmed(line).starts_with("#include")) includes_ += line;
      else body_ += line, declarations_ += line;
    }
  }
  if (result > 0 && !cell.empty()) results_[result] = with_expressions(cell.back().text);
}

std::string Program::text() const {
  std::string text = includes_ + head + body_ + '\n';
  for (int i = 0; i < scopes_; ++i) text += "}\n";
  return text + "\nint main() {}\n";
}

}  // namespace ktape::interactive
