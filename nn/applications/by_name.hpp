#pragma once
#include <ktape/nn/applications/application.hpp>

#include <vector>

/// The applications by name, for programs whose users choose the model.
namespace ktape::nn::applications {

struct Application {
  std::string name;         ///< the name of its function: "ResNet50"
  std::int64_t image_size;  ///< height and width of the images that the published weights are for
  Model (*make)(const ApplicationOptions& options);
  Tensor (*preprocess_input)(const Tensor& images, const std::string& data_format);
};

/// Returns all applications.
///
///     for (const auto& application : nn::applications::all_applications())
///       std::cout << application.name << " ";
const std::vector<Application>& all_applications();
/// Returns an application by its name. Throws ValueError, with the nearest known names, for an unknown name.
///
///     nn::Model model = nn::applications::application("MobileNetV3Small")
///                           .make({.input_shape = {64, 64, 3}, .classes = 10});
///     std::cout << model.count_params();
const Application& application(const std::string& name);

}  // namespace ktape::nn::applications
