#include <ktape/nn/core/pattern.hpp>

#include <regex>

namespace ktape::nn {

struct Pattern::Compiled {
  std::regex regex;
};

Pattern::Pattern(const std::string& expression, Time time) {
  auto syntax = std::regex::ECMAScript;
  if (time == Time::Polynomial) syntax |= std::regex_constants::__polynomial;
  compiled_ = std::make_shared<Compiled>(Compiled{std::regex(expression, syntax)});
}

bool Pattern::matches(const std::string& text) const {
  return text.size() <= longest_text && std::regex_match(text, compiled_->regex);
}

std::vector<std::string> Pattern::groups(const std::string& text) const {
  std::smatch match;
  if (text.size() > longest_text || !std::regex_match(text, match, compiled_->regex)) return {};
  return {match.begin(), match.end()};
}

std::string Pattern::replaced(const std::string& text, const std::string& format) const {
  return std::regex_replace(text, compiled_->regex, format);
}

}  // namespace ktape::nn
