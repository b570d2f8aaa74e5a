#pragma once
#include <ktape/autograd/tensor.hpp>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "../reference/reference.hpp"

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// Returns a random number of 0, 1, ..., n - 1.
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n));
  }
  bool chance(double p) { return static_cast<double>(engine_() >> 11) * 0x1p-53 < p; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(list.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

/// The form of the inputs: constants, variables (then gradients are compared, too), or placeholders of a
/// function, of known shape or of unknown extents.
enum class Inputs { Constants, Variables, Placeholders, UnknownExtents };

/// A call of an op, and its reference result.
struct OpCall {
  using Tensors = std::vector<ktape::Tensor>;
  using Arrays = std::vector<reference::Array>;

  std::string op;         ///< the name in its errors
  std::string part = {};  ///< other names that the error may have, of ops inside the call
  std::string arguments;  ///< the arguments that are not tensors, as text for reports
  Tensors inputs;
  std::function<ktape::Tensor(const Tensors&)> run;
  std::function<reference::Array(const Arrays&)> wanted;
  double terms = 0;        ///< the size of the terms of one element, whose rounding errors are in the result
  bool fits = true;        ///< false: an error that names the op is also right
  bool any_value = false;  ///< whether the reference holds for NaN and infinities, too
  Inputs least_known = Inputs::UnknownExtents;  ///< the last form of inputs that the op supports
};
using MakeCall = OpCall (*)(Random&);

/// Returns a random op with random arguments, some of which do not fit.
OpCall random_call(Random& random);

// Return the calls of a family, each in a file of that name.
std::vector<MakeCall> image_calls();
std::vector<MakeCall> layer_calls();
std::vector<MakeCall> lookup_calls();
std::vector<MakeCall> loop_calls();
std::vector<MakeCall> more_calls();
