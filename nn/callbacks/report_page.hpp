#pragma once
#include <ktape/nn/callbacks/review.hpp>

/// The page of a Report. Internal: sources only.
namespace ktape::nn {

struct Run {
  std::string title, began;  ///< when: a date
  Model model;
  History history = {};
  RunParameters parameters = {};
  std::vector<std::string> class_names = {};
  std::vector<double> seconds = {};  ///< of the epochs
  bool ended = false;
  std::vector<Review> reviews = {};
};

/// HTML, whole and by itself.
std::string report_page(const Run& run);

}  // namespace ktape::nn
