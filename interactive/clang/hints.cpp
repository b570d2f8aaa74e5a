#include <ktape/interactive/clang/hints.hpp>
#include <ktape/interactive/clang/lookup.hpp>

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
  for (const clang::FieldDecl* field : record.fields())
    if (!is_by_name(*field)) names.push_back(field->getNameAsString());
  for (const clang::CXXBaseSpecifier& base : record.bases())
    if (const auto* of_base = base.getType()->getAsCXXRecordDecl(); of_base && of_base->hasDefinition())
      collect_fields(*of_base->getDefinition(), names);
}

/// Returns the designators of a cell: `activation` of `{.activation = "relu"}`.
std::vector<std::string> designators(const std::string& cell) {
  static const std::regex designator("[{,]\\s*\\.(\\w+)\\s*[={]");
  std::vector<std::string> names;
  for (std::sregex_iterator i(cell.begin(), cell.end(), designator), end; i != end; ++i)
    if (!llvm::is_contained(names, (*i)[1].str())) names.push_back((*i)[1]);
  return names;
}

/// The names that a list in braces for a class may contain, and the arguments that stand before the list.
struct Expected {
  std::string in;  ///< the class whose fields are named
  std::vector<std::string> fields = {}, arguments = {};
};

/// Returns what a constructor expects whose last parameter is a struct of options.
Expected expected_by(const clang::CXXConstructorDecl& constructor) {
  Expected expected{constructor.getParent()->getNameAsString()};
  for (const clang::ParmVarDecl* parameter : constructor.parameters()) {
    const auto* options = parameter->getType().getNonReferenceType()->getAsCXXRecordDecl();
    if (options && options->hasDefinition() && options->isAggregate() && !expected.in.empty()) {
      expected.in = options->getNameAsString();
      collect_fields(*options->getDefinition(), expected.fields);
    } else {
      expected.arguments.push_back(parameter->getNameAsString());
    }
  }
  return expected;
}

std::vector<Expected> expected_by(const clang::CXXRecordDecl& record) {
  if (record.isAggregate()) {
    Expected expected{record.getNameAsString()};
    collect_fields(record, expected.fields);
    return {expected};
  }
  std::vector<Expected> all;
  for (const clang::CXXConstructorDecl* constructor : record.ctors())
    if (!constructor->isCopyOrMoveConstructor()) all.push_back(expected_by(*constructor));
  std::erase_if(all, [](const Expected& one) { return one.fields.empty(); });
  return all;
}

std::string nearest(const std::vector<std::string>& fields, const std::string& name) {
  const auto distance = [&](const std::string& field) { return llvm::StringRef(field).edit_distance(name); };
  return *std::min_element(fields.begin(), fields.end(), [&](const std::string& a, const std::string& b) {
    return distance(a) < distance(b);
  });
}

/// Returns the note for a designator that the class does not expect; empty if it does.
std::string option_hint(const clang::CXXRecordDecl& record, const Expected& expected,
                        const std::string& name) {
  if (expected.fields.empty() || llvm::is_contained(expected.fields, name)) return {};
  const std::string type = record.getNameAsString();
  if (llvm::is_contained(expected.arguments, name)) {
    std::string call;
    for (const std::string& argument : expected.arguments) call += argument + ", ";
    return "\nnote: '" + name + "' of " + type + " is an argument before the braces: " + type + '(' + call +
           "{...})";
  }
  return "\nnote: " + expected.in + " has no field '" + name + "'; the nearest is '" +
         nearest(expected.fields, name) + '\'';
}

}  // namespace

std::string option_hints(const std::string& cell, const std::vector<const clang::CXXRecordDecl*>& classes) {
  std::string notes;
  for (const clang::CXXRecordDecl* record : classes)
    for (const Expected& expected : expected_by(*record))
      for (const std::string& name : designators(cell))
        if (const std::string note = option_hint(*record, expected, name);
            notes.find(note) == std::string::npos)
          notes += note;
  return notes;
}

std::string order_hints(const std::string& cell, const std::vector<const clang::CXXRecordDecl*>& classes) {
  std::string notes;
  const std::vector<std::string> named = designators(cell);
  for (const clang::CXXRecordDecl* record : classes) {
    std::vector<std::string> fields;
    collect_fields(*record, fields);
    std::string list;
    for (const std::string& field : fields)
      if (llvm::is_contained(named, field)) list += (list.empty() ? "." : ", .") + field + " = ...";
    notes += (notes.empty() ? "" : "\n") + std::string("warning: compilers such as g++ refuse fields of ") +
             record->getNameAsString() + " in this order; the right order is {" + list + '}';
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
