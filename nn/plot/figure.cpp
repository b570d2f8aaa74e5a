#include <ktape/autograd/variable.hpp>
#include <ktape/nn/files/atomic_file.hpp>
#include <ktape/nn/plot/internal/frame.hpp>
#include <ktape/nn/plot/internal/series.hpp>

#include <cmath>
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

std::vector<Series> checked(const char* op, const SeriesList& series) {
  std::vector<Series> list = series.list();
  if (list.empty()) fail("[", op, "] there must be a series to draw: received none");
  for (std::size_t s = 0; s < list.size(); ++s) {
    auto& [name, y, x] = list[s];
    if (y.empty())
      fail("[", op, "] every series must have numbers: received none for series ", s, " '", name, "'");
    if (x.empty()) {
      std::vector<double> places(y.size());
      for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<double>(i);
      x = places;
    }
    if (x.size() != y.size())
      fail("[", op, "] x and y must have the same size: received ", x.size(), " and ", y.size(),
           " for series ", s, " '", name, "'");
  }
  return list;
}

void check_log(const char* op, const char* name, const Axis& axis, const Numbers& numbers,
               const std::string& series) {
  if (!axis.log) return;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] <= 0)
      fail("[", op, "] numbers on a logarithmic axis must be positive: received ", name, '[', i,
           "]=", numbers[i], series.empty() ? "" : " in '" + series + "'");
}

std::string missing_note(std::size_t missing, std::size_t all) {
  if (missing == 0) return "";
  return std::to_string(missing) + " of " + std::to_string(all) +
         (missing == 1 ? " numbers is not finite" : " numbers are not finite");
}

void check_size(const char* op, int width, int height) {
  const auto check = [&](const char* name, int size) {
    if (size < 160 || size > 10000)
      fail("[", op, "] ", name, " must be from 160 to 10000: received ", name, '=', size);
  };
  check("width", width);
  check("height", height);
}

// --- Figure -----------------------------------------------------------------------------------------------

std::string Figure::svg() const { return chart_->svg(); }

void Figure::save(const std::string& path) const {
  if (!path.ends_with(".svg")) fail("[Figure] the name of the file must end in .svg: received ", path);
  nn::saving::AtomicFile file("Figure", path);
  file.write(svg());
  file.commit();
}

std::string Figure::text(const TextOptions& options) const {
  check_text(options);
  return chart_->text(options);
}

std::ostream& operator<<(std::ostream& out, const Figure& figure) { return out << figure.text(); }

}  // namespace ktape::plot
