#include <ktape/nn/core/terminal.hpp>
#include <ktape/nn/core/text.hpp>
#include <ktape/nn/models/graph.hpp>
#include <ktape/nn/models/summary_table.hpp>
#include <ktape/nn/training/trainer.hpp>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <limits>
#include <string_view>

namespace ktape::nn {
namespace {

using Cells = std::vector<std::string>;  ///< the cells of a row; a cell may have several lines

std::string with_commas(std::int64_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<int>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string readable_bytes(double bytes) {
  const char* const units[] = {"B", "KB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << bytes << ' ' << units[unit];
  return text.str();
}

std::string shapes_text(const std::vector<Shape>& shapes) {
  if (shapes.empty()) return "?";
  if (shapes.size() == 1) return to_string(shapes[0]);
  std::string text = "[";
  for (const Shape& shape : shapes) text += (text.size() > 1 ? ",\n " : "") + to_string(shape);
  return text + "]";
}

std::int64_t count_of(const std::vector<Variable>& weights) {
  std::int64_t count = 0;
  for (const Variable& weight : weights) count += weight.size();
  return count;
}

double bytes_of(const std::vector<Variable>& weights) {
  double bytes = 0;
  for (const Variable& weight : weights) bytes += static_cast<double>(weight.size() * weight.dtype().size());
  return bytes;
}

// --- The rows ---------------------------------------------------------------------------------------------

/// Returns the shapes of a model's outputs, or of the outputs of another layer's calls.
std::vector<Shape> output_shapes(const Layer& layer) {
  std::vector<Shape> shapes;
  if (const auto model = std::dynamic_pointer_cast<ModelImpl>(layer.shared()))
    for (const Tensor& output : model->outputs()) shapes.push_back(output.shape());
  return shapes;
}

class Rows {
 public:
  Rows(const SummaryOptions& options) : options_(options) {}

  void add_model(const Model& model, const std::string& indent) {
    const std::vector<Tensor> outputs = model.impl().outputs();
    if (outputs.empty()) {
      for (const Layer& layer : model.layers()) add_layer(layer, output_shapes(layer), {}, indent);
      return;
    }
    const bool sequential = model.class_name() == "Sequential";
    const std::vector<GraphNode> nodes = LayerGraph(model.name(), model.inputs(), outputs).nodes();
    for (const GraphNode& node : nodes) {
      if (sequential && node.from.empty()) continue;
      Cells from;
      for (const auto& [maker, output] : node.from)
        from.push_back(nodes[maker].name() + '[' + std::to_string(nodes[maker].call) + "][" +
                       std::to_string(output) + ']');
      if (node.layer.defined()) {
        if (node.call == 0) add_layer(node.layer, node.outputs, from, indent);
        else append_connections(node, from);
      } else {
        add_row(indent + node.op + " (" + node.op_class + ")", shapes_text(node.outputs), "0", from, "-");
      }
    }
  }

  bool connected() const { return connected_; }
  std::vector<Cells> take() {
    if (!connected_)
      for (Cells& row : rows_) row.erase(row.begin() + 3);
    return std::move(rows_);
  }
  void expect_connections() { connected_ = true; }

 private:
  void add_layer(const Layer& layer, const std::vector<Shape>& outputs, const Cells& from,
                 const std::string& indent) {
    const std::string params = layer.built() ? with_commas(count_of(layer.weights())) : "0 (unbuilt)";
    add_row(indent + layer.name() + " (" + layer.class_name() + ")", shapes_text(outputs), params, from,
            layer.weights().empty() ? "-"
            : layer.trainable()     ? "Y"
                                    : "N");
    names_.back() = layer.name();
    const auto inner = std::dynamic_pointer_cast<ModelImpl>(layer.shared());
    if (options_.expand_nested && inner) add_model(Model(inner), indent + "  └ ");
  }

  void add_row(const std::string& name, const std::string& shape, const std::string& params,
               const Cells& from, const char* trainable) {
    std::string connections;
    for (const std::string& maker : from) connections += (connections.empty() ? "" : ",\n") + maker;
    rows_.push_back({name, shape, params, connections.empty() ? "-" : connections});
    if (options_.show_trainable) rows_.back().push_back(trainable);
    names_.emplace_back();
  }

  /// Adds connections. A shared layer has one row with the connections of all its calls.
  void append_connections(const GraphNode& node, const Cells& from) {
    const auto row = std::find(names_.begin(), names_.end(), node.name());
    if (row == names_.end()) return;
    for (const std::string& maker : from)
      rows_[static_cast<std::size_t>(row - names_.begin())][3] += ",\n" + maker;
  }

  const SummaryOptions& options_;
  std::vector<Cells> rows_;
  Cells names_;  ///< the names of the layers in the rows
  bool connected_ = false;
};

// --- The table --------------------------------------------------------------------------------------------

Cells lines_of(const std::string& cell) {
  Cells lines{""};
  for (const char c : cell) c == '\n' ? lines.emplace_back() : lines.back() += c;
  return lines;
}

/// Returns the byte where a line is broken that is wider than `width`: after the last space, comma, underscore
/// or slash that fits, else at the width.
std::size_t break_of(const std::string& line, std::size_t width) {
  std::size_t end = 0, best = 0;
  for (std::size_t columns = 0; end < line.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(line[end]) & 0xc0) != 0x80;
    if (begins && columns++ == width) break;
    if (std::string_view(" ,_/").find(line[end]) != std::string_view::npos) best = end + 1;
  }
  // The space at the break may stand beyond the width.
  if (end < line.size() && line[end] == ' ') best = end + 1;
  return line.find_first_not_of(' ') < best ? best : end;
}

/// Breaks the lines of a cell that are wider than `width`. Further parts keep the indentation of the line.
Cells lines_within(const std::string& cell, std::size_t width) {
  Cells lines;
  for (std::string line : lines_of(cell)) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), width / 2);
    while (text_width(line) > width) {
      const std::size_t end = break_of(line, width);
      std::string part = line.substr(0, end);
      part.erase(part.find_last_not_of(' ') + 1);
      lines.push_back(part);
      line = std::string(std::min(indent, line.size()), ' ') + line.substr(end);
    }
    lines.push_back(line);
  }
  return lines;
}

