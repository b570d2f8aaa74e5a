#include <ktape/nn/plot/canvas/palette.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>
#include <tuple>

#include "../../../ops/check.hpp"

namespace plot = ktape::plot;
using plot::Color, plot::Look, plot::Paint, plot::Role, plot::Theme;

namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

/// Matrices that convert linear RGB to the colors that people without one kind of cones see (Machado,
/// Oliveira, Fernandes 2009).
constexpr Matrix all_cones{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix without_red{
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix without_green{
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.01182, 0.04294, 0.968881}}};
constexpr Matrix without_blue{
    {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.3039}}};

Triple times(const Matrix& m, const Triple& x) {
  Triple y{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k) y[i] += m[i][k] * x[k];
  return y;
}

Triple linear(Color color) {
  const auto part = [](unsigned char byte) {
    const double x = byte / 255.0;
    return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
  };
  return {part(color.red), part(color.green), part(color.blue)};
}

double luminance(Color color) {
  const auto [r, g, b] = linear(color);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/// Returns the contrast by the formula of WCAG, from 1 to 21.
double contrast(Color a, Color b) {
  const double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
  return std::max(x, y) / std::min(x, y);
}

Triple lab(Color color, const Matrix& eyes) {
  constexpr Matrix to_xyz{{{0.4124564 / 0.95047, 0.3575761 / 0.95047, 0.1804375 / 0.95047},
                           {0.2126729, 0.7151522, 0.072175},
                           {0.0193339 / 1.08883, 0.119192 / 1.08883, 0.9503041 / 1.08883}}};
  Triple seen = times(eyes, linear(color));
  for (double& part : seen) part = std::clamp(part, 0.0, 1.0);
  Triple f = times(to_xyz, seen);
  for (double& part : f) part = part > 0.008856 ? std::cbrt(part) : 7.787 * part + 16.0 / 116;
  return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

constexpr double degree = std::numbers::pi / 180;

/// Returns the color distance by the formula CIEDE2000.
double distance(const Triple& x, const Triple& y) {
  const double chroma = (std::hypot(x[1], x[2]) + std::hypot(y[1], y[2])) / 2;
  const double g = 1.5 - 0.5 * std::sqrt(std::pow(chroma, 7) / (std::pow(chroma, 7) + std::pow(25, 7)));
  const double c1 = std::hypot(x[1] * g, x[2]), c2 = std::hypot(y[1] * g, y[2]);
  const auto hue = [&](const Triple& z) { return std::fmod(std::atan2(z[2], z[1] * g) / degree + 360, 360); };
  const double h1 = hue(x), h2 = hue(y);
  double turn = h2 - h1, h = (h1 + h2) / 2;
  if (turn > 180) turn -= 360, h += h < 180 ? 180 : -180;
  else if (turn < -180) turn += 360, h += h < 180 ? 180 : -180;
  const double dl = y[0] - x[0], dc = c2 - c1, dh = 2 * std::sqrt(c1 * c2) * std::sin(turn / 2 * degree);
  const double l = (x[0] + y[0]) / 2 - 50, c = (c1 + c2) / 2;
  const double t = 1 - 0.17 * std::cos((h - 30) * degree) + 0.24 * std::cos(2 * h * degree) +
                   0.32 * std::cos((3 * h + 6) * degree) - 0.2 * std::cos((4 * h - 63) * degree);
  const double sl = 1 + 0.015 * l * l / std::sqrt(20 + l * l), sc = 1 + 0.045 * c, sh = 1 + 0.015 * c * t;
  const double rotation = -2 * std::sqrt(std::pow(c, 7) / (std::pow(c, 7) + std::pow(25, 7))) *
                          std::sin(60 * std::exp(-std::pow((h - 275) / 25, 2)) * degree);
  const double a = dl / sl, b = dc / sc, d = dh / sh;
  return std::sqrt(a * a + b * b + d * d + rotation * b * d);
}

Color series_color(std::size_t i, Theme theme) { return plot::color_of(Paint::of_series(i), theme); }

/// Returns the least distance of two colors of series.
double least_distance(Theme theme, const Matrix& eyes) {
  double least = 1e9;
  for (std::size_t i = 0; i < plot::series_colors; ++i)
    for (std::size_t k = 0; k < i; ++k)
      least = std::min(least, distance(lab(series_color(i, theme), eyes), lab(series_color(k, theme), eyes)));
  return least;
}

}  // namespace

TEST_CASE("CIEDE2000 gives the distances of its published examples") {
  CHECK(distance({50, 2.6772, -79.7751}, {50, 0, -82.7485}) == doctest::Approx(2.0425).epsilon(1e-4));
  CHECK(distance({50, 2.5, 0}, {73, 25, -18}) == doctest::Approx(27.1492).epsilon(1e-4));
  CHECK(distance({2.0776, 0.0795, -1.1350}, {0.9033, -0.0636, -0.5514}) ==
        doctest::Approx(0.9082).epsilon(1e-3));
}

TEST_CASE("colors of series differ for people with any two kinds of cones") {
  for (const Theme theme : {Theme::Light, Theme::Dark}) {
    CAPTURE(static_cast<int>(theme));
    CHECK(least_distance(theme, all_cones) > 20);
    CHECK(least_distance(theme, without_red) > 12.5);
    CHECK(least_distance(theme, without_green) > 12.5);
    CHECK(least_distance(theme, without_blue) > 12.5);
  }
}

TEST_CASE("colors of series and texts stand out from the paper") {
  for (const Theme theme : {Theme::Light, Theme::Dark}) {
    const Color paper = plot::color_of(Role::Paper, theme);
    for (std::size_t i = 0; i < plot::series_colors; ++i) {
      CAPTURE(i);
      CHECK(contrast(series_color(i, theme), paper) >= 3);
    }
    for (const Role role : {Role::Ink, Role::Muted}) CHECK(contrast(plot::color_of(role, theme), paper) >= 7);
  }
}

TEST_CASE("the looks of many series differ") {
  const auto count = [](Look (*look)(std::size_t), std::size_t all) {
    std::set<std::tuple<std::size_t, plot::Dash, plot::Marker>> looks;
    for (std::size_t i = 0; i < all; ++i) looks.emplace(look(i).color, look(i).dash, look(i).marker);
    return looks.size();
  };
  CHECK(count(plot::line_look, 256) == 256);
  CHECK(count(plot::point_look, 64) == 64);
  CHECK(plot::line_look(7).dash == plot::Dash::Solid);
  CHECK(plot::line_look(8).dash == plot::Dash::Dashed);
  CHECK(plot::line_look(8).color == 0);
  CHECK(plot::line_look(32).marker == plot::Marker::Square);
  CHECK(plot::point_look(1).marker != plot::point_look(0).marker);
  std::set<char> letters;
  for (std::size_t i = 0; i < 40; ++i) letters.insert(plot::letter_of(i));
  CHECK(letters.size() == 40);
}

TEST_CASE("colors are written in hexadecimal") {
  CHECK(plot::hex_of({0x25, 0x63, 0xeb}) == "#2563eb");
  CHECK(plot::hex_of({0, 10, 255}) == "#000aff");
}
