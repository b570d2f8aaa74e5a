#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/nn/callbacks/internal/monitor.hpp>

#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

namespace ktape::nn {

Monitor::Monitor(const char* callback, std::string name, const std::string& mode, double min_delta)
    : callback_(callback), name_(std::move(name)), min_delta_(std::abs(min_delta)) {
  if (mode != "auto" && mode != "min" && mode != "max")
    fail("[", callback, "] mode must be auto, min or max: received mode=", mode);
  const auto names = [&](const char* part) { return name_.find(part) != std::string::npos; };
  grows_ = mode == "max" || (mode == "auto" && (names("acc") || names("auc") || names("precision") ||
                                                names("recall") || names("f1") || names("iou")));
  forget();
}

void Monitor::forget() {
  begin();
  best_ = grows_ ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

std::optional<double> Monitor::read(const Logs& logs, const CallbackImpl& callback) {
  if (logs.contains(name_)) return logs.at(name_);
  if (std::exchange(warned_, true)) return {};
  std::vector<std::string> names;
  for (const auto& [name, value] : logs) names.push_back(name);
  std::ostringstream text;
  text << '[' << callback_ << "] the logs must hold the monitored '" << name_ << "': received " << logs
       << suggestion(name_, names);
  callback.warn(text.str());
  return {};
}

bool Monitor::better(double value, double than) const {
  return grows_ ? value > than + min_delta_ : value < than - min_delta_;
}

bool Monitor::improved(double value) {
  if (!better(value, best_)) return false;
  best_ = value;
  return true;
}

}  // namespace ktape::nn
