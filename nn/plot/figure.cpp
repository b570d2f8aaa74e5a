#include <ktape/autograd/variable.hpp>
#include <ktape/nn/data/formats/image_files.hpp>
#include <ktape/nn/files/atomic_file.hpp>
#include <ktape/nn/plot/canvas/raster.hpp>
#include <ktape/nn/plot/canvas/svg.hpp>
#include <ktape/nn/plot/canvas/text_fit.hpp>
#include <ktape/nn/plot/chart.hpp>
#include <ktape/nn/plot/internal/text_frame.hpp>

#include <ostream>

namespace ktape::plot {

// --- Numbers ----------------------------------------------------------------------------------------------

Numbers::Numbers(const Tensor& tensor) {
  expect_defined("plot", "the numbers", tensor);
  expect_value("plot", tensor);
  list_.resize(static_cast<std::size_t>(tensor.size()));
  convert(list_.data(), DType::Float64, tensor.raw(), tensor.dtype(), tensor.size());
}

Numbers::Numbers(const Variable& variable) : Numbers(static_cast<const Tensor&>(variable)) {}

// --- Parts of charts --------------------------------------------------------------------------------------

void check_size(const char* op, int width, int height) {
  const auto check = [&](const char* name, int size) {
    if (size < 160 || size > 10000)
      fail("[", op, "] ", name, " must be from 160 to 10000: received ", name, '=', size);
  };
  check("width", width);
  check("height", height);
}

namespace {

constexpr double title_size = 15, title_line = 19;

std::vector<std::string> title_lines(const std::string& title, double width) {
  return wrapped(title, 3, width, title_size, true);
}

}  // namespace

double title_height(const std::string& title, double width) {
  const auto lines = static_cast<double>(title_lines(title, width).size());
  return lines == 0 ? 0 : 7 + title_line * lines;
}

double draw_title(Canvas& canvas, const std::string& title, double x, double y, double width) {
  const std::vector<std::string> lines = title_lines(title, width);
  for (std::size_t i = 0; i < lines.size(); ++i)
    canvas.text({x, y + 12 + title_line * static_cast<double>(i)}, lines[i],
                {.size = title_size, .bold = true, .paint = Role::Ink});
  return title_height(title, width);
}

// --- Figure -----------------------------------------------------------------------------------------------

std::string Figure::svg() const {
  const auto [width, height] = chart_->size();
  Svg out(width, height, chart_->description());
  chart_->draw(out);
  return out.str();
}

std::string Figure::png(const PngOptions& options) const {
  if (!(options.scale >= 0.1 && options.scale <= 10))
    fail("[Figure] scale must be from 0.1 to 10: received scale=", options.scale);
  const auto [width, height] = chart_->size();
  if (width * options.scale * height * options.scale > 1e8)
    fail("[Figure] a PNG picture must have at most 100 million pixels: received ", width * options.scale,
         " x ", height * options.scale);
  Raster out(width, height, options.scale, options.dark ? Theme::Dark : Theme::Light);
  chart_->draw(out);
  return data::encode_png(out.pixels());
}

void Figure::save(const std::string& path, const PngOptions& options) const {
  if (!path.ends_with(".svg") && !path.ends_with(".png"))
    fail("[Figure] the name of the file must end in .svg or .png: received ", path);
  const std::string picture = path.ends_with(".svg") ? svg() : png(options);
  nn::saving::AtomicFile file("Figure", path);
  file.write(picture);
  file.commit();
}

std::string Figure::text(const TextOptions& options) const {
  check_text(options);
  return chart_->text(options);
}

std::ostream& operator<<(std::ostream& out, const Figure& figure) { return out << figure.text(); }

}  // namespace ktape::plot
