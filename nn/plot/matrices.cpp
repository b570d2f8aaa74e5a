#include <ktape/nn/plot/canvas/color_map.hpp>
#include <ktape/nn/plot/internal/cells.hpp>
#include <ktape/nn/plot/internal/scale.hpp>
#include <ktape/nn/plot/internal/series.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::plot {
namespace {

void check_ticks(const char* op, const char* name, const std::vector<std::string>& ticks, std::size_t count) {
  if (!ticks.empty() && ticks.size() != count)
    fail("[", op, "] ", name, " must have an entry for each cell along the axis: received ", ticks.size(),
         " for ", count);
}

}  // namespace

// --- Heat map ---------------------------------------------------------------------------------------------

Figure heat_map(const Tensor& matrix, const HeatMapOptions& options) {
  expect_defined("heat_map", "matrix", matrix);
  expect_value("heat_map", matrix);
  check_size("heat_map", options.width);
  if (matrix.ndim() != 2 || matrix.size() <= 0 || matrix.shape()[0] > 4096 || matrix.shape()[1] > 4096)
    fail("[heat_map] the matrix must have from 1 to 4096 rows and columns: received shape ", matrix.shape());
  if (!options.colors.empty() && !is_color_map(options.colors))
    fail("[heat_map] colors must be ", color_maps, ": received colors=\"", options.colors, '"');
  const Numbers numbers(matrix);
  const auto columns = static_cast<std::size_t>(matrix.shape()[1]), rows = numbers.size() / columns;
  check_ticks("heat_map", "x_ticks", options.x_ticks, columns);
  check_ticks("heat_map", "y_ticks", options.y_ticks, rows);
  Range range;
  std::size_t missing = 0;
  for (const double number : numbers) range.include(number), missing += !std::isfinite(number);
  const bool signs = range.min < 0 && !options.min;
  if (signs) {  // numbers of equal size get colors of equal strength
    range.max = options.max.value_or(std::max(-range.min, range.max));
    range.min = -range.max;
  }
  const Scale scale("heat_map", "the color", {.min = options.min, .max = signs ? range.max : options.max},
                    range, 0);
  std::vector<double> strengths;
  for (const double number : numbers) {
    const double part = std::clamp(scale.at(number), 0.0, 1.0);
    strengths.push_back(!std::isfinite(number) ? NAN : signs ? 2 * part - 1 : part);
  }
  const auto number = [numbers](std::size_t i) { return number_text(numbers[i]); };
  const auto hint = [numbers, columns](std::size_t i) {
    return "(" + std::to_string(i / columns) + ", " + std::to_string(i % columns) +
           "): " + number_text(numbers[i]);
  };
  return cell_chart({.title = options.title,
                     .x_label = options.x_label,
                     .y_label = options.y_label,
                     .x_ticks = options.x_ticks,
                     .y_ticks = options.y_ticks,
                     .rows = rows,
                     .columns = columns,
                     .strengths = std::move(strengths),
                     .number = number,
                     .hint = hint,
                     .annotate = options.annotate,
                     .scale = scale,
                     .note = missing_note(missing, numbers.size()),
                     .width = options.width,
                     .colors = options.colors});
}

// --- Confusion matrix -------------------------------------------------------------------------------------

