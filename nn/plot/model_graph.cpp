#include <ktape/nn/core/text.hpp>
#include <ktape/nn/files/atomic_file.hpp>
#include <ktape/nn/models/graph.hpp>
#include <ktape/nn/plot/canvas/svg.hpp>
#include <ktape/nn/plot/internal/graph_layout.hpp>
#include <ktape/nn/plot/model_graph.hpp>
#include <ktape/nn/plot/plot_columns.hpp>

#include <algorithm>
#include <limits>
#include <sstream>

namespace ktape::nn {
namespace {

/// A node of the drawing: its lines of text, of which the first is the title, the boxes of its inputs, and,
/// for a model in the model, the boxes inside.
struct Box {
  std::vector<std::string> lines;
  std::vector<std::size_t> from;
  std::vector<Box> inside;
};

template <class T>
std::string joined(const std::vector<T>& parts) {
  std::ostringstream text;
  for (const T& part : parts) text << (&part == &parts[0] ? "" : ", ") << part;
  return text.str();
}

std::string activation_of(const Layer& layer) try {
  const Value value = layer.get_config().get("activation");
  if (value.is_config()) return value.config().get("class_name", "").string();
  return value.is_null() ? "" : value.string();
} catch (const ValueError&) {
  return "";  // a model without a config, or a layer around such a model
}

Box box_of(const GraphNode& node, const PlotOptions& options) {
  Box box;
  if (options.show_layer_names || !node.layer.defined()) box.lines.push_back(node.name());
  if (node.layer.defined()) {
    const std::string activation = options.show_layer_activations ? activation_of(node.layer) : "";
    box.lines.push_back(node.layer.class_name() + (activation.empty() ? "" : " · " + activation));
  }
  if (options.show_shapes)
    box.lines.push_back((node.inputs.empty() ? "" : joined(node.inputs) + " → ") + joined(node.outputs));
  if (options.show_dtype) box.lines.push_back(joined(node.dtypes));
  if (options.show_trainable && node.layer.defined() && !node.layer.weights().empty())
    box.lines.push_back(node.layer.trainable() ? "trainable" : "frozen");
  for (const auto& [maker, output] : node.from) box.from.push_back(maker);
  return box;
}

std::vector<Box> boxes_of(const Model& model, const PlotOptions& options) {
  std::vector<Box> boxes;
  for (const GraphNode& node : LayerGraph(model.name(), model.inputs(), model.outputs()).nodes()) {
    boxes.push_back(box_of(node, options));
    const auto inner =
        node.layer.defined() ? std::dynamic_pointer_cast<ModelImpl>(node.layer.shared()) : nullptr;
    if (options.expand_nested && inner && !inner->outputs().empty())
      boxes.back().inside = boxes_of(Model(inner), options);
  }
  return boxes;
}

std::vector<Box> drawn(const Model& model, const PlotOptions& options) {
  if (options.rankdir != "TB" && options.rankdir != "LR")
    fail("[plot_model] rankdir must be TB or LR: received rankdir=", options.rankdir);
  return boxes_of(model, options);
}

// --- The picture ------------------------------------------------------------------------------------------

using plot::painted, plot::Role;

constexpr double line_height = 18, letter_width = 7.6, padding = 12, margin = 16, arrow = 6;

/// The drawing of a graph, and of the graphs in its boxes.
class Picture {
 public:
  Picture(const std::vector<Box>& boxes, bool downwards) : boxes_(boxes), downwards_(downwards) {
    std::vector<LayoutBox> sizes;
    for (const Box& box : boxes) {
      if (box.inside.empty()) inside_.emplace_back();
      else inside_.push_back(std::make_unique<Picture>(box.inside, downwards));
      const auto [width, height] = size_of(box, inside_.back().get());
      sizes_.push_back({width, height});
      sizes.push_back({downwards ? height : width, downwards ? width : height, box.from});
    }
    layout_ = std::make_unique<GraphLayout>(sizes);
  }

  double width() const { return downwards_ ? layout_->breadth() : layout_->length(); }
  double height() const { return downwards_ ? layout_->length() : layout_->breadth(); }

  /// Draws the part between two heights.
  void draw(std::ostream& out, double from = 0, double to = std::numeric_limits<double>::max()) const {
    for (std::size_t i = 0; i < boxes_.size(); ++i)
      if (top(i) < to && bottom(i) > from) draw_box(out, i);
    for (std::size_t i = 0; i < boxes_.size(); ++i)
      for (std::size_t k = 0; k < boxes_[i].from.size(); ++k) {
        const std::size_t maker = boxes_[i].from[k];
        const auto begin = boxes_[i].from.begin(), here = begin + static_cast<std::ptrdiff_t>(k);
        if (std::find(begin, here, maker) == here && top(i) > from && bottom(maker) < to)
          draw_arrow(out, layout_->route(maker, i));
      }
  }

