#include <ktape/nn/core/text.hpp>
#include <ktape/nn/data/formats/image_files.hpp>
#include <ktape/nn/plot/canvas/svg.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace ktape::plot {

std::string painted(std::optional<Paint> fill, std::optional<Paint> stroke) {
  std::string attributes, classes;
  const auto add = [&](const char* name, char prefix, const std::optional<Paint>& paint) {
    attributes +=
        std::string(" ") + name + "=\"" + (paint ? hex_of(color_of(*paint, Theme::Light)) : "none") + '"';
    if (paint && !paint->fixed)
      classes += (classes.empty() ? "kt" : " kt") + std::string(1, prefix) + '-' + class_of(*paint);
  };
  add("fill", 'f', fill);
  if (stroke) add("stroke", 's', stroke);
  if (!classes.empty()) attributes += " class=\"" + classes + '"';
  return attributes;
}

std::string dark_style() {
  std::string css = "<style>@media(prefers-color-scheme:dark){";
  for (std::size_t i = 0; i < shades; ++i) {
    const Paint paint = shade(i);
    const std::string name = class_of(paint), color = hex_of(color_of(paint, Theme::Dark));
    css += ".ktf-" + name + "{fill:" + color + "}.kts-" + name + "{stroke:" + color + '}';
  }
  return css + ".kt-light{display:none}.kt-dark{display:inline}}</style>\n";
}

std::string coordinate(double number) {
  // Programs that show SVG parse numbers in single precision.
  char text[64];
  const auto end =
      std::to_chars(text, text + sizeof text, std::clamp(number, -1e6, 1e6), std::chars_format::fixed, 2).ptr;
  std::string out(text, end);
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out == "-0" ? "0" : out;
}

Svg::Svg(double width, double height, const std::string& description) {
  const std::string w = coordinate(width), h = coordinate(height);
  out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << w << "\" height=\"" << h
       << "\" viewBox=\"0 0 " << w << ' ' << h
       << "\" font-family=\"system-ui, sans-serif\" font-size=\"12\" role=\"img\">\n";
  out_ << "<title>" << nn::escaped(description) << "</title>\n" << dark_style();
  out_ << "<rect width=\"100%\" height=\"100%\"" << painted(Role::Paper) << "/>\n";
}

void Svg::attributes(const Brush& brush) {
  out_ << painted(brush.fill, brush.stroke);
  if (brush.opacity < 1) {
    const std::string opacity = coordinate(brush.opacity);
    if (brush.fill) out_ << " fill-opacity=\"" << opacity << '"';
    if (brush.stroke) out_ << " stroke-opacity=\"" << opacity << '"';
  }
  if (!brush.stroke) return;
  if (brush.width != 1)
    out_ << " stroke-width=\"" << coordinate(brush.width)
         << "\" stroke-linejoin=\"round\" stroke-linecap=\"round\"";
  const std::vector<double> lengths = dash_lengths(brush.dash, brush.width);
  for (std::size_t i = 0; i < lengths.size(); ++i)
    out_ << (i == 0 ? " stroke-dasharray=\"" : " ") << coordinate(lengths[i]);
  if (!lengths.empty()) out_ << '"';
}

void Svg::end(const char* element, const std::string& hint) {
  if (hint.empty()) out_ << "/>\n";
  else out_ << "><title>" << nn::escaped(hint) << "</title></" << element << ">\n";
}

void Svg::rect(const Box& box, const Brush& brush, const std::string& hint) {
  out_ << "<rect x=\"" << coordinate(box.x) << "\" y=\"" << coordinate(box.y) << "\" width=\""
       << coordinate(box.width) << "\" height=\"" << coordinate(box.height) << '"';
  if (brush.round > 0) out_ << " rx=\"" << coordinate(brush.round) << '"';
  attributes(brush);
  end("rect", hint);
}

void Svg::circle(Point middle, double radius, const Brush& brush, const std::string& hint) {
  out_ << "<circle cx=\"" << coordinate(middle.x) << "\" cy=\"" << coordinate(middle.y) << "\" r=\""
       << coordinate(radius) << '"';
  attributes(brush);
  end("circle", hint);
}

void Svg::path(const Path& path, const Brush& brush, const std::string& hint) {
  out_ << "<path d=\"";
  for (const Piece& piece : path) {
    for (std::size_t i = 0; i < piece.points.size(); ++i)
      out_ << (i == 0 ? 'M' : 'L') << coordinate(piece.points[i].x) << ' ' << coordinate(piece.points[i].y);
    if (piece.closed) out_ << 'Z';
  }
  out_ << '"';
  attributes(brush);
  end("path", hint);
}

void Svg::text(Point place, const std::string& text, const TextStyle& style) {
  out_ << "<text x=\"" << coordinate(place.x) << "\" y=\"" << coordinate(place.y) << "\" text-anchor=\""
       << style.anchor << "\" font-size=\"" << coordinate(style.size) << '"'
       << (style.halo ? painted(style.paint, Role::Paper) : painted(style.paint));
  if (style.halo) out_ << " stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"";
  if (style.bold) out_ << " font-weight=\"bold\"";
  if (style.turned != 0)
    out_ << " transform=\"rotate(" << coordinate(style.turned) << ' ' << coordinate(place.x) << ' '
         << coordinate(place.y) << ")\"";
  out_ << '>' << nn::escaped(text) << "</text>\n";
}

void Svg::embed(const Box& box, const Tensor& pixels, const std::string& hint, const char* variant) {
  out_ << "<image x=\"" << coordinate(box.x) << "\" y=\"" << coordinate(box.y) << "\" width=\""
       << coordinate(box.width) << "\" height=\"" << coordinate(box.height)
       << "\" preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\"" << variant << " href=\""
       << data_uri(data::encode_png(pixels)) << '"';
  end("image", hint);
}

void Svg::image(const Box& box, const Tensor& pixels, const std::string& hint, const Tensor& dark) {
  embed(box, pixels, hint, dark.defined() ? " class=\"kt-light\"" : "");
  if (dark.defined()) embed(box, dark, hint, " class=\"kt-dark\" display=\"none\"");
}

void Svg::open(const Box& box, Point origin) {
  const std::string size = coordinate(box.width) + "\" height=\"" + coordinate(box.height);
  out_ << "<svg x=\"" << coordinate(box.x) << "\" y=\"" << coordinate(box.y) << "\" width=\"" << size
       << "\" viewBox=\"" << coordinate(origin.x) << ' ' << coordinate(origin.y) << ' '
       << coordinate(box.width) << ' ' << coordinate(box.height) << "\">\n";
}

std::string data_uri(const std::string& png) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out = "data:image/png;base64,";
  for (std::size_t i = 0; i < png.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < png.size() ? static_cast<unsigned char>(png[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += i + k <= png.size() ? digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

}  // namespace ktape::plot
