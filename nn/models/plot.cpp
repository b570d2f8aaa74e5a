#include <ktape/nn/models/graph.hpp>
#include <ktape/nn/models/plot.hpp>

#include <algorithm>
#include <fstream>
#include <numeric>

namespace ktape::nn {
namespace {

/// A node as it is drawn: its lines of text, and whom its inputs come from.
struct Box {
  std::vector<std::string> lines;
  std::vector<std::size_t> from;
};

std::string shapes_text(const std::vector<Shape>& shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += (text.empty() ? "" : ", ") + to_string(shape);
  return text;
}

std::vector<Box> boxes_of(const Model& model, const PlotOptions& options) {
  if (options.rankdir != "TB" && options.rankdir != "LR")
    fail("[plot_model] rankdir must be TB or LR: received rankdir=", options.rankdir);
  std::vector<Box> boxes;
  for (const GraphNode& node : LayerGraph(model.name(), model.inputs(), model.outputs()).nodes()) {
    Box box;
    if (options.show_layer_names || !node.layer.defined()) box.lines.push_back(node.name());
    if (node.layer.defined()) box.lines.push_back(node.layer.class_name());
    if (options.show_shapes) {
      const std::string in = shapes_text(node.inputs), out = shapes_text(node.outputs);
      box.lines.push_back(in.empty() ? out : in + " → " + out);
    }
    for (const auto& [maker, output] : node.from) box.from.push_back(maker);
    boxes.push_back(std::move(box));
  }
  return boxes;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

// --- The picture ------------------------------------------------------------------------------------------

constexpr double line_height = 18, letter_width = 7.6, padding = 12, gap_across = 28, gap_along = 40,
                 margin = 16;

std::size_t letters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// Boxes in ranks: each stands behind all that it needs, and near the middle of them. Lengths are along the
/// direction of the drawing and across it.
class Layout {
 public:
  struct Place {
    double along = 0, across = 0;  ///< of the middle
    double width = 0, height = 0;
  };

  Layout(const std::vector<Box>& boxes, bool downwards)
      : boxes_(boxes), downwards_(downwards), places_(boxes.size()) {
    for (std::size_t i = 0; i < boxes.size(); ++i) measure(i);
    const std::vector<std::vector<std::size_t>> ranks = ranked();
    for (const auto& rank : ranks) put(rank);
    for (Place& place : places_) place.across += margin - least_;
  }

  const Place& operator[](std::size_t i) const { return places_[i]; }
  double x(std::size_t i) const { return downwards_ ? places_[i].across : places_[i].along; }
  double y(std::size_t i) const { return downwards_ ? places_[i].along : places_[i].across; }
  double width() const { return downwards_ ? most_ - least_ + 2 * margin : end_ - gap_along + margin; }
  double height() const { return downwards_ ? end_ - gap_along + margin : most_ - least_ + 2 * margin; }

 private:
  void measure(std::size_t i) {
    std::size_t longest = 0;
    for (const std::string& line : boxes_[i].lines) longest = std::max(longest, letters(line));
    places_[i].width = static_cast<double>(longest) * letter_width + 2 * padding;
    places_[i].height = static_cast<double>(boxes_[i].lines.size()) * line_height + padding;
  }
  double length(std::size_t i) const { return downwards_ ? places_[i].height : places_[i].width; }
  double breadth(std::size_t i) const { return downwards_ ? places_[i].width : places_[i].height; }

  std::vector<std::vector<std::size_t>> ranked() const {
    std::vector<std::size_t> rank(boxes_.size());
    std::vector<std::vector<std::size_t>> ranks;
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      for (const std::size_t maker : boxes_[i].from) rank[i] = std::max(rank[i], rank[maker] + 1);
      if (rank[i] == ranks.size()) ranks.emplace_back();
      ranks[rank[i]].push_back(i);
    }
    return ranks;
  }

  /// Where the box would like to be: between those that it needs.
  double wished(std::size_t i) const {
    if (boxes_[i].from.empty()) return 0;
    double sum = 0;
    for (const std::size_t maker : boxes_[i].from) sum += places_[maker].across;
    return sum / static_cast<double>(boxes_[i].from.size());
  }

  void put(std::vector<std::size_t> rank) {
    std::stable_sort(rank.begin(), rank.end(), [&](auto a, auto b) { return wished(a) < wished(b); });
    double total = -gap_across, middle = 0, longest = 0;
    for (const std::size_t i : rank) {
      total += breadth(i) + gap_across;
      middle += wished(i) / static_cast<double>(rank.size());
      longest = std::max(longest, length(i));
    }
    double at = middle - total / 2;
    least_ = std::min(least_, at);
    for (const std::size_t i : rank) {
      places_[i].across = at + breadth(i) / 2;
      places_[i].along = end_ + longest / 2;
      at += breadth(i) + gap_across;
    }
    most_ = std::max(most_, at - gap_across);
    end_ += longest + gap_along;
  }

  const std::vector<Box>& boxes_;
  bool downwards_;
  std::vector<Place> places_;
  double least_ = 0, most_ = 0, end_ = margin;
};

void draw_edge(std::ostream& out, const Layout& at, std::size_t from, std::size_t to, bool downwards) {
  const double x1 = at.x(from) + (downwards ? 0 : at[from].width / 2),
               y1 = at.y(from) + (downwards ? at[from].height / 2 : 0);
  const double x2 = at.x(to) - (downwards ? 0 : at[to].width / 2 + 5),
               y2 = at.y(to) - (downwards ? at[to].height / 2 + 5 : 0);
  const double bend = (downwards ? y2 - y1 : x2 - x1) / 2;
  out << "<path d=\"M" << x1 << ' ' << y1 << " C" << x1 + (downwards ? 0 : bend) << ' '
      << y1 + (downwards ? bend : 0) << ' ' << x2 - (downwards ? 0 : bend) << ' '
      << y2 - (downwards ? bend : 0) << ' ' << x2 << ' ' << y2
      << "\" fill=\"none\" stroke=\"#64748b\" stroke-width=\"1.5\" marker-end=\"url(#arrow)\"/>\n";
}

void draw_box(std::ostream& out, const Layout& at, std::size_t i, const Box& box) {
  const double left = at.x(i) - at[i].width / 2, top = at.y(i) - at[i].height / 2;
  out << "<rect x=\"" << left << "\" y=\"" << top << "\" width=\"" << at[i].width << "\" height=\""
      << at[i].height << "\" rx=\"6\" fill=\"#f1f5f9\" stroke=\"#475569\"/>\n";
  for (std::size_t line = 0; line < box.lines.size(); ++line)
    out << "<text x=\"" << at.x(i) << "\" y=\""
        << top + padding / 2 + (static_cast<double>(line) + 0.72) * line_height
        << "\" text-anchor=\"middle\" fill=\"" << (line == 0 ? "#0f172a" : "#475569") << '"'
        << (line == 0 ? " font-weight=\"bold\"" : "") << '>' << escaped(box.lines[line]) << "</text>\n";
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

std::string model_to_svg(const Model& model, const PlotOptions& options) {
  const std::vector<Box> boxes = boxes_of(model, options);
  const bool downwards = options.rankdir == "TB";
  const Layout at(boxes, downwards);
  std::ostringstream out;
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << at.width() << "\" height=\"" << at.height()
      << "\" viewBox=\"0 0 " << at.width() << ' ' << at.height()
      << "\" font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"12.5\">\n<title>"
      << escaped(model.name())
      << "</title>\n<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"4\" refY=\"4\" markerWidth=\"7\" "
         "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" "
         "fill=\"#64748b\"/></marker></defs>\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  for (std::size_t i = 0; i < boxes.size(); ++i)
    for (const std::size_t maker : boxes[i].from) draw_edge(out, at, maker, i, downwards);
  for (std::size_t i = 0; i < boxes.size(); ++i) draw_box(out, at, i, boxes[i]);
  out << "</svg>\n";
  return out.str();
}

std::string model_to_dot(const Model& model, const PlotOptions& options) {
  const std::vector<Box> boxes = boxes_of(model, options);
  const auto quoted = [](const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return out;
  };
  std::ostringstream out;
  out << "digraph \"" << quoted(model.name()) << "\" {\n  rankdir=" << options.rankdir
      << ";\n  node [shape=box, style=rounded, fontname=monospace];\n";
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    out << "  n" << i << " [label=\"";
    for (const std::string& line : boxes[i].lines)
      out << (&line == &boxes[i].lines[0] ? "" : "\\n") << quoted(line);
    out << "\"];\n";
    for (const std::size_t maker : boxes[i].from) out << "  n" << maker << " -> n" << i << ";\n";
  }
  out << "}\n";
  return out.str();
}

void plot_model(const Model& model, const std::string& to_file, const PlotOptions& options) {
  const bool svg = ends_with(to_file, ".svg");
  if (!svg && !ends_with(to_file, ".dot") && !ends_with(to_file, ".gv"))
    fail("[plot_model] to_file must end in .svg, .dot or .gv: received to_file=", to_file);
  const std::string text = svg ? model_to_svg(model, options) : model_to_dot(model, options);
  std::ofstream file(to_file);
  file << text;
  file.close();
  if (!file) fail<IOError>("[plot_model] the file must be writable: received to_file=", to_file);
}

}  // namespace ktape::nn
