#include <ktape/ops/help/option_texts.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>

namespace ktape::help_text {
namespace {

using Meanings = std::map<std::string, std::string>;

/// Reads ops/help/arguments.txt, which stands among the headers: meanings by `field`, `struct.field`, `namespace::*.field`,
/// or by a pattern such as `*_regularizer`. Empty where the headers lack the file.
Meanings read_meanings(const std::string& header) {
  Meanings meanings;
  std::filesystem::path folder = header;
  do folder = folder.parent_path();
  while (folder.has_relative_path() && !std::filesystem::exists(folder / "ops/help/arguments.txt"));
  std::ifstream file(folder / "ops/help/arguments.txt");
  for (std::string line; std::getline(file, line);)
    if (const std::size_t bar = line.find(" | "); bar != std::string::npos && line[0] != '#')
      meanings[line.substr(0, bar)] = line.substr(bar + 3);
  return meanings;
}

/// Returns the meaning of a weight's option, such as `kernel_regularizer`, by the pattern `*_regularizer`.
std::string meaning_of_weight_option(const Meanings& meanings, const std::string& name) {
  const std::size_t at = name.rfind('_');
  const auto found = at == std::string::npos ? meanings.end() : meanings.find('*' + name.substr(at));
  if (found == meanings.end()) return {};
  std::string text = found->second;
  const std::size_t star = text.find('*');
  return star == std::string::npos ? text : text.replace(star, 1, name.substr(0, at));
}

/// Returns the meaning of a field of a struct that a call such as `nn::Conv2D` takes.
std::string meaning_in_table(const Meanings& meanings, const std::string& call, const std::string& owner,
                             const std::string& name) {
  for (std::size_t end = call.rfind("::"); end != std::string::npos && end > 0;
       end = call.rfind("::", end - 1)) {
    const std::string space = call.substr(0, end + 2);
    for (const std::string& key : {space + owner + '.' + name, space + "*." + name})
      if (const auto found = meanings.find(key); found != meanings.end()) return found->second;
  }
  const auto found = meanings.find(name);
  return found == meanings.end() ? meaning_of_weight_option(meanings, name) : found->second;
}

/// Returns the comment of a field with this name in another struct of the header.
std::string text_in_header(const std::vector<std::string>& lines, const std::string& name) {
  const std::regex field("\\b" + name + "( = [^;]*)?;");
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].starts_with("  ") && std::regex_search(lines[i], field))
      if (const std::string text = field_text(lines, i, name).comment; !text.empty()) return text;
  return {};
}

/// Returns the comment of a field of the structs that explain the options which all layers and all optimizers take.
std::string text_in_base(const FindPlaces& find, const std::string& name) {
  for (const std::string of : {"nn::LayerOptions::", "nn::OptimizerOptions::"})
    for (const Place& place : find(of + name))
      if (const std::string text = field_text(lines_around(place), place.line - 1, name).comment;
          !text.empty())
        return text;
  return {};
}

std::string meaning(const FindPlaces& find, const std::vector<std::string>& lines, const std::string& name) {
  const std::string text = text_in_header(lines, name);
  return text.empty() ? text_in_base(find, name) : text;
}

/// Appends words at a column, in lines of a width.
void put(std::string& out, std::string left, const std::string& text, std::size_t column, std::size_t width) {
  std::string line = std::move(left);
  const auto begin_text = [&] { line.resize(std::max(line.size(), column), ' '); };
  if (!text.empty() && line.size() + 2 > column) {
    out += line + '\n';
    line.clear();
  }
  if (!text.empty()) begin_text();
  std::size_t at = 0;
  bool first = true;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!first && line.size() + 1 + word.size() > width) {
      out += line + '\n';
      line.clear();
      begin_text();
      first = true;
    }
    line += (first ? "" : " ") + word;
    first = false;
    at = end + 1;
  }
  out += line + '\n';
}

}  // namespace

std::string options_table(const FindPlaces& find, const std::string& call, const OptionStruct& options,
                          std::size_t columns) {
  std::vector<std::pair<std::string, std::string>> rows;
  std::size_t column = 0;
  const Meanings meanings = read_meanings(options.fields.empty() ? "" : options.fields.front().second.file);
  for (const auto& [name, place] : options.fields) {
    const std::vector<std::string> lines = lines_around(place);
    const FieldText field = field_text(lines, place.line - 1, name);
    const std::string left =
        "  ." + name + (field.value.empty() || field.value == "{}" ? "" : " = " + field.value);
    std::string text = field.comment.empty() ? meaning(find, lines, name) : field.comment;
    if (text.empty()) text = meaning_in_table(meanings, call, options.name, name);
    rows.emplace_back(left, text);
    column = std::max(column, left.size() + 2);
  }
  column = std::min<std::size_t>(column, std::max<std::size_t>(columns / 2, 16));
  std::string arguments;
  for (const std::string& name : options.arguments) arguments += name + ", ";
  std::string out = call + '(' + arguments + "{...}) with options in this order (" + options.name + "):\n";
  for (const auto& [left, text] : rows) put(out, left, text, column, columns);
  return out;
}

}  // namespace ktape::help_text
