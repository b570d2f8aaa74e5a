#pragma once
#include <optional>
#include <sstream>
#include <string>

/// SVG pictures that are light or dark like the reader's screen. Internal: sources only.
namespace ktape::plot {

/// The purpose of a color. A role has a color for light and a color for dark screens.
enum class Role { Paper, Ink, Muted, Grid, Panel, Frame, OnAccent, Series };
struct Paint {
  Paint(Role role) : role(role) {}
  Role role;
  int series = 0;  ///< the number of the series, for Role::Series
  static Paint of_series(std::size_t i);
};
inline constexpr std::size_t series_colors = 8;

/// Returns the attributes `fill`, `stroke` and `class` of an element; a missing paint becomes "none".
std::string painted(std::optional<Paint> fill, std::optional<Paint> stroke = {});
/// Returns the `<style>` that gives painted elements their colors on dark screens. On light screens, and in
/// programs without styles, the attributes apply.
std::string dark_style();
/// Returns a color for terminals, as the number of an ANSI escape sequence.
int terminal_color(std::size_t series);

/// Returns the number with up to 2 decimals, whatever the locale.
std::string coordinate(double number);

/// A writer of an SVG picture.
class Svg {
 public:
  Svg(double width, double height, const std::string& description);

  struct Box {
    double x, y, width, height;
  };
  struct TextStyle {
    const char* anchor = "start";
    double size = 12;
    bool bold = false;
    Paint paint = Role::Muted;
    double turned = 0;  ///< the rotation of the text in degrees
  };

  /// Draws a rectangle; `hint` is shown under the mouse.
  void rect(const Box& box, const std::string& paint, const std::string& hint = {});
  void line(double x1, double y1, double x2, double y2, const std::string& paint);
  void path(const std::string& data, const std::string& paint);
  void circle(double x, double y, double radius, const std::string& paint, const std::string& hint = {});
  void text(double x, double y, const std::string& text, const TextStyle& style);
  /// Draws a PNG image without smoothing its pixels.
  void image(const Box& box, const std::string& png, const std::string& hint = {});

  /// Clips later drawing to the box.
  void open(const Box& box);
  void close() { out_ << "</svg>\n"; }

  std::string str() const { return out_.str() + "</svg>\n"; }

 private:
  void end(const char* element, const std::string& hint);
  std::ostringstream out_;
};

/// Returns the approximate width of a text.
double text_length(const std::string& text, double size = 12);

/// Returns a PNG image as a data: address.
std::string data_uri(const std::string& png);

}  // namespace ktape::plot
