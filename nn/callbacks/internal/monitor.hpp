#pragma once
#include <ktape/nn/core/archive.hpp>
#include <ktape/nn/training/callback.hpp>

#include <optional>

namespace ktape::nn {

/// A value of the logs whose improvement a callback watches. Internal: sources only.
class Monitor {
 public:
  /// Watches the number with a name in the logs. `mode` is "min", "max" or "auto", which chooses by the name.
  /// Throws ValueError, naming the callback, for another mode.
  Monitor(const char* callback, std::string name, const std::string& mode, double min_delta = 0);

  /// Begins a training, in which a missing value causes one warning.
  void begin() { warned_ = false; }
  /// Begins a training and forgets the best value.
  void forget();
  /// Returns the best value so far, or the threshold that the first value must beat.
  double best() const { return best_; }
  void set_best(double best) { best_ = best; }

  /// Returns the watched value; none, with one warning in a training, if the logs lack it.
  std::optional<double> read(const Logs& logs, const CallbackImpl& callback);
  bool better(double value, double than) const;
  /// Returns whether the value beats the best so far, and then keeps it as the best.
  bool improved(double value);

  const std::string& name() const { return name_; }
  void state(Archive& state) { state("best", best_); }

 private:
  const char* callback_;
  std::string name_;
  double min_delta_, best_ = 0;
  bool grows_ = false, warned_ = false;
};

}  // namespace ktape::nn
