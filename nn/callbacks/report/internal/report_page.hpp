#pragma once
#include <ktape/nn/callbacks/report/internal/prediction_report.hpp>

/// The page of a Report. Internal: sources only.
namespace ktape::nn {

struct Run {
  std::string title, began;  ///< the title of the page; the date at which the training began
  Model model;
  History history = {};
  RunParameters parameters = {};
  std::vector<std::string> class_names = {};
  std::vector<double> seconds = {};  ///< duration of each epoch
  bool ended = false;
  std::vector<PredictionReport> reviews = {};
};

/// Returns the page as one HTML document without external parts.
std::string report_page(const Run& run);

}  // namespace ktape::nn
