#include <ktape/nn/core/text.hpp>
#include <ktape/nn/plot/svg.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace ktape::plot {
namespace {

struct Shade {
  const char *name, *light, *dark;
};

constexpr Shade shades[] = {
    {"paper", "#ffffff", "#111827"}, {"ink", "#0f172a", "#e5e7eb"},   {"muted", "#475569", "#a3b0c2"},
    {"grid", "#e2e8f0", "#2b3648"},  {"panel", "#f1f5f9", "#1f2937"}, {"frame", "#64748b", "#94a3b8"},
    {"on", "#ffffff", "#0b1220"},    {"0", "#2563eb", "#60a5fa"},     {"1", "#ea580c", "#fb923c"},
    {"2", "#16a34a", "#4ade80"},     {"3", "#9333ea", "#c084fc"},     {"4", "#dc2626", "#f87171"},
    {"5", "#0891b2", "#22d3ee"},     {"6", "#a16207", "#facc15"},     {"7", "#db2777", "#f472b6"},
};

const Shade& shade_of(const Paint& paint) {
  return shades[static_cast<std::size_t>(paint.role) + static_cast<std::size_t>(paint.series)];
}

}  // namespace

Paint Paint::of_series(std::size_t i) {
  Paint paint(Role::Series);
  paint.series = static_cast<int>(i % series_colors);
  return paint;
}

std::string painted(std::optional<Paint> fill, std::optional<Paint> stroke) {
  std::string attributes, classes;
  const auto add = [&](const char* name, char prefix, const std::optional<Paint>& paint) {
    attributes += std::string(" ") + name + "=\"" + (paint ? shade_of(*paint).light : "none") + '"';
    if (paint)
      classes += (classes.empty() ? "kt" : " kt") + std::string(1, prefix) + '-' + shade_of(*paint).name;
  };
  add("fill", 'f', fill);
  if (stroke) add("stroke", 's', stroke);
  if (!classes.empty()) attributes += " class=\"" + classes + '"';
  return attributes;
}

std::string dark_style() {
  std::string css = "<style>@media(prefers-color-scheme:dark){";
  for (const Shade& shade : shades)
    css += std::string(".ktf-") + shade.name + "{fill:" + shade.dark + "}.kts-" + shade.name +
           "{stroke:" + shade.dark + '}';
  return css + "}</style>\n";
}

int terminal_color(std::size_t series) {
  constexpr std::array<int, series_colors> colors{94, 33, 32, 35, 31, 36, 93, 95};
  return colors[series % series_colors];
}

std::string coordinate(double number) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, number, std::chars_format::fixed, 2).ptr;
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

void Svg::end(const char* element, const std::string& hint) {
  if (hint.empty()) out_ << "/>\n";
  else out_ << "><title>" << nn::escaped(hint) << "</title></" << element << ">\n";
}

void Svg::rect(const Box& box, const std::string& paint, const std::string& hint) {
  out_ << "<rect x=\"" << coordinate(box.x) << "\" y=\"" << coordinate(box.y) << "\" width=\""
       << coordinate(box.width) << "\" height=\"" << coordinate(box.height) << '"' << paint;
  end("rect", hint);
}

void Svg::line(double x1, double y1, double x2, double y2, const std::string& paint) {
  out_ << "<line x1=\"" << coordinate(x1) << "\" y1=\"" << coordinate(y1) << "\" x2=\"" << coordinate(x2)
       << "\" y2=\"" << coordinate(y2) << '"' << paint << "/>\n";
}

void Svg::path(const std::string& data, const std::string& paint) {
  out_ << "<path d=\"" << data << '"' << paint << "/>\n";
}

void Svg::circle(double x, double y, double radius, const std::string& paint, const std::string& hint) {
  out_ << "<circle cx=\"" << coordinate(x) << "\" cy=\"" << coordinate(y) << "\" r=\"" << coordinate(radius)
       << '"' << paint;
  end("circle", hint);
}

void Svg::text(double x, double y, const std::string& text, const TextStyle& style) {
  out_ << "<text x=\"" << coordinate(x) << "\" y=\"" << coordinate(y) << "\" text-anchor=\"" << style.anchor
       << "\" font-size=\"" << coordinate(style.size) << '"' << painted(style.paint);
  if (style.bold) out_ << " font-weight=\"bold\"";
  if (style.turned != 0)
    out_ << " transform=\"rotate(" << coordinate(style.turned) << ' ' << coordinate(x) << ' ' << coordinate(y)
         << ")\"";
  out_ << '>' << nn::escaped(text) << "</text>\n";
}

void Svg::image(const Box& box, const std::string& png, const std::string& hint) {
  out_ << "<image x=\"" << coordinate(box.x) << "\" y=\"" << coordinate(box.y) << "\" width=\""
       << coordinate(box.width) << "\" height=\"" << coordinate(box.height)
       << "\" preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" href=\"" << data_uri(png)
       << '"';
  end("image", hint);
}

void Svg::open(const Box& box) {
  const std::string x = coordinate(box.x), y = coordinate(box.y), w = coordinate(box.width),
                    h = coordinate(box.height);
  out_ << "<svg x=\"" << x << "\" y=\"" << y << "\" width=\"" << w << "\" height=\"" << h << "\" viewBox=\""
       << x << ' ' << y << ' ' << w << ' ' << h << "\">\n";
}

double text_length(const std::string& text, double size) {
  return static_cast<double>(nn::text_width(text)) * size * 0.6;
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
