#pragma once
#include <ktape/nn/core/class_registry.hpp>
#include <ktape/nn/optimizers/optimizer.hpp>

/// Helpers for the sources of the optimizers. Internal: sources only.
namespace ktape::nn {

/// Calls f with the fields that the option structs of all optimizers share.
template <class Options, class F>
void shared_fields(Options& o, F&& field) {
  field("name", o.name);
  field("learning_rate", o.learning_rate);
  field("weight_decay", o.weight_decay);
  field("clipnorm", o.clipnorm);
  field("global_clipnorm", o.global_clipnorm);
  field("clipvalue", o.clipvalue);
  field("use_ema", o.use_ema);
  field("ema_momentum", o.ema_momentum);
  field("ema_overwrite_frequency", o.ema_overwrite_frequency);
  field("loss_scale_factor", o.loss_scale_factor);
  field("gradient_accumulation_steps", o.gradient_accumulation_steps);
}

template <class F>
void fields(OptimizerOptions& o, F&& field) {
  shared_fields(o, field);
}

/// Returns the shared part of an optimizer's options.
template <class Options>
OptimizerOptions shared(const Options& o, const char* name) {
  return {o.learning_rate,
          o.weight_decay,
          o.clipnorm,
          o.clipvalue,
          o.global_clipnorm,
          o.use_ema,
          o.ema_momentum,
          o.ema_overwrite_frequency,
          o.loss_scale_factor,
          o.gradient_accumulation_steps,
          o.name.empty() ? name : o.name};
}

/// The base of the library's Impl classes; Options is the struct of options of an optimizer.
template <class Options>
class OptimizerWith : public OptimizerImpl {
 public:
  OptimizerWith(const char* class_name, const char* name, const Options& options)
      : OptimizerImpl(class_name, shared(options, name)), own_(options) {}

  Config get_config() const override {
    Config config = OptimizerImpl::get_config();
    Config all = config_of(own_);
    for (const std::string& shared : config.names()) all.erase(shared);
    config.update(all);
    return config;
  }

 protected:
  const Options& own() const { return own_; }
  /// Throws ValueError unless the option is in [0, 1).
  void expect_fraction(const char* option, double value) const {
    if (!(value >= 0 && value < 1))
      fail("[", class_name(), "] ", option, " must be in [0, 1): received ", option, '=', value);
  }

 private:
  Options own_;
};

}  // namespace ktape::nn
