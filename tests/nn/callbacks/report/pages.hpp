#pragma once
#include <ktape/ktape.hpp>

#include <fstream>

#include "../../data/files.hpp"
#include "../../plot/drawings.hpp"

/// For the tests of reports: trainings that learn nothing, and their pages.

inline std::string page_in(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

/// Returns a model that multiplies its input by a weight, so that its predictions are known.
inline ktape::nn::Sequential same(const ktape::nn::ModelOptions& options = {}) {
  return ktape::nn::Sequential(
      {ktape::nn::Rescaling(1.0),
       ktape::nn::Dense(3, {.use_bias = false, .kernel_initializer = "identity", .name = "identity"})},
      options);
}

/// Trains on nothing new, and reports.
inline std::string report_of(const ktape::nn::Model& model, const ktape::nn::CompileOptions& compiled,
                             const ktape::Tensor& x, const ktape::Tensor& y,
                             const ktape::nn::ReportOptions& options = {}) {
  const Files files;
  const std::string path = files.folder() + "/run/report.html";
  model.compile(compiled);
  model.fit(x, y,
            {.epochs = 2,
             .verbose = 0,
             .callbacks = {ktape::nn::Report(path, options)},
             .validation_data = {x, y}});
  return page_in(path);
}

/// Learns nothing.
inline ktape::nn::CompileOptions still() {
  return {
      .optimizer = ktape::nn::SGD(0.0), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}};
}
