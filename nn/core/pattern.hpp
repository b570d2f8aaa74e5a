#pragma once
#include <memory>
#include <string>
#include <vector>

namespace ktape::nn {

/// A regular expression in the grammar of ECMAScript, for names and paths. Internal: sources only.
class Pattern {
 public:
  /// The longest text that a pattern can match: std::regex uses stack for each character.
  static constexpr std::size_t longest_text = 1000;

  /// The time for a match. A Polynomial pattern takes no back-references and suits expressions from files: a
  /// Backtracking pattern may need time that is exponential in the length of the text.
  enum class Time { Backtracking, Polynomial };

  /// Throws std::runtime_error with the reason if the expression is malformed.
  explicit Pattern(const std::string& expression, Time time = Time::Backtracking);

  /// Returns whether the pattern matches the whole text.
  bool matches(const std::string& text) const;

  /// Returns the text of the match and of each group, empty for a group that took no part. Returns an empty
  /// list if the pattern does not match the whole text.
  std::vector<std::string> groups(const std::string& text) const;

  /// Returns the text with each match replaced by `format`, in which $1 stands for the first group.
  std::string replaced(const std::string& text, const std::string& format) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace ktape::nn
