#include <ktape/ops/help/declared_text.hpp>
#include <ktape/ops/help/header_index.hpp>

#include <algorithm>
#include <regex>

namespace ktape::help_text {
namespace {

/// The namespaces of names that stand alone, in the order in which a name is looked for.
constexpr const char* spaces[] = {"",
                                  "backend::",
                                  "nn::",
                                  "ops::",
                                  "data::",
                                  "plot::",
                                  "nn::activations::",
                                  "nn::losses::",
                                  "nn::metrics::",
                                  "random::",
                                  "nn::applications::",
                                  "nn::distributed::"};

/// Returns the last line of the declaration that begins at `first`: the line of its semicolon, of the brace of a
/// function's body, or of the end of a class.
std::size_t end_of_declaration(const std::vector<std::string>& lines, std::size_t first) {
  std::size_t begin = first;  // the line after the parameters and conditions of a template
  while (begin + 1 < lines.size() &&
         (lines[begin].starts_with("template <") || lines[begin].starts_with("requires ")))
    ++begin;
  const bool of_class = std::regex_search(lines[begin], std::regex("^(?:class|struct|enum) "));
  int round = 0;
  for (std::size_t i = begin; i < lines.size(); ++i) {
    const std::string code = without_comment(lines[i]);
    if (i > begin && of_class && lines[i].starts_with('}')) return i;
    for (const char c : code) round += (c == '(') - (c == ')');
    if (round == 0 && code.ends_with(';') && (!of_class || i == begin)) return i;
    if (round == 0 && !of_class && (code.ends_with('{') || code.ends_with('}'))) return i;
  }
  return lines.size() - 1;
}

/// Returns the prefix of names in a namespace that opens inside of another: `nn::` for `ktape::nn`.
std::string inside(const std::string& around, std::string name) {
  if (name == "ktape") return "";
  if (name.starts_with("ktape::")) return name.substr(7) + "::";
  return around + name + "::";
}

/// Returns the prefix of the namespace around a namespace: `nn::` for `nn::losses::`.
std::string outer(const std::string& space) {
  const std::size_t cut = space.size() > 2 ? space.rfind("::", space.size() - 3) : std::string::npos;
  return cut == std::string::npos ? "" : space.substr(0, cut + 2);
}

}  // namespace

HeaderIndex::HeaderIndex(const std::string& folder) : folder_(folder) { read("ktape/ktape.hpp"); }

void HeaderIndex::read(const std::string& header) {
  if (!read_.insert(header).second) return;
  const std::string path = folder_ + "/" + header;
  const std::vector<std::string> lines = lines_around({.file = path});
  std::vector<std::string> spaces_around(1);  // the innermost last
  static const std::regex include("^#include <(ktape/[^>]+)>"), begin("^namespace ([\\w:]+) \\{$");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    std::smatch match;
    if (std::regex_search(line, match, include)) read(match[1]);
    else if (std::regex_search(line, match, begin))
      spaces_around.push_back(inside(spaces_around.back(), match[1]));
    else if (line.starts_with("}  // namespace") && spaces_around.size() > 1) spaces_around.pop_back();
    else if (!line.empty() && std::string_view(" }#/").find(line[0]) == std::string_view::npos) {
      const std::size_t last = end_of_declaration(lines, i);
      add(path, lines, i, last, spaces_around.back());
      const bool has_body = without_comment(lines[last]).ends_with('{');
      i = last;
      while (has_body && i + 1 < lines.size() && !lines[i].starts_with('}')) ++i;
    }
  }
}

void HeaderIndex::add(const std::string& path, const std::vector<std::string>& lines, std::size_t first,
                      std::size_t last, const std::string& space) {
  Declaration one;
  for (std::size_t i = first; i <= last; ++i) one.code += without_comment(lines[i]) + '\n';
  if (one.code.starts_with("using ") && one.code.find('=') == std::string::npos) {
    for (const std::string& part : split_outside(one.code.substr(6, one.code.rfind(';') - 6), ','))
      used_[space + trimmed(part.substr(part.rfind("::") + 2))] = {space, trimmed(part)};
    return;
  }
  const std::string name = declared_name(one.code);
  if (name.empty() || (one.code.starts_with("class ") && lines[first].ends_with(';'))) return;
  static const std::regex of_class("^(?:template [^\\n]*\\n?)?(?:class|struct) ");
  one.place = {path,
               static_cast<unsigned>(first + 1),
               static_cast<unsigned>(last + 1),
               {},
               std::regex_search(one.code, of_class)};
  if (one.code.find("constexpr ") != std::string::npos && one.code.find('(') == std::string::npos)
    for (const auto& [constant, line] : fields_of({"", one.code}, 0, 2))
      if (constant != name) declarations_[space + constant].push_back(one);
  declarations_[space + name].push_back(std::move(one));
}

