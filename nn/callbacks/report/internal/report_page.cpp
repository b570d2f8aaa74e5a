#include <ktape/nn/callbacks/report/internal/report_html.hpp>
#include <ktape/nn/callbacks/report/internal/report_page.hpp>
#include <ktape/nn/core/text.hpp>
#include <ktape/nn/data/formats/image_files.hpp>
#include <ktape/nn/models/summary_table.hpp>
#include <ktape/nn/plot/canvas/svg.hpp>
#include <ktape/nn/plot/chart.hpp>
#include <ktape/nn/plot/pixels.hpp>
#include <ktape/nn/plot/plot_columns.hpp>
#include <ktape/nn/training/history_epochs.hpp>
#include <ktape/nn/training/trainer.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <numeric>

namespace ktape::nn {
namespace {

using namespace html;
using plot::number_text;

/// Writes the page section by section.
class Page {
 public:
  explicit Page(const Run& run) : run_(run), epochs_(run.history.epoch().size()) {}

  std::string str() {
    out_ << "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n";
    if (!run_.ended) out_ << "<meta http-equiv=\"refresh\" content=\"5\">\n";
    out_ << "<title>" << escaped(run_.title) << "</title>\n<style>" << html::style
         << "</style>\n</head>\n<body>\n<main>\n";
    write_head();
    write_curves();
    for (const PredictionReport& review : run_.reviews) {
      if (review.classifies()) write_classes(review);
      if (review.regresses()) write_numbers(review);
    }
    write_model();
    write_training();
    out_ << "<footer>Written by ktape.</footer>\n</main>\n</body>\n</html>\n";
    return out_.str();
  }

 private:
  // --- Head -----------------------------------------------------------------------------------------------

  std::string state_text() const {
    const auto planned = static_cast<std::size_t>(run_.parameters.epochs);
    const std::size_t last = epochs_ == 0 ? 0 : static_cast<std::size_t>(run_.history.epoch().back()) + 1;
    if (!run_.ended) return "Training: epoch " + std::to_string(last + 1) + " of " + std::to_string(planned);
    if (last < planned) return "Ended after epoch " + std::to_string(last) + " of " + std::to_string(planned);
    return "Trained for " + count_text(static_cast<std::int64_t>(epochs_), "epoch");
  }

  void write_head() {
    out_ << "<header>\n<h1>" << escaped(run_.title) << "</h1>\n<p class=muted>" << state_text() << ", begun "
         << run_.began << "</p>\n</header>\n<div class=numbers>\n";
    for (const std::string& name : metrics()) write_metric(name);
    for (const PredictionReport& review : run_.reviews)
      if (review.classifies())
        write_number(std::to_string(review.right()) + " of " + std::to_string(review.samples()),
                     "predicted right" + (review.output().empty() ? "" : ": " + review.output()));
    if (epochs_ > 0) {
      const double all = std::accumulate(run_.seconds.begin(), run_.seconds.end(), 0.0);
      write_number(seconds_text(all), seconds_text(all / static_cast<double>(epochs_)) + " an epoch");
    }
    const SummaryTable table = summary_table(run_.model);
    write_number(table.totals[1].count, "trainable weights, " + table.totals[1].bytes);
    out_ << "</div>\n";
  }

  void write_number(const std::string& number, const std::string& what) {
    out_ << "<div class=card><b>" << escaped(number) << "</b><span>" << escaped(what) << "</span></div>\n";
  }

  /// Returns the names of the logs, each with its validation, learning rates last.
  std::vector<std::string> metrics() const {
    std::vector<std::string> names;
    for (const std::string& name : run_.history.names())
      if (!name.starts_with("val_") || !run_.history.contains(name.substr(4))) names.push_back(name);
    std::stable_partition(names.begin(), names.end(),
                          [](const std::string& name) { return name != "learning_rate"; });
    return names;
  }

  void write_metric(const std::string& name) {
    if (name == "learning_rate") return;
    const bool validated = run_.history.contains("val_" + name);
    const std::string shown = validated ? "val_" + name : name;
    const std::vector<double>& values = run_.history[shown];
    std::string what = shown;
    if (validated) what += ", " + number_text(run_.history[name].back()) + " in training";
    if (name == "loss" && values.size() > 1) {
      const auto least = std::min_element(values.begin(), values.end());
      const int epoch = epochs_of(run_.history, shown)[static_cast<std::size_t>(least - values.begin())];
      if (least + 1 != values.end() && std::isfinite(*least))
        what += "; least in epoch " + std::to_string(epoch + 1) + ": " + number_text(*least);
    }
    write_number(number_text(values.back()), what);
  }

