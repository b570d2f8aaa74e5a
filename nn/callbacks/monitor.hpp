#pragma once
#include <ktape/nn/callbacks/callback.hpp>
#include <ktape/nn/state.hpp>

#include <optional>

namespace ktape::nn {

/// A number among the logs, and whether it gets better. Internal: sources only.
class Monitor {
 public:
  /// `mode`: "min", "max" or, with "auto", which of them the name suggests. Throws ValueError, naming the
  /// callback, for another one.
  Monitor(const char* callback, std::string name, const std::string& mode, double min_delta = 0);

  /// A training begins, which is to be warned of a number that is missing.
  void begin() { warned_ = false; }
  /// The same, and any value is better than what has been so far.
  void forget();
  /// What a value must be better than.
  double best() const { return best_; }
  void set_best(double best) { best_ = best; }

  /// The number; none where it is not reported, of which the callback warns once in a training.
  std::optional<double> read(const Logs& logs, const CallbackImpl& callback);
  bool better(double value, double than) const;
  /// Whether the value is the best so far, which it then becomes.
  bool improved(double value);

  const std::string& name() const { return name_; }
  void state(State& state) { state("best", best_); }

 private:
  const char* callback_;
  std::string name_;
  double min_delta_, best_ = 0;
  bool grows_ = false, warned_ = false;
};

}  // namespace ktape::nn