class Table {
 public:
  /// Makes a table of at least `least` and, if the columns can be that narrow, at most `most` columns of text.
  Table(Cells titles, std::vector<Cells> rows, std::size_t least, std::size_t most) : rows_(std::move(rows)) {
    rows_.insert(rows_.begin(), std::move(titles));
    widths_.resize(rows_[0].size());
    for (const Cells& row : rows_)
      for (std::size_t i = 0; i < row.size(); ++i)
        for (const std::string& line : lines_of(row[i])) widths_[i] = std::max(widths_[i], text_width(line));
    std::size_t total = 1;
    for (const std::size_t width : widths_) total += width + 3;
    for (std::size_t i = 0; total < least; ++total, i = (i + 1) % widths_.size()) ++widths_[i];
    for (; total > most && narrow(); --total) {
    }
  }

  void print(const std::function<void(const std::string&)>& out) const {
    out(rule("┏", "━", "┳", "┓"));
    print_row(out, rows_[0], "┃");
    out(rule("┡", "━", "╇", "┩"));
    for (std::size_t i = 1; i < rows_.size(); ++i) {
      print_row(out, rows_[i], "│");
      if (i + 1 < rows_.size()) out(rule("├", "─", "┼", "┤"));
    }
    out(rule("└", "─", "┴", "┘"));
  }