  // --- Curves ---------------------------------------------------------------------------------------------

  void write_curves() {
    if (epochs_ == 0) return;
    out_ << "<h2>Curves</h2>\n<div class=grid>\n";
    for (const std::string& name : metrics())
      out_ << picture(plot::curves(run_.history, name, {.title = name, .width = 420, .height = 270}));
    std::vector<double> epochs(run_.history.epoch().begin(), run_.history.epoch().end());
    for (double& epoch : epochs) ++epoch;
    out_ << picture(plot::lines({{"", run_.seconds, epochs}}, {.title = "seconds an epoch",
                                                               .x = {.label = "epoch"},
                                                               .y = {.min = 0},
                                                               .width = 420,
                                                               .height = 270}));
    out_ << "</div>\n";
    write_epochs();
  }

  void write_epochs() {
    constexpr std::size_t most_rows = 500;
    std::vector<std::string> titles{"Epoch"};
    const std::vector<std::string> names = run_.history.names();
    titles.insert(titles.end(), names.begin(), names.end());
    titles.push_back("Time");
    out_ << "<details class=card style=\"margin-top:14px\"><summary>All epochs</summary><div "
            "class=scroll><table>\n"
         << row_of(titles, "th", 1);
    const std::size_t first = epochs_ > most_rows ? epochs_ - most_rows : 0;
    if (first > 0) out_ << "<tr><td>… " << first << " before</td></tr>\n";
    for (std::size_t i = first; i < epochs_; ++i) {
      const int epoch = run_.history.epoch()[i];
      std::vector<std::string> cells{std::to_string(epoch + 1)};
      for (const std::string& name : names) {
        const std::vector<int>& epochs = epochs_of(run_.history, name);
        const auto at = std::lower_bound(epochs.begin(), epochs.end(), epoch);
        const bool there = at != epochs.end() && *at == epoch;
        cells.push_back(there ? number_text(run_.history[name][static_cast<std::size_t>(at - epochs.begin())])
                              : "");
      }
      cells.push_back(seconds_text(run_.seconds[i]));
      out_ << row_of(cells, "td", 1);
    }
    out_ << "</table></div></details>\n";
  }

  // --- Predictions ----------------------------------------------------------------------------------------

  static std::string heading(const PredictionReport& review) {
    return "<h2>Predictions" + (review.output().empty() ? "" : ": " + escaped(review.output())) + "</h2>\n";
  }

  std::vector<std::string> class_names(const PredictionReport& review) const {
    if (static_cast<std::int64_t>(run_.class_names.size()) == review.classes()) return run_.class_names;
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < review.classes(); ++i) names.push_back(std::to_string(i));
    return names;
  }

  void write_classes(const PredictionReport& review) {
    constexpr std::int64_t most_drawn = 200;
    const std::vector<std::string> names = class_names(review);
    out_ << heading(review) << "<div class=\"grid wide\">\n";
    if (review.classes() <= most_drawn) {
      const Tensor counts = Tensor::empty({review.classes(), review.classes()}, DType::Float64);
      std::fill_n(counts.pointer<double>(), counts.size(), 0);
      for (const auto& [pair, count] : review.counts())
        counts.pointer<double>()[pair.first * review.classes() + pair.second] = static_cast<double>(count);
      out_ << picture(plot::confusion_matrix(
          counts,
          {.title = "Confusion matrix", .class_names = names, .width = review.classes() <= 12 ? 460 : 640}));
    }
    out_ << "<div class=card><h3>Classes</h3><div class=scroll><table>\n";
    write_class_rows(review, names);
    out_ << "</table></div></div>\n</div>\n";
    write_guesses("Most confident mistakes", review.mistakes(), names);
    write_guesses("Samples", review.guesses(), names);
  }