std::string HeaderIndex::resolved(const std::string& name) const {
  std::string text = name;
  for (const char* const prefix : {"::", "ktape::"})
    if (text.starts_with(prefix)) text = text.substr(std::string_view(prefix).size());
  if (text.starts_with("K::")) text = "backend::" + text.substr(3);
  for (const char* const space : spaces) {
    if (declarations_.contains(space + text)) return space + text;
    if (const auto used = used_.find(space + text); used != used_.end()) return used_name(used->second);
  }
  return {};
}

std::string HeaderIndex::used_name(const std::pair<std::string, std::string>& used) const {
  const std::string target = used.second.starts_with("ktape::") ? used.second.substr(7) : used.second;
  for (std::string space = used.first;; space = outer(space)) {
    if (declarations_.contains(space + target)) return space + target;
    if (space.empty()) return {};
  }
}

std::vector<Place> HeaderIndex::places(const std::string& name) const {
  std::vector<Place> found;
  if (const auto at = declarations_.find(name); at != declarations_.end()) {
    for (const Declaration& one : at->second) found.push_back(one.place);
    std::sort(found.begin(), found.end(), [](const Place& a, const Place& b) {
      return std::tie(a.file, a.line) < std::tie(b.file, b.line);
    });
    return found;
  }
  const std::size_t colons = name.rfind("::");
  if (colons == std::string::npos) return found;
  for (const Place& of : places(name.substr(0, colons)))
    for (const auto& [field, line] : fields_of(lines_around(of), of.line - 1, of.last_line - 1))
      if (field == name.substr(colons + 2))
        found.push_back({of.file, static_cast<unsigned>(line + 1), static_cast<unsigned>(line + 1)});
  return found;
}

const HeaderIndex::Declaration* HeaderIndex::struct_of(const std::string& type, std::string space) const {
  static const std::regex word("([\\w:]+Options)\\b");
  std::smatch match;
  if (!std::regex_search(type, match, word)) return nullptr;
  for (;; space = outer(space)) {
    if (const auto at = declarations_.find(space + match[1].str()); at != declarations_.end()) {
      const Declaration& one = at->second[0];
      const std::size_t equal = one.code.find('=');  // of an alias
      return one.place.is_class           ? &one
             : equal == std::string::npos ? nullptr
                                          : struct_of(one.code.substr(equal), space);
    }
    if (space.empty()) return nullptr;
  }
}

std::vector<OptionStruct> HeaderIndex::options_of(const std::string& name) const {
  std::vector<OptionStruct> found;
  const auto at = declarations_.find(name);
  if (at == declarations_.end()) return found;
  const std::size_t colons = name.rfind("::");
  const std::string space = colons == std::string::npos ? "" : name.substr(0, colons + 2);
  const std::string last = name.substr(space.size());
  for (const Declaration& declaration : at->second) {
    // The function itself, or each constructor of the class.
    const std::regex call("(?:^|[\\s*&>])" + last + "\\(");
    for (std::sregex_iterator it(declaration.code.begin(), declaration.code.end(), call), end; it != end;
         ++it) {
      const std::vector<Parameter> given =
          parameters(declaration.code, static_cast<std::size_t>(it->position() + it->length()) - 1);
      for (const Parameter& parameter : given) {
        const Declaration* const options = struct_of(parameter.type, space);
        if (!options) continue;
        const std::string of = declared_name(options->code);
        std::vector<std::string> others;
        for (const Parameter& other : given)
          if (&other != &parameter) others.push_back(other.name);
        const auto known =
            std::find_if(found.begin(), found.end(), [&](const auto& one) { return one.name == of; });
        if (known != found.end()) {
          if (others.size() > known->arguments.size()) known->arguments = others;
          continue;
        }
        found.push_back({of, others});
        const Place& place = options->place;
        for (const auto& [field, line] : fields_of(lines_around(place), place.line - 1, place.last_line - 1))
          found.back().fields.emplace_back(
              field, Place{place.file, static_cast<unsigned>(line + 1), static_cast<unsigned>(line + 1)});
      }
    }
  }
  return found;
}

}  // namespace ktape::help_text
