#pragma once
#include <cstddef>
#include <optional>
#include <string>

/// The colors of drawings, and how series of numbers differ. Internal: sources only.
namespace ktape::plot {

struct Color {
  unsigned char red = 0, green = 0, blue = 0;
  bool operator==(const Color&) const = default;
};

/// Returns the color in hexadecimal: "#2563eb".
std::string hex_of(Color color);

enum class Theme { Light, Dark };

/// The purpose of a color. A role has a color for light and a color for dark screens.
enum class Role { Paper, Ink, Muted, Grid, Panel, Frame, OnAccent, Series };

/// The color of a role, or one color for light and dark screens.
struct Paint {
  Paint(Role role) : role(role) {}
  Paint(Color color) : fixed(color) {}
  Role role = Role::Ink;
  int series = 0;  ///< the number of the color of a series, for Role::Series
  std::optional<Color> fixed = {};
  static Paint of_series(std::size_t i);
};

/// The number of colors of series. Any two have a distance (CIEDE2000) of at least 12.5 for people without
/// red, green or blue cones, and of 20 for others; the contrast to the paper is at least 3.
inline constexpr std::size_t series_colors = 8;

Color color_of(const Paint& paint, Theme theme);
/// Returns the name of a role's color in style sheets.
const char* class_of(const Paint& paint);
/// Returns color number i of the `shades` colors that differ between light and dark screens.
inline constexpr std::size_t shades = 7 + series_colors;
Paint shade(std::size_t i);
/// Returns a color for terminals, as the number of an ANSI escape sequence.
int terminal_color(std::size_t series);

enum class Dash { None, Solid, Dashed, Dotted, DashDot };
enum class Marker { None, Circle, Square, Triangle, Diamond, Cross, Plus, TriangleDown, Star };

/// Color, line and marker of a series.
struct Look {
  std::size_t color = 0;
  Dash dash = Dash::Solid;
  Marker marker = Marker::Circle;
};

/// Returns the look of series i among lines: all colors with a solid line, then with each other kind of line,
/// then with markers. The first 256 looks differ.
Look line_look(std::size_t i);
/// Returns the look of series i among points: neighbours differ in color and marker. The first 64 looks
/// differ.
Look point_look(std::size_t i);
/// Returns the letter of series i in drawings of characters without colors.
char letter_of(std::size_t i);

}  // namespace ktape::plot