  void write_class_rows(const PredictionReport& review, const std::vector<std::string>& names) {
    struct Counts {
      std::int64_t right = 0, is = 0, called = 0, confused = 0;
      std::int64_t with = -1;  ///< the class that is most often predicted instead of the true class
    };
    std::map<std::int64_t, Counts> classes;
    for (const auto& [pair, count] : review.counts()) {
      const auto& [truth, predicted] = pair;
      classes[truth].is += count;
      classes[predicted].called += count;
      if (truth == predicted) classes[truth].right += count;
      else if (count > classes[truth].confused)
        classes[truth].confused = count, classes[truth].with = predicted;
    }
    out_ << row_of({"Class", "Samples", "Recall", "Precision", "Taken for"}, "th", 1, 4);
    const auto part = [](std::int64_t a, std::int64_t b) {
      return b == 0 ? std::string("–") : percent_text(static_cast<double>(a) / static_cast<double>(b));
    };
    const auto name = [&](std::int64_t i) { return names[static_cast<std::size_t>(i)]; };
    for (const auto& [i, c] : classes)
      out_ << row_of({name(i), std::to_string(c.is), part(c.right, c.is), part(c.right, c.called),
                      c.with < 0 ? "" : name(c.with) + " (" + std::to_string(c.confused) + ")"},
                     "td", 1, 4);
  }

  /// Returns a sample as a channels-last image; undefined if the sample is no image.
  static Tensor image_of(const Tensor& input) {
    const auto channels = [](std::int64_t n) { return n == 1 || n == 3 || n == 4; };
    const Shape& shape = input.shape();
    if (shape.rank() == 2 && shape[0] == shape[1] && shape[0] >= 8)
      return input.alias({shape[0], shape[1], 1});
    if (shape.rank() != 3 || input.size() > 1 << 20) return {};
    if (backend::image_data_format() == "channels_first" && channels(shape[0]))
      return backend::permute_dimensions(input, {1, 2, 0});
    return channels(shape[2]) ? input : Tensor();
  }

  static std::string input_text(const Tensor& input) {
    constexpr std::size_t most = 5;
    const plot::Numbers numbers(input);
    std::string text;
    for (std::size_t i = 0; i < std::min(numbers.size(), most); ++i) text += number_text(numbers[i]) + ' ';
    return numbers.size() > most ? text + "… (" + std::to_string(numbers.size()) + ")" : text;
  }

  void write_guesses(const char* title, const std::vector<PredictedSample>& guesses,
                     const std::vector<std::string>& names) {
    if (guesses.empty()) return;
    out_ << "<div class=card style=\"margin-top:14px\"><h3>" << title << "</h3>\n<div class=samples>\n";
    for (const PredictedSample& guess : guesses) {
      const Tensor image = image_of(guess.input);
      const bool right = guess.truth == guess.predicted;
      const std::string &truth = names[static_cast<std::size_t>(guess.truth)],
                        &predicted = names[static_cast<std::size_t>(guess.predicted)];
      out_ << "<figure>";
      if (image.defined())
        out_ << "<img alt=\"" << escaped(truth) << "\" src=\""
             << plot::data_uri(data::encode_png(plot::pixels_at(plot::pixels_of("Report", image), 0)))
             << "\">";
      else out_ << "<span class=muted>" << escaped(input_text(guess.input)) << "</span>";
      out_ << "<figcaption><span class=" << (right ? "right-guess" : "wrong") << '>' << escaped(predicted)
           << "</span> " << percent_text(guess.confidence);
      if (!right) out_ << "<br>is " << escaped(truth);
      out_ << "</figcaption></figure>\n";
    }
    out_ << "</div></div>\n";
  }

  void write_numbers(const PredictionReport& review) {
    out_ << heading(review) << "<div class=grid>\n"
         << picture(plot::scatter({{"", review.predictions(), review.truths()}},
                                  {.title = "Predictions against targets",
                                   .x = {.label = "target"},
                                   .y = {.label = "prediction"},
                                   .width = 420,
                                   .height = 320}))
         << "</div>\n";
  }

  // --- Model ----------------------------------------------------------------------------------------------

  void write_model() {
    out_ << "<h2>Model</h2>\n";
    write_model(run_.model);
  }

  /// Writes the table of layers with the drawing of the graph, then the tables of nested models.
  void write_model(const Model& model) {
    constexpr double most_height = 820;
    std::vector<std::string> columns;
    if (!model.impl().outputs().empty())
      columns = model_to_svg_columns(
          model, most_height,
          {.show_shapes = true, .show_layer_names = true, .show_layer_activations = true});
    const bool beside = columns.size() == 1;
    out_ << "<div class=\"model " << (beside ? "grid wide" : "stack") << "\">\n";
    write_layers(model);
    if (!columns.empty()) {
      out_ << "<div class=\"card columns\">\n";
      for (const std::string& column : columns) out_ << column;
      out_ << "</div>\n";
    }
    out_ << "</div>\n";
    for (const Layer& layer : model.layers())
      if (dynamic_cast<const ModelImpl*>(&layer.impl())) write_model(Model(layer));
  }

