#pragma once
#include <string>
#include <vector>

/// Names in human text: names of classes, arguments and layers.
namespace ktape::nn {

/// Returns Keras's default name for an object of a class: "conv2d_transpose" for "Conv2DTranspose".
std::string to_snake_case(const std::string& class_name);

/// Returns a list of names for a message: "'a', 'b' and 'c'".
std::string in_quotes(const std::vector<std::string>& names, const std::string& before_last = " and ");

/// Returns the end of a message about an unknown name: the known names with a similar spelling, "; did you
/// mean 'relu' or 'relu6'?", or all known names if there are few.
std::string suggestion(const std::string& unknown, const std::vector<std::string>& known);

}  // namespace ktape::nn
