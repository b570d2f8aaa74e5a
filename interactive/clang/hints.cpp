#include <ktape/interactive/clang/hints.hpp>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringRef.h>

#include <algorithm>
#include <regex>

namespace ktape::interactive {
namespace {

/// A habit of Python: expressions for clang's messages and for the cell, which must both be found, and the note.
struct Habit {
  const char* message;
  const char* cell;
  const char* note;
};

constexpr Habit habits[] = {
    {"undeclared identifier 'None'", "",
     "a missing argument is {} in C++; None, the unknown extent, is ktape::None"},
    {"unexpected namespace name", "\\b(K|nn|data)\\.",
     "names of a namespace follow two colons: K::dot, nn::Dense"},
    {"no member named 'T' in 'ktape::(Tensor|Variable)'", "", "K::transpose(x) is the transposed tensor"},
    {"undeclared identifier 'print'", "",
     "an expression without a semicolon at the end is shown; display(x) shows x in the middle of a cell"},
    {"undeclared identifier 'len'", "\\blen\\(", "x.size() is the number of elements"},
    {"", "^\\s*(import|from)\\s+\\w+", "K, nn and data are there already; #include <header> reads a header"},
    {"unknown type name 'def'", "", "a function is written as in double f(double x) { return 2 * x; }"},
    {"lambda capture list", "[(,=]\\s*\\[", "a list is written in braces: K::constant({1, 2})"},
    {"expected '\\(' after '(for|if|while)'", "",
     "loops and conditions have parentheses: for (int i = 0; i < n; ++i) { ... }"},
    {"", "\\*\\*", "a power is K::pow(x, n) for tensors and std::pow(x, n) for numbers"},
    {"", "(^|\\s)(and|or|not)\\s+(in|is)\\s", "std::find looks for an element, == compares"},
};

/// Returns the undeclared names in clang's messages.
std::vector<std::string> undeclared(const std::string& messages) {
  static const std::regex name("use of undeclared identifier '(\\w+)'");
  std::vector<std::string> names;
  for (std::sregex_iterator i(messages.begin(), messages.end(), name), end; i != end; ++i)
    names.push_back((*i)[1]);
  return names;
}

void collect_fields(const clang::CXXRecordDecl& record, std::vector<std::string>& names) {
  for (const clang::FieldDecl* field : record.fields()) names.push_back(field->getNameAsString());
  for (const clang::CXXBaseSpecifier& base : record.bases())
    if (const auto* of_base = base.getType()->getAsCXXRecordDecl(); of_base && of_base->hasDefinition())
      collect_fields(*of_base->getDefinition(), names);
}

}  // namespace

std::string option_hints(const std::string& cell, const std::vector<const clang::CXXRecordDecl*>& classes) {
  static const std::regex designator("[{,]\\s*\\.(\\w+)\\s*[={]");
  std::string notes;
  for (const clang::CXXRecordDecl* record : classes) {
    std::vector<std::string> fields;
    collect_fields(*record, fields);
    for (std::sregex_iterator i(cell.begin(), cell.end(), designator), end; i != end; ++i) {
      const std::string name = (*i)[1];
      if (fields.empty() || llvm::is_contained(fields, name)) continue;
      const auto distance = [&](const std::string& field) {
        return llvm::StringRef(field).edit_distance(name);
      };
      const auto nearest = std::min_element(
          fields.begin(), fields.end(),
          [&](const std::string& a, const std::string& b) { return distance(a) < distance(b); });
      const std::string note = "\nnote: " + record->getNameAsString() + " has no field '" + name +
                               "'; the nearest is '" + *nearest + '\'';
      if (notes.find(note) == std::string::npos) notes += note;
    }
  }
  return notes;
}

std::string python_hints(const std::string& cell, const std::string& messages) {
  std::string notes;
  const auto add = [&](const std::string& note) {
    if (notes.find(note) == std::string::npos) notes += "\nnote: " + note;
  };
  for (const auto& [message, text, note] : habits)
    if (std::regex_search(messages, std::regex(message)) && std::regex_search(cell, std::regex(text)))
      add(note);
  for (const std::string& name : undeclared(messages)) {
    if (std::regex_search(cell, std::regex("[(,]\\s*" + name + "\\s*=[^=]")))
      add("a named argument stands in braces, with a dot: f(x, {." + name + " = ...})");
    else if (std::regex_search(cell, std::regex("(^|\\n)\\s*" + name + "\\s*=[^=]")))
      add("a new variable needs a type: auto " + name + " = ...");
  }
  return notes;
}

}  // namespace ktape::interactive
