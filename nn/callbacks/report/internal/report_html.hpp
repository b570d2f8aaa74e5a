#pragma once
#include <ktape/nn/plot/plot.hpp>

/// Pieces of a Report's page. Internal: sources only.
namespace ktape::nn::html {

/// The style sheet, for phones and wide screens, light and dark.
extern const char* const style;

/// Returns a duration as text: "480 ms", "4.2 s", "2:05 min", "1:02:03 h".
std::string seconds_text(double seconds);
std::string percent_text(double part);
/// Returns a number with a noun: "1 epoch", "2 epochs".
std::string count_text(std::int64_t count, const char* what);

/// Returns a row of a table, with cells "td" or "th"; the cells from `numbers` up to `numbers_end` are
/// aligned right.
std::string row_of(const std::vector<std::string>& cells, const char* cell, std::size_t numbers,
                   std::size_t numbers_end = 1000);
/// Returns a row with a name and its value.
std::string pair_row(const std::string& name, const std::string& value);
std::string picture(const plot::Figure& figure);

}  // namespace ktape::nn::html
