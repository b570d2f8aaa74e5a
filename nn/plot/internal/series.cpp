#include <ktape/nn/plot/internal/series.hpp>

#include <array>
#include <cmath>

namespace ktape::plot {
namespace {

constexpr std::array<const char*, 5> lines_of_dash{"none", "solid", "dashed", "dotted", "dashdot"};
constexpr std::array<const char*, 9> names_of_marker{
    "none", "circle", "square", "triangle", "diamond", "cross", "plus", "triangle_down", "star"};

/// Returns the place of a name among the names of an option.
template <std::size_t n>
std::size_t place_of(const char* op, const char* option, const std::array<const char*, n>& names,
                     const std::string& name) {
  std::string list;
  for (std::size_t i = 0; i < n; ++i) {
    if (name == names[i]) return i;
    list += (i == 0 ? "" : i + 1 == n ? " or " : ", ") + std::string(names[i]);
  }
  fail("[", op, "] ", option, " must be ", list, ": received ", option, "=\"", name, '"');
}

void check_count(const char* op, const char* name, const Numbers& numbers, const Series& series,
                 std::size_t at) {
  if (!numbers.empty() && numbers.size() != series.x.size())
    fail("[", op, "] ", name, " and x must have the same size: received ", numbers.size(), " and ",
         series.x.size(), " for series ", at, " '", series.name, "'");
}

void check_look(const char* op, const Series& series, std::size_t at) {
  const auto rule = [&](bool good, const char* text, auto received) {
    if (!good) fail("[", op, "] ", text, received, " for series ", at, " '", series.name, "'");
  };
  if (!series.line.empty()) dash_of(op, series.line);
  if (!series.marker.empty()) marker_of(op, series.marker);
  rule(series.alpha >= 0 && series.alpha <= 1, "alpha must be from 0 to 1: received alpha=", series.alpha);
  rule(series.size >= 0 && series.size <= 100, "size must be from 0 to 100: received size=", series.size);
  rule(!series.color || *series.color >= 0,
       "color must be at least 0: received color=", series.color.value_or(0));
  for (const double error : series.error)
    rule(!(error < 0), "error must be at least 0: received error=", error);
}

}  // namespace

std::vector<Series> checked(const char* op, const SeriesList& series) {
  std::vector<Series> list = series.list();
  if (list.empty()) fail("[", op, "] there must be a series to draw: received none");
  for (std::size_t s = 0; s < list.size(); ++s) {
    Series& one = list[s];
    if (one.low.empty() != one.high.empty())
      fail("[", op, "] low and high must be given together: received one of them for series ", s, " '",
           one.name, "'");
    const std::size_t count = one.y.empty() ? one.low.size() : one.y.size();
    if (count == 0)
      fail("[", op, "] every series must have numbers: received none for series ", s, " '", one.name, "'");
    if (one.x.empty()) {
      std::vector<double> places(count);
      for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<double>(i);
      one.x = places;
    }
    if (one.x.size() != count)
      fail("[", op, "] x and y must have the same size: received ", one.x.size(), " and ", count,
           " for series ", s, " '", one.name, "'");
    check_count(op, "low", one.low, one, s);
    check_count(op, "high", one.high, one, s);
    if (!one.error.empty() && one.y.empty())
      fail("[", op, "] error must have y: received none for series ", s, " '", one.name, "'");
    check_count(op, "error", one.error, one, s);
    check_look(op, one, s);
  }
  return list;
}

void check_log(const char* op, const char* name, const Axis& axis, const Numbers& numbers,
               const std::string& series) {
  if (!axis.log) return;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] <= 0)
      fail("[", op, "] numbers on a logarithmic axis must be positive: received ", name, '[', i,
           "]=", numbers[i], series.empty() ? "" : " in '" + series + "'");
}

std::string missing_note(std::size_t missing, std::size_t all) {
  if (missing == 0) return "";
  return std::to_string(missing) + " of " + std::to_string(all) +
         (missing == 1 ? " numbers is not finite" : " numbers are not finite");
}

Dash dash_of(const char* op, const std::string& line) {
  return static_cast<Dash>(place_of(op, "line", lines_of_dash, line));
}

Marker marker_of(const char* op, const std::string& marker) {
  return static_cast<Marker>(place_of(op, "marker", names_of_marker, marker));
}

Look look_of(const Series& series, std::size_t i, bool joined) {
  Look look = joined ? line_look(i) : point_look(i);
  if (series.color) look.color = static_cast<std::size_t>(*series.color) % series_colors;
  if (!series.line.empty()) look.dash = dash_of("plot", series.line);
  if (!series.marker.empty()) look.marker = marker_of("plot", series.marker);
  if (series.y.empty()) look.dash = Dash::None, look.marker = Marker::None;
  return look;
}

}  // namespace ktape::plot
