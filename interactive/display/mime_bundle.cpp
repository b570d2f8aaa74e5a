#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/node.hpp>
#include <ktape/autograd/symbol.hpp>
#include <ktape/interactive/display/display.hpp>
#include <ktape/nn/core/text.hpp>
#include <ktape/nn/data/formats/image_files.hpp>
#include <ktape/nn/plot/canvas/svg.hpp>
#include <ktape/nn/plot/model_graph.hpp>
#include <ktape/nn/plot/pixels.hpp>

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <sstream>

namespace ktape::interactive {
namespace {

constexpr std::int64_t least_side = 8;     // pixels; a smaller tensor is shown as a matrix
constexpr std::int64_t most_images = 60;   // the most images in a picture
constexpr std::int64_t picture_side = 64;  // pixels; smaller images are enlarged to this size

/// Returns the entries of an axis that are shown: all, or `edge` at either end with -1 for the gap between.
std::vector<std::int64_t> shown_entries(std::int64_t extent, std::int64_t edge) {
  std::vector<std::int64_t> entries;
  for (std::int64_t i = 0; i < extent; ++i) {
    if (extent <= 2 * edge || i < edge || i >= extent - edge) entries.push_back(i);
    else if (i == edge) entries.push_back(-1);
  }
  return entries;
}

template <class T>
std::string number_text(T value) {
  std::ostringstream text;
  if constexpr (std::is_same_v<T, bool>) text << (value ? "True" : "False");
  else if constexpr (std::is_integral_v<T>) text << +value;
  else text << std::setprecision(6) << static_cast<double>(value);
  return text.str();
}

/// An HTML table of the matrix that begins at element `first`, with the indices of rows and columns.
class Table {
 public:
  Table(const Tensor& tensor, std::int64_t first, std::int64_t rows, std::int64_t columns)
      : tensor_(tensor),
        first_(first),
        columns_(columns),
        row_entries_(shown_entries(rows, 6)),
        column_entries_(shown_entries(columns, 6)) {}

  std::string html(bool row_indices) const {
    std::string out = "<table><thead><tr>";
    if (row_indices) out += "<th></th>";
    for (const std::int64_t column : column_entries_) out += "<th>" + index(column) + "</th>";
    out += "</tr></thead><tbody>";
    dispatch(tensor_.dtype(), [&]<class T>() {
      for (const std::int64_t row : row_entries_) {
        out += "<tr>";
        if (row_indices) out += "<th>" + index(row) + "</th>";
        for (const std::int64_t column : column_entries_)
          out += "<td>" + (row < 0 || column < 0 ? "…" : number_text(at<T>(row, column))) + "</td>";
        out += "</tr>";
      }
    });
    return out + "</tbody></table>";
  }

 private:
  static std::string index(std::int64_t entry) { return entry < 0 ? "…" : std::to_string(entry); }
  template <class T>
  T at(std::int64_t row, std::int64_t column) const {
    return tensor_.pointer<T>()[first_ + row * columns_ + column];
  }