  /// Returns the heights at which to cut the drawing into pieces of at most `most`, if possible without
  /// cutting a box: the first is 0, the last is the end.
  std::vector<double> cuts(double most) const {
    std::vector<std::pair<double, double>> spans;
    for (std::size_t i = 0; i < boxes_.size(); ++i) spans.emplace_back(top(i), bottom(i));
    std::sort(spans.begin(), spans.end());
    std::vector<double> cuts{0};
    double end = 0, place = 0;  // the end of the boxes so far; the last height between boxes
    for (const auto& [begin, below] : spans) {
      if (begin > end && end > 0) place = (begin + end) / 2;
      if (below - cuts.back() > most && place > cuts.back()) cuts.push_back(place);
      end = std::max(end, below);
    }
    cuts.push_back(height());
    return cuts;
  }

 private:
  double top(std::size_t i) const { return y(layout_->at(i)) - sizes_[i].height / 2; }
  double bottom(std::size_t i) const { return y(layout_->at(i)) + sizes_[i].height / 2; }

  struct Size {
    double width, height;
  };

  static Size size_of(const Box& box, const Picture* inside) {
    std::size_t longest = 0;
    for (const std::string& line : box.lines) longest = std::max(longest, text_width(line));
    Size size{static_cast<double>(longest) * letter_width + 2 * padding,
              static_cast<double>(box.lines.size()) * line_height + padding};
    if (inside) {
      size.width = std::max(size.width, inside->width() + 2 * margin);
      size.height += inside->height() + margin + padding / 2;
    }
    return size;
  }

  double x(const GraphLayout::Point& point) const { return downwards_ ? point.across : point.along; }
  double y(const GraphLayout::Point& point) const { return downwards_ ? point.along : point.across; }

  void draw_box(std::ostream& out, std::size_t i) const {
    const Box& box = boxes_[i];
    const double left = x(layout_->at(i)) - sizes_[i].width / 2, top = this->top(i);
    out << "<rect x=\"" << left << "\" y=\"" << top << "\" width=\"" << sizes_[i].width << "\" height=\""
        << sizes_[i].height << "\" rx=\"6\"" << painted(inside_[i] ? Role::Paper : Role::Panel, Role::Frame)
        << (inside_[i] ? " stroke-dasharray=\"5 3\"" : "") << "/>\n";
    double base = top + padding / 2 + 0.72 * line_height;
    for (const std::string& line : box.lines) {
      const bool title = &line == &box.lines[0];
      out << "<text x=\"" << x(layout_->at(i)) << "\" y=\"" << base << "\" text-anchor=\"middle\""
          << painted(title ? Role::Ink : Role::Muted) << (title ? " font-weight=\"bold\">" : ">")
          << escaped(line) << "</text>\n";
      base += line_height;
    }
    if (!inside_[i]) return;
    out << "<g transform=\"translate(" << x(layout_->at(i)) - inside_[i]->width() / 2 << ' '
        << top + sizes_[i].height - margin - inside_[i]->height() << ")\">\n";
    inside_[i]->draw(out);
    out << "</g>\n";
  }

  /// Draws an arrow: straight within a rank, bent between ranks.
  void draw_arrow(std::ostream& out, std::vector<GraphLayout::Point> points) const {
    points.back().along -= arrow;
    points[points.size() - 2].along = std::min(points[points.size() - 2].along, points.back().along);
    out << "<path d=\"M" << x(points[0]) << ' ' << y(points[0]);
    for (std::size_t i = 1; i < points.size(); ++i) {
      const GraphLayout::Point from = points[i - 1], to = points[i];
      if (from.across == to.across && from.along == to.along) continue;
      if (from.across == to.across) {
        out << " L" << x(to) << ' ' << y(to);
        continue;
      }
      const double middle = (from.along + to.along) / 2;
      const GraphLayout::Point bend1{middle, from.across}, bend2{middle, to.across};
      out << " C" << x(bend1) << ' ' << y(bend1) << ' ' << x(bend2) << ' ' << y(bend2) << ' ' << x(to) << ' '
          << y(to);
    }
    out << '"' << painted({}, Role::Frame) << " stroke-width=\"1.5\" marker-end=\"url(#arrow)\"/>\n";
  }

  const std::vector<Box>& boxes_;
  bool downwards_;
  std::vector<std::unique_ptr<Picture>> inside_;  ///< for each box, the picture of the model inside, or null
  std::vector<Size> sizes_;
  std::unique_ptr<GraphLayout> layout_;
};

// --- The text for Graphviz ---------------------------------------------------------------------------------

std::string dot_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string label_of(const Box& box) {
  std::string text;
  for (const std::string& line : box.lines) text += (text.empty() ? "" : "\n") + line;
  std::string label = dot_quoted(text);
  for (std::size_t at = 0; (at = label.find('\n', at)) != std::string::npos;) label.replace(at, 1, "\\n");
  return label;
}

/// The text for Graphviz. An inner model is a cluster; an arrow to a cluster must name a node inside the
/// cluster, but ends at its frame.
class DotText {
 public:
  explicit DotText(std::ostream& out) : out_(out) {}

