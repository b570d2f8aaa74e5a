#pragma once
#include <ktape/nn/core/pattern.hpp>
#include <ktape/nn/models/options.hpp>
#include <ktape/nn/saving/base/weights.hpp>

/// Rules for names that other programs give to weights. Internal: sources only.
namespace ktape::nn::saving {

/// Returns the regular expression of a rule. Throws ValueError, naming the op and its option, for a pattern
/// that is malformed.
Pattern pattern_of(const char* op, const char* option, const WeightName& rule);

/// Returns the tensors that a rule matches, under the names of the model's weights and transposed as the rule
/// says. Throws ValueError, naming the file, for a pattern that is not a regular expression, a transposition
/// that does not fit the tensor and for two tensors with one name.
NamedTensors renamed(const std::string& path, const NamedTensors& tensors,
                     const std::vector<WeightName>& names);

}  // namespace ktape::nn::saving
