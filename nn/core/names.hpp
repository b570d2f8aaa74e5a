#pragma once
#include <string>
#include <vector>

/// Names as people write them: of classes, arguments and layers.
namespace ktape::nn {

/// Keras's name for an object of a class: "Conv2DTranspose" is "conv2d_transpose".
std::string to_snake_case(const std::string& class_name);

/// Names in a message: "'a', 'b' and 'c'".
std::string in_quotes(const std::vector<std::string>& names, const std::string& before_last = " and ");

/// What to say behind an unknown name: the known ones that are spelled alike, "; did you mean 'relu' or
/// 'relu6'?", or else, where there are few, all of them.
std::string suggestion(const std::string& unknown, const std::vector<std::string>& known);

}  // namespace ktape::nn