  void write(const std::vector<Box>& boxes, const std::string& prefix) {
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const std::string name = prefix + std::to_string(i);
      if (boxes[i].inside.empty()) {
        out_ << "  n" << name << " [label=" << label_of(boxes[i]) << "];\n";
      } else {
        out_ << "  subgraph cluster_" << name << " {\n  label=" << label_of(boxes[i])
             << ";\n  style=dashed;\n";
        write(boxes[i].inside, name + '_');
        out_ << "  }\n";
      }
      for (const std::size_t maker : boxes[i].from) write_arrow(boxes, maker, i, prefix);
    }
  }

 private:
  void write_arrow(const std::vector<Box>& boxes, std::size_t from, std::size_t to,
                   const std::string& prefix) {
    const std::string tail = prefix + std::to_string(from), head = prefix + std::to_string(to);
    const bool leaves = !boxes[from].inside.empty(), enters = !boxes[to].inside.empty();
    out_ << "  n" << (leaves ? last_in(boxes[from], tail) : tail) << " -> n"
         << (enters ? first_in(boxes[to], head) : head);
    if (leaves || enters)
      out_ << " [" << (leaves ? "ltail=cluster_" + tail : "") << (leaves && enters ? ", " : "")
           << (enters ? "lhead=cluster_" + head : "") << ']';
    out_ << ";\n";
  }

  static std::string first_in(const Box& box, const std::string& name) {
    if (box.inside.empty()) return name;
    return first_in(box.inside.front(), name + "_0");
  }
  static std::string last_in(const Box& box, const std::string& name) {
    if (box.inside.empty()) return name;
    return last_in(box.inside.back(), name + '_' + std::to_string(box.inside.size() - 1));
  }

  std::ostream& out_;
};

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

namespace {

/// Returns the piece of the picture between two heights, as SVG.
std::string svg_of(const Model& model, const Picture& picture, double from, double to) {
  const double width = picture.width() + 2 * margin, height = to - from + 2 * margin;
  std::ostringstream out;
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\"" << height
      << "\" viewBox=\"0 0 " << width << ' ' << height
      << "\" font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"12.5\">\n<title>"
      << escaped(model.name())
      << "</title>\n<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"2\" refY=\"4\" markerWidth=\"7\" "
         "markerHeight=\"7\" orient=\"auto\" markerUnits=\"userSpaceOnUse\"><path d=\"M0 0 L8 4 L0 8 z\""
      << painted(Role::Frame) << "/></marker></defs>\n"
      << plot::dark_style() << "<rect width=\"100%\" height=\"100%\"" << painted(Role::Paper)
      << "/>\n<g transform=\"translate(" << margin << ' ' << margin - from << ")\">\n";
  picture.draw(out, from, to);
  out << "</g>\n</svg>\n";
  return out.str();
}

}  // namespace

std::string model_to_svg(const Model& model, const PlotOptions& options) {
  const std::vector<Box> boxes = drawn(model, options);
  const Picture picture(boxes, options.rankdir == "TB");
  return svg_of(model, picture, 0, picture.height());
}

std::vector<std::string> model_to_svg_columns(const Model& model, double most, const PlotOptions& options) {
  const std::vector<Box> boxes = drawn(model, options);
  const Picture picture(boxes, true);
  const std::vector<double> cuts = picture.cuts(most);
  std::vector<std::string> columns;
  for (std::size_t i = 1; i < cuts.size(); ++i)
    columns.push_back(svg_of(model, picture, cuts[i - 1], cuts[i]));
  return columns;
}

std::string model_to_dot(const Model& model, const PlotOptions& options) {
  std::ostringstream out;
  const std::vector<Box> boxes = drawn(model, options);
  out << "digraph " << dot_quoted(model.name()) << " {\n  rankdir=" << options.rankdir
      << ";\n  compound=true;\n  node [shape=box, style=rounded, fontname=monospace];\n";
  DotText(out).write(boxes, "");
  out << "}\n";
  return out.str();
}

void plot_model(const Model& model, const std::string& to_file, const PlotOptions& options) {
  const bool svg = ends_with(to_file, ".svg");
  if (!svg && !ends_with(to_file, ".dot") && !ends_with(to_file, ".gv"))
    fail("[plot_model] to_file must end in .svg, .dot or .gv: received to_file=", to_file);
  const std::string text = svg ? model_to_svg(model, options) : model_to_dot(model, options);
  saving::AtomicFile file("plot_model", to_file);
  file.write(text);
  file.commit();
}

}  // namespace ktape::nn
