#pragma once
#include <ktape/autograd/tensor.hpp>

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ktape::nn {
class History;
}

/// Pictures of numbers: curves, points, bars, histograms, heat maps, images, confusion matrices, and grids of
/// these. A picture becomes SVG, PNG, or characters in a terminal.
///
///     plot::lines({{"loss", history["loss"]}, {"val_loss", history["val_loss"]}},
///                 {.title = "Digits", .x = {.label = "epoch"}, .y = {.log = true}}).save("loss.svg");
///     plot::histogram(weights).save("weights.png", {.scale = 1, .dark = true});
///
/// Each series has its own look. The first eight lines have colors, the next ones also dashes, dots or both,
/// and lines from the 33rd on also markers; points differ in color and marker; bars are hatched from the
/// ninth series on. People without red, green or blue cones can tell the colors apart. Long titles are
/// wrapped; other texts that are too long end in an ellipsis.
///
/// Every function throws ValueError, naming the function and the argument, for missing numbers, lengths or
/// shapes that do not fit each other, a minimum that is not below the maximum, and numbers on a logarithmic
/// axis that are not positive. Numbers that are not finite are no error, because pictures help to find them:
/// such numbers leave a gap, and the picture shows their count.
namespace ktape::plot {

/// Numbers to draw: the elements of a tensor in order, a vector, or a braced list.
class Numbers {
 public:
  Numbers() = default;
  Numbers(std::initializer_list<double> numbers) : list_(numbers) {}
  Numbers(std::vector<double> numbers) : list_(std::move(numbers)) {}
  template <Arithmetic T>
  requires(!std::same_as<T, double>) Numbers(const std::vector<T>& numbers)
      : list_(numbers.begin(), numbers.end()) {}
  Numbers(const Tensor& tensor);
  Numbers(const Variable& variable);

  std::size_t size() const { return list_.size(); }
  bool empty() const { return list_.empty(); }
  double operator[](std::size_t i) const { return list_[i]; }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

 private:
  std::vector<double> list_;
};

/// Numbers that belong together, under a name in the legend. The fields from `error` on are for `lines` and
/// `scatter`; by default the look depends on the position of the series in the list.
///
///     lines({{.name = "mean", .y = loss, .error = deviation},
///            {.name = "best", .y = val_loss, .line = "dashed", .marker = "star", .color = 3, .alpha = 0.5}})
///     lines({{.name = "quartiles", .x = loss, .low = deviation, .high = val_loss}})  // fills between two curves
///
/// For example:
///
///     std::cout << plot::lines(
///         {{.name = "squares", .y = {1., 4., 9.}, .line = "dashed"}});
struct Series {
  std::string name = {};
  Numbers y = {};               ///< may be empty if `low` and `high` are given
  Numbers x = {};               ///< the positions of the numbers in y; 0, 1, 2, ... by default
  Numbers error = {};           ///< not negative: a band y ± error around a line, error bars at points
  Numbers low = {}, high = {};  ///< the ends of a band, which is filled
  std::string line = {};        ///< "solid", "dashed", "dotted", "dashdot" or "none"
  /// "circle", "square", "triangle", "triangle_down", "diamond", "cross", "plus", "star" or "none"
  std::string marker = {};
  std::optional<int> color = {};  ///< the position, from 0 on, of the series with this color
  double size = 0;   ///< the width of a line, the radius of points, in pixels up to 100; 0 for the default
  double alpha = 1;  ///< the opacity, from 0 to 1
};

/// A list of series: a braced list, a vector, or the numbers of a single series.
///
///     lines(loss)     lines({1, 4, 9})     lines({{"train", loss}, {"validation", val_loss}})
class SeriesList {
 public:
  SeriesList(std::initializer_list<Series> series) : list_(series) {}
  SeriesList(std::vector<Series> series) : list_(std::move(series)) {}
  SeriesList(std::initializer_list<double> numbers) : list_{{.y = numbers}} {}
  template <class T>
  requires std::convertible_to<T, Numbers> SeriesList(const T& numbers) : list_{{.y = numbers}} {}

  const std::vector<Series>& list() const { return list_; }

