#include <ktape/ops/help/option_texts.hpp>

#include <algorithm>
#include <map>
#include <regex>

namespace ktape::help_text {
namespace {

/// Options that many classes take, and that no header explains.
const std::map<std::string, std::string>& common_texts() {
  static const std::map<std::string, std::string> texts = {
      {"activation", "the function of the output: a name such as \"relu\", or a function; none by default"},
      {"axis", "the axis, counted from the end if negative"},
      {"beta_1", "the factor of the moving average of gradients"},
      {"beta_2", "the factor of the moving average of squared gradients"},
      {"data_format", "\"channels_last\" or \"channels_first\"; K::image_data_format() by default"},
      {"dilation_rate", "the distance between the elements that a window reads"},
      {"ema_momentum", "the factor of the moving averages in each update"},
      {"epsilon", "a small number that keeps divisors away from 0"},
      {"from_logits", "whether predictions are logits, not probabilities"},
      {"ignore_class", "targets of this class do not count"},
      {"learning_rate", "the size of a step: a number or a schedule"},
      {"monitor", "the name of the watched loss or metric, such as \"val_loss\""},
      {"reduction", "\"sum_over_batch_size\" (the mean), \"sum\", \"mean_with_sample_weight\" or \"none\""},
      {"seed", "the seed of the random numbers; drawn from the global generator by default"},
      {"strides", "the distance between neighboring windows"},
      {"use_bias", "whether a bias is added"},
      {"verbose", "1 prints progress, 0 prints nothing"},
      {"weight_decay", "w -= w * weight_decay * learning_rate before each update"}};
  return texts;
}

/// Returns the meaning of `kernel_initializer` and its relatives, for any weight; empty for another name.
std::string text_of_weight_option(const std::string& name) {
  static const std::regex pattern("(?:(\\w+)_)?(initializer|regularizer|constraint)");
  std::smatch match;
  if (!std::regex_match(name, match, pattern)) return {};
  const std::string weight = match[1].matched ? "the " + match[1].str() : "the weight";
  if (match[1] == "activity") return "the penalty on the output, part of the loss";
  if (match[2] == "initializer") return "makes the first values of " + weight;
  if (match[2] == "regularizer") return "the penalty on " + weight + ", part of the loss";
  return "maps " + weight + " to an allowed value after each update";
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
  std::string text = text_in_header(lines, name);
  if (text.empty()) text = text_in_base(find, name);
  if (text.empty()) text = text_of_weight_option(name);
  const auto common = common_texts().find(name);
  return text.empty() && common != common_texts().end() ? common->second : text;
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
  for (const auto& [name, place] : options.fields) {
    const std::vector<std::string> lines = lines_around(place);
    const FieldText field = field_text(lines, place.line - 1, name);
    const std::string left =
        "  ." + name + (field.value.empty() || field.value == "{}" ? "" : " = " + field.value);
    rows.emplace_back(left, field.comment.empty() ? meaning(find, lines, name) : field.comment);
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
