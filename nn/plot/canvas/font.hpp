#pragma once
#include <ktape/nn/plot/canvas/canvas.hpp>

/// A font of strokes. Internal: sources only.
namespace ktape::plot {

/// The strokes of a text that begins at (0, 0), and its width.
struct Lettering {
  Path strokes;
  double width = 0;
};

/// Returns the strokes of a text. Bold letters have larger gaps between them.
Lettering lettering(const std::string& text, double size, bool bold = false);

}  // namespace ktape::plot
