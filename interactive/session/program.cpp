#include <ktape/interactive/clang/input_validator.hpp>
#include <ktape/interactive/session/program.hpp>

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

void Program::add(const std::vector<Interpreter::Piece>& cell, bool redeclares) {
  if (redeclares) open_scope();
  for (const Interpreter::Piece& piece : cell) {
    body_ += '\n';
    if (piece.kind == Interpreter::Piece::Declaration) {
      std::istringstream lines(piece.text);
      for (std::string line; std::getline(lines, line);) {
        line += '\n';
        if (trimmed(line).starts_with("#include")) includes_ += line;
        else body_ += line, declarations_ += line;
      }
      continue;
    }
    const bool is_value = piece.kind == Interpreter::Piece::Value;
    body_ += "const bool step_" + std::to_string(++steps_) + " = [] {\n  ";
    body_ += is_value ? "display(" + piece.text + ");"
                      : piece.text + (piece.text.ends_with('}') || piece.text.ends_with(';') ? "" : ";");
    body_ += "\n  return true;\n}();\n";
  }
}

std::string Program::text() const {
  std::string text = includes_ + head + body_ + '\n';
  for (int i = 0; i < scopes_; ++i) text += "}\n";
  return text + "\nint main() {}\n";
}

}  // namespace ktape::interactive
