#pragma once
#include <ktape/nn/core/text.hpp>

#include <sstream>
#include <string>

/// Helpers for the tests of plots: the contents of a picture.

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

inline bool contains(const std::string& text, const std::string& part) { return count(text, part) > 0; }

/// Returns whether every line of a drawing fits.
inline bool narrow(const std::string& text, std::size_t columns) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (ktape::nn::text_width(line) > columns) return false;
  return true;
}
