#pragma once
#include <ktape/nn/plot/canvas/palette.hpp>

/// Internal: sources only.
namespace ktape::plot {

/// Returns whether the name is one of `color_maps`.
bool is_color_map(const std::string& name);
inline constexpr const char* color_maps = "viridis, magma, gray or coolwarm";
/// Returns the color at a position from 0 to 1. The name must be one of `color_maps`.
Color mapped_color(const std::string& name, double part);
/// Returns whether text on the color is better black than white.
bool is_bright(Color color);

}  // namespace ktape::plot
