#pragma once
#include <ktape/nn/plot/chart.hpp>

/// Checks of numbers to draw. Internal: sources only.
namespace ktape::plot {

/// Returns the series, in which a missing x is 0, 1, 2, ... Throws ValueError for an empty list, an empty
/// series, different lengths, and values of line, marker, color, size, alpha and error that are not allowed.
std::vector<Series> checked(const char* op, const SeriesList& series);
/// Throws ValueError if the axis is logarithmic and a number is not positive.
void check_log(const char* op, const char* name, const Axis& axis, const Numbers& numbers,
               const std::string& series);
/// Returns "2 of 10 numbers are not finite", or an empty text.
std::string missing_note(std::size_t missing, std::size_t all);

/// Returns the kind of line of a name in Series and Rule. Throws ValueError for an unknown name.
Dash dash_of(const char* op, const std::string& line);
/// Returns the marker of a name in Series. Throws ValueError for an unknown name.
Marker marker_of(const char* op, const std::string& marker);
/// Returns the look of series i of a chart of lines or of points.
Look look_of(const Series& series, std::size_t i, bool joined);

}  // namespace ktape::plot