 private:
  std::vector<Series> list_;
};

struct Axis {
  std::string label = {};
  bool log = false;
  std::optional<double> min = {}, max = {};  ///< the limits of the axis; by default from the numbers
};

/// A text at a point of a chart.
///
///     plot::lines({1, 4, 2},
///                 {.annotations = {{"minimum", 0, 1}}, .horizontal = {{2., "chance"}}})
///         .save("marks.svg");
///     std::cout << "marks.svg";
struct Annotation {
  std::string text = {};
  double x = 0, y = 0;
};

/// A straight line through a whole chart, at a number of one axis.
///
///     std::cout << plot::lines({1, 4, 2},
///                              {.horizontal = {{.at = 2.5, .label = "chance"}}})
///                      .text({.columns = 40});
struct Rule {
  double at = 0;
  std::string label = {};
  std::string line = "dashed";  ///< one of the lines of Series
};

struct TextOptions {
  int columns = 80;    ///< the largest width of the drawing in characters; at least 20
  bool color = false;  ///< whether the text has escape sequences for colors
};

struct PngOptions {
  double scale = 2;   ///< pixels of the PNG picture for a pixel of the SVG picture, from 0.1 to 10
  bool dark = false;  ///< the colors for dark screens
};

class Chart;

/// A picture. A Figure is a handle: copies refer to one picture.
class Figure {
 public:
  /// Returns an SVG picture without scripts, links to files or embedded fonts, which is light or dark like
  /// the reader's screen. Points and cells show their values under the mouse.
  std::string svg() const;
  /// Returns the drawing as a PNG picture. Its font has the letters of Western languages and the usual signs;
  /// other characters become boxes. Throws ValueError for a scale out of range and for more than 100 million
  /// pixels.
  std::string png(const PngOptions& options = {}) const;
  /// Writes the picture into a file in the format that the name ends in, ".svg" or ".png". Throws ValueError
  /// for another ending, IOError if the file cannot be written.
  ///
  ///     plot::histogram(weights).save("weights.png", {.scale = 1, .dark = true});
  void save(const std::string& path, const PngOptions& options = {}) const;
  /// Returns the picture drawn with characters, for a terminal.
  std::string text(const TextOptions& options = {}) const;

  explicit Figure(std::shared_ptr<const Chart> chart) : chart_(std::move(chart)) {}
  const Chart& chart() const { return *chart_; }

