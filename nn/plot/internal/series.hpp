#pragma once
#include <ktape/nn/plot/chart.hpp>

/// Checks of numbers to draw. Internal: sources only.
namespace ktape::plot {

/// Returns the series with their x. Throws ValueError for an empty list, an empty series, and x and y of
/// different lengths.
std::vector<Series> checked(const char* op, const SeriesList& series);
/// Throws ValueError if the axis is logarithmic and a number is not positive.
void check_log(const char* op, const char* name, const Axis& axis, const Numbers& numbers,
               const std::string& series);
/// Returns "2 of 10 numbers are not finite", or an empty text.
std::string missing_note(std::size_t missing, std::size_t all);

}  // namespace ktape::plot
