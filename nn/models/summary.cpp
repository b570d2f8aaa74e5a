#include <ktape/nn/core/text.hpp>
#include <ktape/nn/models/graph.hpp>
#include <ktape/nn/models/summary_table.hpp>
#include <ktape/nn/training/trainer.hpp>

#include <algorithm>
#include <iomanip>
#include <iostream>

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

class Table {
 public:
  Table(Cells titles, std::vector<Cells> rows, std::size_t least) : rows_(std::move(rows)) {
    rows_.insert(rows_.begin(), std::move(titles));
    widths_.resize(rows_[0].size());
    for (const Cells& row : rows_)
      for (std::size_t i = 0; i < row.size(); ++i)
        for (const std::string& line : lines_of(row[i])) widths_[i] = std::max(widths_[i], text_width(line));
    std::size_t total = 1;
    for (const std::size_t width : widths_) total += width + 3;
    for (std::size_t i = 0; total < least; ++total, i = (i + 1) % widths_.size()) ++widths_[i];
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
    for (const std::string& cell : row) {
      columns.push_back(lines_of(cell));
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

void Model::summary() const { summary({}); }

void Model::summary(const SummaryOptions& options) const {
  const auto out =
      options.print_fn ? options.print_fn : [](const std::string& line) { std::cout << line << '\n'; };
  SummaryTable table = summary_table(*this, options);
  out("Model: \"" + name() + "\"");
  Table(std::move(table.titles), std::move(table.rows),
        static_cast<std::size_t>(std::max(options.line_length, 0)))
      .print(out);
  for (const auto& [what, count, bytes] : table.totals) out(' ' + what + ": " + count + " (" + bytes + ')');
}

}  // namespace ktape::nn