 private:
  std::shared_ptr<const Chart> chart_;
};

/// Writes the picture, drawn with characters.
std::ostream& operator<<(std::ostream& out, const Figure& figure);

struct ChartOptions {
  std::string title = {};
  Axis x = {}, y = {};
  int width = 640, height = 400;             ///< the size of the SVG picture in pixels, from 160 to 10000
  std::vector<Annotation> annotations = {};  ///< not for `bars`, as horizontal and vertical
  std::vector<Rule> horizontal = {}, vertical = {};  ///< lines at numbers of y and of x
  bool equal = false;  ///< whether a unit has one length on both axes, which must be linear
};

/// Draws a line through the points of each series, in their order; the line has a gap where a number is not
/// finite.
///
///     lines(loss, {.annotations = {{"minimum", 7, 0.1}}, .horizontal = {{0.5, "chance"}}, .vertical = {{3}}})
///
/// For example:
///
///     plot::lines({{"loss", {1., 0.5, 0.25}}},
///                 {.title = "Training", .x = {.label = "epoch"}})
///         .save("loss.svg");
///     std::cout << plot::lines({1, 4, 9});
Figure lines(const SeriesList& series, const ChartOptions& options = {});
/// Draws a marker for each point. More than 5000 points are drawn as an image inside of the picture, with
/// stronger colors where points overlap: an SVG picture of a million points has less than 1 MB.
///
///     std::cout << plot::scatter(
///         {{.name = "points", .y = {3., 1., 2.}, .x = {1., 2., 3.}}});
Figure scatter(const SeriesList& series, const ChartOptions& options = {});
/// Draws a number of each epoch of a training, such as "loss" or "accuracy", and the number with "val_"
/// before its name, if the history has it. Throws ValueError, with the nearest known names, for an unknown
/// name.
///
///     nn::Sequential model({nn::Dense(1, {.kernel_initializer = "zeros"})});
///     model.compile({.optimizer = nn::SGD(0.1), .loss = "mse"});
///     nn::History history =
///         model.fit(K::ones({8, 2}), K::ones({8, 1}), {.epochs = 4, .verbose = 0});
///     plot::curves(history).save("loss.svg");
///     std::cout << "loss.svg";
Figure curves(const nn::History& history, const std::string& name = "loss", const ChartOptions& options = {});

/// Draws a bar for each label and each series. A series has a number for each label, and no x.
///
///     std::cout << plot::bars({"cat", "dog"}, {{"share", {3., 5.}}});
Figure bars(const std::vector<std::string>& labels, const SeriesList& series,
            const ChartOptions& options = {});

struct HistogramOptions {
  /// From 1 to 1000; by default by the rule of Freedman and Diaconis. By default, each integer has its own
  /// bin if all numbers are integers in a range of at most 64; integers in a larger range share bins.
  int bins = 0;
  std::string title = {};
  Axis x = {};  ///< the limits of the bins; numbers outside are not counted
  Axis y = {};  ///< the axis of the counts; its label is "count" by default
  int width = 640, height = 400;
};
/// Draws the counts of the numbers in intervals (bins) of equal width. On a logarithmic axis, the logarithms
/// of the numbers have bins of equal width.
///
///     std::cout << plot::histogram(K::random_normal({1000}), {.bins = 5});
Figure histogram(const Numbers& numbers, const HistogramOptions& options = {});

struct HeatMapOptions {
  std::string title = {}, x_label = {}, y_label = {};
  std::vector<std::string> x_ticks = {}, y_ticks = {};  ///< names of the columns and rows
  std::optional<bool> annotate = {};         ///< whether cells show numbers; by default if there is room
  std::optional<double> min = {}, max = {};  ///< the numbers of the palest and of the strongest color
  int width = 640;
  /// A color map, "viridis", "magma", "gray" or "coolwarm". The default has shades of one color for positive
  /// numbers and of another color for negative numbers, and differs between light and dark screens.
  std::string colors = {};
};
/// Draws a matrix of at most 4096 rows and columns, with a cell for each number, and a color bar. Larger
/// numbers have stronger colors; if there are negative numbers, these have another color.
///
///     plot::heat_map(weights, {.title = "Weights", .colors = "viridis"}).save("weights.svg");
///
/// For example:
///
///     plot::heat_map(K::random_normal({8, 8}),
///                    {.title = "Weights", .colors = "viridis"})
///         .save("weights.svg");
///     std::cout << plot::heat_map(K::constant({{0., 1.}, {2., 3.}}));
Figure heat_map(const Tensor& matrix, const HeatMapOptions& options = {});

struct ConfusionMatrixOptions {
  std::string title = {};
  std::vector<std::string> class_names = {};  ///< 0, 1, 2, ... by default
  bool normalize = false;                     ///< whether to show fractions of each true class, not counts
  int width = 640;
};
/// Draws the number of samples for each true class (row) and predicted class (column). y_true holds integer
/// classes or one-hot rows, y_pred classes or scores (samples, classes). At most 1000 classes.
///
///     Tensor y = K::constant({0, 1, 1}), p = K::constant({0, 1, 0});
///     std::cout << plot::confusion_matrix(y, p) << "\n"
///               << plot::confusion_matrix(
///                      y, p, {.class_names = {"cat", "dog"}, .normalize = true});
Figure confusion_matrix(const Tensor& y_true, const Tensor& y_pred,
                        const ConfusionMatrixOptions& options = {});
/// Draws a confusion matrix of counts (classes, classes).
Figure confusion_matrix(const Tensor& counts, const ConfusionMatrixOptions& options = {});

struct ImageGridOptions {
  std::string title = {};
  std::vector<std::string> titles = {};  ///< a title for each image
  int columns = 0;  ///< images in a row; by default about the square root of their number
  int width = 640;
  std::vector<std::string> row_labels = {},
                           column_labels = {};  ///< the labels of all rows, and of all columns, of images
};
/// Draws images, (n, height, width) or (n, height, width, channels) with 1, 3 or 4 channels, or one image
/// without n (a third axis of 1, 3 or 4 has the channels); at most 4096 images. Numbers are brightnesses from
/// 0 to 1; from 0 to 255 if a number is above 1 or the dtype is integer; if a number is below 0, from the
/// smallest to the largest number.
///
///     plot::image_grid(x, {.columns = 8, .row_labels = {"digits", "rebuilt"}}).save("pairs.svg");
///
/// For example:
///
///     plot::image_grid(K::random_uniform({8, 6, 6, 1}), {.columns = 4})
///         .save("images.svg");
///     std::cout << "images.svg";
Figure image_grid(const Tensor& images, const ImageGridOptions& options = {});

struct GridOptions {
  std::string title = {};
  int columns = 0;  ///< the figures in a row; by default 1 for up to 3 figures, else about their square root
};
/// Returns a figure of figures, row by row, each in its own size. In a terminal, the figures of a row are
/// beside each other if there is room.
///
///     plot::grid({lines(loss), plot::histogram(weights)}, {.title = "A run", .columns = 2}).save("run.svg");
///
/// For example:
///
///     plot::Figure page =
///         plot::grid({plot::lines({1, 4, 9}), plot::histogram(K::random_normal({100}))},
///                    {.title = "A run", .columns = 2});
///     page.save("run.png", {.dark = true});
///     std::cout << "run.png";
Figure grid(const std::vector<Figure>& figures, const GridOptions& options = {});

}  // namespace ktape::plot