  const Tensor& tensor_;
  std::int64_t first_, columns_;
  std::vector<std::int64_t> row_entries_, column_entries_;
};

/// Returns the index of matrix i in a stack of matrices: "[1, 0, :, :]".
std::string matrix_index(const Shape& shape, std::int64_t i) {
  std::string text;
  for (int axis = shape.rank() - 3; axis >= 0; --axis) {
    text = std::to_string(i % shape[axis]) + ", " + text;
    i /= shape[axis];
  }
  return '[' + text + ":, :]";
}

std::string tables(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  const int rank = shape.rank();
  const std::int64_t columns = rank > 0 ? shape[rank - 1] : 1, rows = rank > 1 ? shape[rank - 2] : 1;
  if (tensor.size() == 0) return {};
  if (rank == 0)
    return "<div>" + dispatch(tensor.dtype(), [&]<class T>() { return number_text(*tensor.pointer<T>()); }) +
           "</div>";
  if (rank <= 2) return Table(tensor, 0, rows, columns).html(rank == 2);
  std::string out;
  for (const std::int64_t i : shown_entries(tensor.size() / (rows * columns), 2))
    out += i < 0 ? "<div>…</div>"
                 : "<div>" + matrix_index(shape, i) + "</div>" +
                       Table(tensor, i * rows * columns, rows, columns).html(true);
  return out;
}

bool is_picture(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  const int rank = shape.rank();
  if (rank < 2 || rank > 4 || tensor.size() == 0) return false;
  const std::int64_t last = shape[rank - 1];
  const bool channels = rank > 2 && (last == 1 || last == 3 || last == 4);
  if (!channels && (rank == 4 || tensor.dtype() != DType::UInt8)) return false;
  const int width = channels ? rank - 2 : rank - 1;
  return std::min(shape[width], shape[width - 1]) >= least_side;
}

/// Arranges images in a grid, small images enlarged, as one image.
Tensor tiled(const Tensor& pixels) {
  constexpr std::int64_t gap = 4;
  const Shape& shape = pixels.shape();
  const std::int64_t count = std::min(shape[0], most_images), channels = shape[3],
                     scale = std::max<std::int64_t>(1, picture_side / std::max(shape[1], shape[2])),
                     height = shape[1] * scale, width = shape[2] * scale,
                     columns = std::min(count, std::clamp<std::int64_t>(720 / (width + gap), 1, 10)),
                     rows = (count + columns - 1) / columns;
  const Tensor out =
      Tensor::empty({rows * (height + gap) - gap, columns * (width + gap) - gap, channels}, DType::UInt8);
  const std::int64_t stride = out.shape()[1];
  auto* const to = out.pointer<unsigned char>();
  std::memset(to, 255, static_cast<std::size_t>(out.size()));
  const unsigned char* from = pixels.pointer<unsigned char>();
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x) {
        const std::int64_t row = i / columns * (height + gap) + y, column = i % columns * (width + gap) + x;
        std::memcpy(to + (row * stride + column) * channels,
                    from + ((i * shape[1] + y / scale) * shape[2] + x / scale) * channels,
                    static_cast<std::size_t>(channels));
      }
  return out;
}

MimeBundle forms_of(const Tensor& tensor, const std::string& facts) {
  if (!tensor.defined() || is_symbolic(tensor)) return {};
  MimeBundle forms;
  std::string html = "<div><div><b>shape</b> " + to_string(tensor.shape()) + " &nbsp; <b>dtype</b> " +
                     std::string(tensor.dtype().name()) + facts + "</div>";
  if (is_picture(tensor)) {
    const Tensor pixels = plot::pixels_of("display", tensor);
    const std::string png = data::encode_png(tiled(pixels));
    if (pixels.shape()[0] > most_images) html += "<div>the first " + std::to_string(most_images) + ":</div>";
    html += "<img style=\"margin:4px 0\" alt=\"images\" src=\"" + plot::data_uri(png) +
            "\"><details><summary>numbers</summary>" + tables(tensor) + "</details>";
    // Notebooks hold binary data as base64.
    const std::string uri = plot::data_uri(png);
    forms["image/png"] = uri.substr(uri.find(',') + 1);
  } else {
    html += tables(tensor);
  }
  forms["text/html"] = html + "</div>";
  return forms;
}

/// Returns the drawing as an SVG picture and as HTML: nbconvert removes unknown elements from pictures,
/// but not from HTML.
MimeBundle drawing(const std::string& svg) {
  return {{"image/svg+xml", svg}, {"text/html", "<div style=\"overflow:auto\">" + svg + "</div>"}};
}

}  // namespace

MimeBundle forms_of(const Tensor& tensor) {
  const bool recorded = tensor.defined() && !is_symbolic(tensor) && tensor.node() && !tensor.node()->leaf();
  return forms_of(tensor, recorded ? " &nbsp; <b>op</b> " + nn::escaped(tensor.node()->op()) : "");
}

MimeBundle forms_of(const Variable& variable) {
  if (!variable.defined()) return {};
  return forms_of(variable.value(), " &nbsp; <b>variable</b> " + nn::escaped(variable.name()));
}

MimeBundle forms_of(const nn::History& history) {
  std::string html;
  if (history.names().empty()) return {};
  for (const plot::Figure& figure : figures_of(history))
    html += "<div style=\"flex:0 1 440px\">" + figure.svg() + "</div>";
  return {{"text/html", "<div style=\"display:flex;flex-wrap:wrap\">" + html + "</div>"}};
}

MimeBundle forms_of(const nn::Model& model) {
  try {
    if (model.defined())
      return drawing(nn::model_to_svg(model, {.show_shapes = true, .show_layer_names = true}));
  } catch (const ValueError&) {
    // A model without a known graph is shown as text, by its summary.
  }
  return {};
}

MimeBundle forms_of(const plot::Figure& figure) { return drawing(figure.svg()); }

plot::Figure figure_of(const Tensor& tensor) {
  if (!tensor.defined() || is_symbolic(tensor))
    fail("[%plot] the tensor must have a value: received ", to_string(tensor));
  if (is_picture(tensor)) return plot::image_grid(tensor);
  if (tensor.ndim() == 2) return plot::heat_map(tensor);
  if (tensor.ndim() < 2) return plot::lines(tensor);
  fail(
      "[%plot] the tensor must be numbers (n), a matrix (rows, columns) or images (n, height, width, "
      "channels): "
      "received shape ",
      tensor.shape());
}

plot::Figure figure_of(const Variable& variable) {
  return figure_of(variable.defined() ? variable.value() : Tensor());
}

std::vector<plot::Figure> figures_of(const nn::History& history) {
  if (history.names().empty()) fail("[%plot] the history must hold an epoch: received none");
  std::vector<plot::Figure> figures;
  for (const std::string& name : history.names())
    if (!name.starts_with("val_") || !history.contains(name.substr(4)))
      figures.push_back(plot::curves(history, name, {.width = 440, .height = 280}));
  return figures;
}

}  // namespace ktape::interactive
