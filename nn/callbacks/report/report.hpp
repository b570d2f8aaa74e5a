#pragma once
#include <ktape/nn/training/callback.hpp>

namespace ktape::nn {

struct ReportOptions {
  std::string title = {};  ///< the model's name by default
  std::vector<std::string> class_names =
      {};            ///< names of classes, for outputs with this number of classes; 0, 1, 2, ... by default
  int samples = 12;  ///< the largest number of predictions, and of mistakes, in the report
};

/// Writes an HTML page about the training: a summary, the curves of all reported values, the model and its
/// layers, times, and the arguments of `compile`. For a classifier with validation data, the page shows the
/// confusion matrix, the classes, some predictions and the worst mistakes, with the images if inputs are
/// images. For a model that predicts a number, the page shows predictions against targets.
///
///     model.fit(train, {.epochs = 12, .callbacks = {nn::Report("report.html")}, .validation_data = test});
///
/// The page is one file without scripts that needs no network. The file exists from the beginning of the
/// training and is rewritten after epochs, at most every 2 seconds; browsers reload the page. Predictions are
/// added at the end, from another pass over the validation data with the final weights (EarlyStopping before
/// this callback may restore the best weights). The file is complete at any time: a new page replaces the old
/// page at once. Missing folders are created.
///
/// Throws ValueError for a name that does not end in ".html" or ".htm" and negative samples, at once, and,
/// when the training begins, for class_names whose number is not the number of classes of any output. Throws
/// IOError if the file cannot be written.
///
///     nn::Sequential model({nn::Dense(1)});
///     model.compile({.loss = "mse"});
///     model.fit(K::ones({8, 2}), K::ones({8, 1}),
///               {.epochs = 2,
///                .verbose = 0,
///                .callbacks = {nn::Report("report.html", {.title = "First run"})}});
///     std::string page = data::load_text("report.html");
///     std::cout << page.substr(page.find("<title>"), 24);
class Report : public Callback {
 public:
  explicit Report(const std::string& path, const ReportOptions& options = {});
};

}  // namespace ktape::nn
