#include <ktape/autograd/base/error.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/settings/engine.hpp>
#include <ktape/ops/settings/internal/config_file.hpp>

#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>

namespace ktape::backend {
namespace {

/// The settings of config files and setters. Never destroyed: destructors of static objects may still use
/// them.
struct Settings {
  std::atomic<bool> loaded{false};
  std::mutex loading;
  std::atomic<DType> floatx{DType::Float32};
  std::atomic<double> epsilon{1e-7};
  std::atomic<bool> channels_first{false};
  std::string engine;  // set once, before `loaded` becomes true
};

void load(Settings& settings) {
  const std::lock_guard lock(settings.loading);
  if (settings.loaded.load(std::memory_order_relaxed)) return;
  const Config config = load_config();
  settings.floatx = config.floatx;
  settings.epsilon = config.epsilon;
  settings.channels_first = config.image_data_format == "channels_first";
  settings.engine = config.backend.empty() ? engines().front() : config.backend;
  settings.loaded.store(true, std::memory_order_release);
}

Settings& settings() {
  static Settings& instance = *new Settings;
  if (!instance.loaded.load(std::memory_order_acquire)) load(instance);
  return instance;
}

struct Uids {
  std::mutex lock;
  std::map<std::string, int, std::less<>> counts;
};

Uids& uids() {
  static Uids& instance = *new Uids;
  return instance;
}

std::atomic<int> phase{0};
std::atomic<bool> manual_initialization{false}, same_for_all_threads{false};
thread_local std::string scope_prefix;

thread_local int scope_phase = -1;  // the phase of this thread's innermost scope; -1 without a scope

int checked_phase(const char* op, int value) {
  if (value != 0 && value != 1)
    fail("[", op, "] the learning_phase must be 0 (test) or 1 (train): received value=", value);
  return value;
}

}  // namespace

std::string configured_backend() { return settings().engine; }

std::string backend() { return op_helpers::engine().name(); }

double epsilon() { return settings().epsilon.load(std::memory_order_relaxed); }

void set_epsilon(double value) {
  if (!std::isfinite(value) || value <= 0)
    fail("[set_epsilon] epsilon must be finite and above 0: received value=", value);
  settings().epsilon = value;
}

DType floatx() { return settings().floatx.load(std::memory_order_relaxed); }

void set_floatx(std::string_view name) {
  if (name != "float16" && name != "bfloat16" && name != "float32" && name != "float64")
    fail("[set_floatx] floatx must be 'float16', 'bfloat16', 'float32' or 'float64': received value='", name,
         "'");
  settings().floatx = DType(name);
}

std::string image_data_format() { return settings().channels_first ? "channels_first" : "channels_last"; }

void set_image_data_format(std::string_view data_format) {
  if (data_format != "channels_first" && data_format != "channels_last")
    fail(
        "[set_image_data_format] the format must be 'channels_first' or 'channels_last': received "
        "data_format='",
        data_format, "'");
  settings().channels_first = data_format == "channels_first";
}

int get_uid(std::string_view prefix) {
  const std::lock_guard lock(uids().lock);
  const auto found = uids().counts.find(prefix);
  return found != uids().counts.end() ? ++found->second : uids().counts.emplace(prefix, 1).first->second;
}

void reset_uids() {
  const std::lock_guard lock(uids().lock);
  uids().counts.clear();
}

LearningPhase learning_phase() {
  return LearningPhase(scope_phase >= 0 ? scope_phase : phase.load(std::memory_order_relaxed));
}
void set_learning_phase(int value) {
  if (scope_phase >= 0) scope_phase = checked_phase("set_learning_phase", value);
  else phase = checked_phase("set_learning_phase", value);
}
learning_phase_scope::learning_phase_scope(int value)
    : before_(std::exchange(scope_phase, checked_phase("learning_phase_scope", value))) {}
learning_phase_scope::~learning_phase_scope() { scope_phase = before_; }

void clear_session() {
  reset_uids();
  phase = 0;
  if (scope_phase >= 0) scope_phase = 0;
}

void manual_variable_initialization(bool value) { manual_initialization = value; }
bool manual_variable_initialization() { return manual_initialization.load(std::memory_order_relaxed); }

void set_deterministic(bool value) { same_for_all_threads = value; }
bool deterministic() { return same_for_all_threads.load(std::memory_order_relaxed); }

name_scope::name_scope(std::string_view name) : before_(scope_prefix) {
  if (name.empty() || name.back() == '/') scope_prefix = name;
  else (scope_prefix += name) += '/';
}
name_scope::~name_scope() { scope_prefix.swap(before_); }

std::string current_name_scope() { return scope_prefix; }

Session get_session(const TensorList&) { return {}; }
void set_session(Session) {}

}  // namespace ktape::backend
