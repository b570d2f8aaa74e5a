#pragma once
#include <ktape/nn/plot/canvas/canvas.hpp>

#include <sstream>

/// SVG pictures that are light or dark like the reader's screen. Internal: sources only.
namespace ktape::plot {

/// Returns the attributes `fill`, `stroke` and `class` of an element; a missing paint becomes "none".
std::string painted(std::optional<Paint> fill, std::optional<Paint> stroke = {});
/// Returns the `<style>` that gives painted elements their colors on dark screens. On light screens, and in
/// programs without styles, the attributes apply.
std::string dark_style();

/// Returns the number with up to 2 decimals, whatever the locale.
std::string coordinate(double number);

/// A writer of an SVG picture.
class Svg final : public Canvas {
 public:
  Svg(double width, double height, const std::string& description);

  using Canvas::open;
  void rect(const Box& box, const Brush& brush, const std::string& hint = {}) override;
  void circle(Point middle, double radius, const Brush& brush, const std::string& hint = {}) override;
  void path(const Path& path, const Brush& brush, const std::string& hint = {}) override;
  void text(Point place, const std::string& text, const TextStyle& style) override;
  void image(const Box& box, const Tensor& pixels, const std::string& hint = {},
             const Tensor& dark = {}) override;
  void open(const Box& box, Point origin) override;
  void close() override { out_ << "</svg>\n"; }

  std::string str() const { return out_.str() + "</svg>\n"; }

 private:
  void attributes(const Brush& brush);
  void end(const char* element, const std::string& hint);
  void embed(const Box& box, const Tensor& pixels, const std::string& hint, const char* variant);
  std::ostringstream out_;
};

/// Returns a PNG image as a data: address.
std::string data_uri(const std::string& png);

}  // namespace ktape::plot