 private:
  /// Makes the widest column narrower: columns of names and shapes first, numbers only after these.
  bool narrow() {
    constexpr std::size_t least_text = 9, least_number = 5;
    const auto widest = [&](bool numbers, std::size_t least) {
      std::size_t found = widths_.size();
      for (std::size_t i = 0; i < widths_.size(); ++i)
        if ((i == 2) == numbers && widths_[i] > least &&
            (found == widths_.size() || widths_[i] > widths_[found]))
          found = i;
      return found;
    };
    std::size_t column = widest(false, least_text);
    if (column == widths_.size()) column = widest(true, least_number);
    if (column == widths_.size()) column = widest(false, least_number);
    if (column == widths_.size()) return false;
    --widths_[column];
    return true;
  }

  std::string rule(const char* left, const char* line, const char* cross, const char* right) const {
    std::string text = left;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      if (i > 0) text += cross;
      for (std::size_t place = 0; place < widths_[i] + 2; ++place) text += line;
    }
    return text + right;
  }

  void print_row(const std::function<void(const std::string&)>& out, const Cells& row,
                 const char* bar) const {
    std::vector<Cells> columns;
    std::size_t height = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      columns.push_back(lines_within(row[i], widths_[i]));
      height = std::max(height, columns.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
      std::string text = bar;
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::string cell = line < columns[i].size() ? columns[i][line] : "";
        const std::string space(widths_[i] - text_width(cell), ' ');
        text += ' ' + (i == 2 ? space + cell : cell + space) + ' ' + bar;
      }
      out(text);
    }
  }

  std::vector<Cells> rows_;
  std::vector<std::size_t> widths_;
};

/// Returns whether the layers do not form a chain.
bool branches(const Model& model) {
  const std::vector<Tensor> outputs = model.impl().outputs();
  if (outputs.empty()) return false;
  const std::vector<GraphNode> nodes = LayerGraph(model.name(), model.inputs(), outputs).nodes();
  for (std::size_t i = 1; i < nodes.size(); ++i)
    if (nodes[i].from.size() != 1 || nodes[i].from[0].first + 1 != i) return true;
  return false;
}

}  // namespace

SummaryTable summary_table(const Model& model, const SummaryOptions& options) {
  Rows rows(options);
  SummaryTable table{.titles = {"Layer (type)", "Output Shape", "Param #"}};
  if (branches(model)) {
    rows.expect_connections();
    table.titles.push_back("Connected to");
  }
  if (options.show_trainable) table.titles.push_back("Trainable");
  rows.add_model(model, "");
  table.rows = rows.take();
  const auto total = [&](const char* what, const std::vector<Variable>& weights) {
    table.totals.push_back({what, with_commas(count_of(weights)), readable_bytes(bytes_of(weights))});
  };
  std::vector<Variable> all = model.weights(), state;
  if (model.impl().trainer().compiled() && model.optimizer().impl().built())
    state = model.optimizer().variables();
  all.insert(all.end(), state.begin(), state.end());
  total("Total params", all);
  total("Trainable params", model.trainable_weights());
  total("Non-trainable params", model.non_trainable_weights());
  if (!state.empty()) total("Optimizer params", state);
  return table;
}

void print_summary(const Model& model, const SummaryOptions& options,
                   const std::function<void(const std::string&)>& out, std::optional<std::size_t> columns) {
  SummaryTable table = summary_table(model, options);
  const std::size_t most = columns.value_or(std::numeric_limits<std::size_t>::max());
  const auto least = static_cast<std::size_t>(std::max(options.line_length, 0));
  out("Model: \"" + model.name() + "\"");
  Table(std::move(table.titles), std::move(table.rows), std::min(least, most), most).print(out);
  for (const auto& [what, count, bytes] : table.totals) out(' ' + what + ": " + count + " (" + bytes + ')');
}

void Model::summary() const { summary({}); }

void Model::summary(const SummaryOptions& options) const {
  if (options.print_fn) return print_summary(*this, options, options.print_fn, {});
  const auto out = [](const std::string& line) { std::cout << line << '\n'; };
  print_summary(*this, options, out, terminal_columns());
}

}  // namespace ktape::nn
