#pragma once
#include "../golden_runner/call.hpp"

namespace golden_ops {

using golden::Array, golden::Call, golden::Named, golden::Value, golden::Results;
using ktape::Axes, ktape::DType, ktape::Shape, ktape::Tensor;

/// A slice of an output along an axis, counted from the end.
struct Slices {
  std::size_t output;
  int axis;
};

/// One case of a file; tests/golden_ops/README.md says what the parts mean.
struct Case {
  std::string family, id, op;
  Named inputs;
  std::map<std::string, Value> attributes;
  std::vector<Array> outputs;
  std::vector<std::optional<Array>> cotangents;
  Named gradients;
  std::set<std::size_t> squared;                ///< the outputs that are squared before they are weighted
  std::vector<std::vector<Slices>> up_to_sign;  ///< groups of slices that change sign together
  std::set<std::string> tags;
  double rtol = 0, atol = 0;
  bool error = false;
};

/// Reads every *.json of the folder, sorted by name. Throws std::runtime_error, with the case, for anything that the
/// format does not know.
std::vector<Case> read_cases(const std::filesystem::path& folder);

/// How each function of the files is called.
using Table = std::map<std::string, std::function<Results(const Call&)>>;

}  // namespace golden_ops