namespace {

constexpr std::int64_t most_classes = 1000;
constexpr const char* op = "confusion_matrix";

/// Returns the class of each sample: the given class, or the class with the largest score in the row.
std::vector<std::int64_t> classes_of(const char* name, const Tensor& x) {
  expect_defined(op, name, x);
  expect_value(op, x);
  const bool scores = x.ndim() == 2 && x.shape()[1] != 1;
  if (x.ndim() < 1 || x.ndim() > 2 || x.size() <= 0)
    fail("[", op, "] ", name, " must be classes, (samples,), or scores, (samples, classes): received shape ",
         x.shape());
  const Numbers numbers(x);
  const auto width = scores ? static_cast<std::size_t>(x.shape()[1]) : 1;
  std::vector<std::int64_t> classes;
  for (std::size_t i = 0; i < numbers.size(); i += width) {
    const auto row = numbers.begin() + static_cast<std::ptrdiff_t>(i);
    const double found =
        scores ? static_cast<double>(std::max_element(row, row + static_cast<std::ptrdiff_t>(width)) - row)
               : *row;
    if (!(found >= 0 && found < most_classes && found == std::floor(found)))
      fail("[", op, "] classes must be whole numbers from 0 to ", most_classes - 1, ": received ", name, '[',
           i / width, "]=", found);
    classes.push_back(static_cast<std::int64_t>(found));
  }
  return classes;
}

Figure drawn_counts(const std::vector<double>& counts, std::size_t classes,
                    const ConfusionMatrixOptions& options) {
  check_size(op, options.width);
  std::vector<std::string> names = options.class_names;
  for (std::size_t i = names.size(); options.class_names.empty() && i < classes; ++i)
    names.push_back(std::to_string(i));
  check_ticks(op, "class_names", names, classes);
  std::vector<double> strengths(counts.size()), parts(counts.size());
  for (std::size_t i = 0; i < classes; ++i) {
    double total = 0;
    for (std::size_t k = 0; k < classes; ++k) total += counts[i * classes + k];
    for (std::size_t k = i * classes; k < (i + 1) * classes; ++k) {
      parts[k] = total > 0 ? counts[k] / total : 0;
      // A few mistakes among many samples must be visible.
      const double strength = parts[k] > 0 ? 0.1 + 0.9 * std::sqrt(parts[k]) : 0;
      strengths[k] = k == i * classes + i ? strength : -strength;
    }
  }
  const bool normalize = options.normalize;
  const auto number = [counts, parts, normalize](std::size_t i) {
    if (!normalize) return number_text(counts[i]);
    return number_text(std::round(parts[i] * 1000) / 1000);
  };
  const auto hint = [names, counts, classes](std::size_t i) {
    return names[i / classes] + " predicted as " + names[i % classes] + ": " + number_text(counts[i]);
  };
  return cell_chart({.title = options.title,
                     .x_label = "predicted",
                     .y_label = "true",
                     .x_ticks = names,
                     .y_ticks = names,
                     .rows = classes,
                     .columns = classes,
                     .strengths = std::move(strengths),
                     .number = number,
                     .hint = hint,
                     .annotate = {},
                     .scale = {},
                     .note = {},
                     .width = options.width});
}

}  // namespace

Figure confusion_matrix(const Tensor& y_true, const Tensor& y_pred, const ConfusionMatrixOptions& options) {
  const std::vector<std::int64_t> truths = classes_of("y_true", y_true),
                                  predictions = classes_of("y_pred", y_pred);
  if (truths.size() != predictions.size())
    fail("[", op, "] y_true and y_pred must have the same size: received ", truths.size(), " and ",
         predictions.size());
  std::int64_t classes = static_cast<std::int64_t>(options.class_names.size());
  if (classes == 0) {
    for (const Tensor& x : {y_true, y_pred})
      if (x.ndim() == 2 && x.shape()[1] > 1) classes = std::max(classes, x.shape()[1]);
    for (std::size_t i = 0; i < truths.size(); ++i)
      classes = std::max({classes, truths[i] + 1, predictions[i] + 1});
  }
  if (classes > most_classes)
    fail("[", op, "] there must be at most ", most_classes, " classes: received ", classes);
  std::vector<double> counts(static_cast<std::size_t>(classes * classes));
  for (std::size_t i = 0; i < truths.size(); ++i) {
    if (std::max(truths[i], predictions[i]) >= classes)
      fail("[", op, "] there must be a name for each class: received ", classes, " names for class ",
           std::max(truths[i], predictions[i]));
    ++counts[static_cast<std::size_t>(truths[i] * classes + predictions[i])];
  }
  return drawn_counts(counts, static_cast<std::size_t>(classes), options);
}

Figure confusion_matrix(const Tensor& counts, const ConfusionMatrixOptions& options) {
  expect_defined(op, "counts", counts);
  expect_value(op, counts);
  if (counts.ndim() != 2 || counts.shape()[0] != counts.shape()[1] || counts.size() <= 0 ||
      counts.shape()[0] > most_classes)
    fail("[", op, "] counts must be a square matrix of 1 to ", most_classes, " classes: received shape ",
         counts.shape());
  const Numbers numbers(counts);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (!(numbers[i] >= 0 && std::isfinite(numbers[i])))
      fail("[", op, "] counts must be finite and at least 0: received counts[", i, "]=", numbers[i]);
  return drawn_counts({numbers.begin(), numbers.end()}, static_cast<std::size_t>(counts.shape()[0]), options);
}

}  // namespace ktape::plot