  void write_layers(const Model& model) {
    const SummaryTable table = summary_table(model);
    out_ << "<div class=card><h3>" << escaped(model.name()) << "</h3><div class=scroll><table>\n"
         << row_of(table.titles, "th", 2, 3);
    for (const std::vector<std::string>& row : table.rows) out_ << row_of(row, "td", 2, 3);
    out_ << "</table></div>\n<table class=totals>\n";
    for (const auto& [what, count, bytes] : table.totals) out_ << pair_row(what, count + " (" + bytes + ")");
    out_ << "</table></div>\n";
  }

  // --- Training -------------------------------------------------------------------------------------------

  /// Formats a value for readers: short numbers, lists with commas, an object as its class and, line by line,
  /// its arguments.
  static std::string text_of(const Value& value) {
    if (value.is_string()) return value.string();
    if (value.is_boolean()) return value.boolean() ? "true" : "false";
    if (value.is_number()) return number_text(value.number());
    std::string text;
    if (value.is_list()) {
      for (const Value& item : value.list()) text += (text.empty() ? "" : ", ") + text_of(item);
    } else if (value.is_config() && value.config().contains("class_name")) {
      text = text_of(value.config().at("class_name"));
      const Value arguments = value.config().get("config");
      if (arguments.is_config() && !arguments.config().empty()) text += '\n' + text_of(arguments);
    } else if (value.is_config()) {
      for (const auto& [name, item] : value.config())
        if (name != "name" && !item.is_null())
          text += (text.empty() ? "" : "\n") + name + ": " + text_of(item);
    }
    return text;
  }

  template <class T, class F>
  static std::string per_output(const PerOutput<T>& values, F text_of) {
    std::string text;
    for (const auto& [output, value] : values.values())
      text += (text.empty() ? "" : "\n") + (output.empty() ? "" : output + ": ") + text_of(value);
    return text;
  }

  static std::string metric_names(const OutputMetrics& metrics) {
    const auto joined = [](const MetricList& list) {
      std::string text;
      for (const Metric& metric : list) text += (text.empty() ? "" : ", ") + metric.name();
      return text;
    };
    std::string text = joined(metrics.all());
    for (const MetricList& list : metrics.by_output()) text += (text.empty() ? "" : "\n") + joined(list);
    for (const auto& [output, list] : metrics.by_name())
      text += (text.empty() ? "" : "\n") + output + ": " + joined(list);
    return text;
  }

  void write_training() {
    const CompileOptions& options = run_.model.impl().trainer().options();
    const Optimizer& optimizer = run_.model.optimizer();
    out_ << "<h2>Training</h2>\n<div class=\"grid wide\">\n<div class=card><h3>Compiled with</h3><table>\n";
    out_ << pair_row("loss", per_output(options.loss, [](const Loss& loss) {
                       return loss.defined() ? loss.name() : std::string("none");
                     }));
    if (options.loss_weights.form() != PerOutput<double>::Empty)
      out_ << pair_row("loss_weights", per_output(options.loss_weights, number_text));
    if (const std::string metrics = metric_names(options.metrics); !metrics.empty())
      out_ << pair_row("metrics", metrics);
    if (const std::string weighted = metric_names(options.weighted_metrics); !weighted.empty())
      out_ << pair_row("weighted_metrics", weighted);
    out_ << pair_row("epochs", std::to_string(run_.parameters.epochs));
    if (run_.parameters.steps) out_ << pair_row("steps in an epoch", std::to_string(*run_.parameters.steps));
    out_ << "</table></div>\n<div class=card><h3>" << escaped(optimizer.class_name()) << "</h3><table>\n";
    for (const auto& [name, value] : optimizer.get_config())
      if (name != "name" && !value.is_null()) out_ << pair_row(name, text_of(value));
    out_ << "</table></div>\n</div>\n";
  }

  const Run& run_;
  std::size_t epochs_;
  std::ostringstream out_;
};

}  // namespace

std::string report_page(const Run& run) { return Page(run).str(); }

}  // namespace ktape::nn
