#pragma once
#include <ktape/autograd/variable.hpp>
#include <ktape/nn/core/object.hpp>
#include <ktape/nn/optimizers/schedules.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ktape::op_helpers {
struct Preparation;
}

namespace ktape::nn {

class ProcessGroup;
struct RowGradient;

/// The options that all optimizers of Keras take.
struct OptimizerOptions {
  LearningRate learning_rate = 0.001;
  std::optional<double> weight_decay = {};     ///< w -= w * weight_decay * learning_rate before each update
  std::optional<double> clipnorm = {};         ///< the largest norm of each gradient
  std::optional<double> clipvalue = {};        ///< the largest absolute value of an element
  std::optional<double> global_clipnorm = {};  ///< the largest norm of all gradients together
  bool use_ema = false;                        ///< keeps moving averages of the variables
  double ema_momentum = 0.99;
  std::optional<int> ema_overwrite_frequency =
      {};  ///< the number of updates after which averages replace the variables
  std::optional<double> loss_scale_factor = {};         ///< the loss has this factor; gradients are divided
  std::optional<int> gradient_accumulation_steps = {};  ///< the number of gradients whose mean an update uses
  std::string name = {};
};

/// The description of a state variable that an optimizer keeps for a variable, in the variable's dtype.
///
///     struct MomentumImpl : nn::OptimizerImpl {
///       MomentumImpl() : nn::OptimizerImpl("Momentum", {.learning_rate = 0.1}) {}
///       std::vector<nn::StateOptions> state_of(const Variable&) const override {
///         return {{.name = "velocity"}};
///       }
///       void update_step(const Tensor& g, Variable w,
///                        const nn::OptimizerStep& step) override {
///         Variable velocity = step.state[0];
///         K::update(velocity, velocity * 0.9 + g);
///         K::update_sub(w, velocity * step.learning_rate);
///       }
///     };
///     nn::OptimizerOf<MomentumImpl> optimizer;
///     Variable w = K::variable({1.f});
///     for (int step = 0; step < 2; ++step) optimizer.apply({K::constant({1.})}, {w});
///     std::cout << w;
struct StateOptions {
  std::string name;
  double initial_value = 0;
  OptionalShape shape = {};  ///< the default is the variable's shape
};

/// The data that an optimizer needs to update a variable.
struct OptimizerStep {
  std::span<const Variable> state;  ///< the variable's state, in the order of `state_of`
  double learning_rate;
  double number;  ///< the number of the update, counted from 1
};

/// The base class of optimizers. A user's optimizer names its state and defines the update of a variable:
///
///     struct SignImpl : nn::OptimizerImpl {
///       SignImpl() : nn::OptimizerImpl("Sign", {.learning_rate = 0.01}) {}
///       void update_step(const Tensor& g, Variable w, const nn::OptimizerStep& step) override {
///         K::update_sub(w, step.learning_rate * K::sign(g));
///       }
///     };
///     using Sign = nn::OptimizerOf<SignImpl>;
///
/// For example:
///
///     struct SignImpl : nn::OptimizerImpl {
///       SignImpl() : nn::OptimizerImpl("Sign", {.learning_rate = 0.01}) {}
///       void update_step(const Tensor& g, Variable w,
///                        const nn::OptimizerStep& step) override {
///         K::update_sub(w, step.learning_rate * K::sign(g));
///       }
///     };
///     nn::OptimizerOf<SignImpl> optimizer;
///     Variable w = K::variable({1.f});
///     optimizer.apply({K::constant({5.})}, {w});
///     std::cout << w;
class OptimizerImpl : public Object {
 public:
  static constexpr const char* kind = "optimizer";
  /// Throws ValueError for options that contradict each other or are out of range.
  OptimizerImpl(std::string class_name, OptimizerOptions options);

  std::string class_name() const override { return class_name_; }
  /// Returns the options, with the current learning rate. A class with further options appends these options.
  Config get_config() const override;

  /// Returns the descriptions of the state variables for a variable.
  virtual std::vector<StateOptions> state_of(const Variable& variable) const;
  /// Changes the variable by a gradient that is already unscaled and clipped. The tape records nothing.
  virtual void update_step(const Tensor& gradient, Variable variable, const OptimizerStep& step);

  // An optimizer that wraps another optimizer overrides the functions that are virtual.
  virtual void build(const std::vector<Variable>& variables);
  virtual void apply(const std::vector<RowGradient>& gradients, const std::vector<Variable>& variables);
  void apply(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables);
  /// Applies gradients of a loss with the factor `scale`, in place of loss_scale_factor.
  void apply_scaled(const std::vector<RowGradient>& gradients, const std::vector<Variable>& variables,
                    double scale);
  virtual void exclude_from_weight_decay(const std::vector<Variable>& variables,
                                         const std::vector<std::string>& names);
  virtual void finalize_variable_values();
  /// Returns the factor of losses whose gradients `apply` takes.
  virtual double loss_scale() const { return options_.loss_scale_factor.value_or(1); }

  const std::string& name() const { return options_.name; }
  virtual const OptimizerOptions& options() const { return options_; }
  virtual Variable learning_rate() const;
  virtual void set_learning_rate(const LearningRate& rate);
  std::int64_t calls() const;    ///< the number of calls of `apply`
  std::int64_t updates() const;  ///< the number of updates of the variables
  virtual Variable iterations() const { return iterations_; }
  virtual std::vector<Variable> variables() const;
  /// Returns whether the state of the variables exists.
  virtual bool built() const { return !slots_.empty(); }
  /// Returns the variables whose state exists, in the order of the first `apply`.
  virtual std::vector<Variable> built_for() const;
  /// Returns whether a variable is left out of weight decay, by itself or by a word in its name.
  virtual bool excluded(const Variable& variable) const;
  virtual const std::vector<std::string>& excluded_names() const { return excluded_names_; }

  /// Returns the group of processes that average each gradient, see nn/distributed; null without a group.
  virtual ProcessGroup* process_group() const { return group_.get(); }
  virtual void set_process_group(std::shared_ptr<ProcessGroup> process_group) {
    group_ = std::move(process_group);
  }

 protected:
  /// Changes the variable as `update_step` does, but by a gradient that still has to be scaled, clipped, and
  /// expanded from single rows; `how` describes these steps and the weight decay. The default does these
  /// steps first and then calls `update_step`.
  virtual void fused_step(const Tensor& gradient, Variable variable, const op_helpers::Preparation& how,
                          const OptimizerStep& step);
  /// Returns whether the update of an element whose gradient is 0 changes nothing, so that the rows of a
  /// table that were not looked up can be left out.
  virtual bool ignores_zeros() const { return false; }
  /// Prepares the updates of an `apply`; called once before the first. `number` is the number of the update,
  /// from 1.
  virtual void start_updates(double number);
  /// Adds a variable that serves all weights; `variables()` lists it after the states of the weights.
  Variable add_variable(const std::string& name, const Tensor& value);

 private:
  struct Slot {
    Variable variable, average, accumulator;
    std::vector<Variable> state;
    bool decays = true;
  };
  struct Gradient {
    Slot* slot;
    Tensor value, rows;
    double scale;
  };

  Slot make_slot(const Variable& variable);
  Slot& slot_of(const Variable& variable, std::size_t position);
  std::vector<Gradient> checked(const std::vector<RowGradient>& gradients,
                                const std::vector<Variable>& variables, double loss_scale);
  bool accumulate(std::vector<Gradient>& gradients);
  void clip(std::vector<Gradient>& gradients) const;
  void update(const std::vector<Gradient>& gradients);
  void average();

  std::string class_name_;
  OptimizerOptions options_;
  Variable iterations_, learning_rate_;
  std::vector<Slot> slots_;
  std::vector<Variable> more_;
  std::vector<Variable> excluded_;
  std::vector<std::string> excluded_names_;
  std::shared_ptr<ProcessGroup> group_;
  bool warned_ = false;
};

/// An optimizer changes variables so that a loss gets smaller. `compile` accepts a name ("adam") or an
/// object.
///
///     nn::Adam optimizer(0.01);
///     optimizer.apply(K::gradients(loss, weights), weights);
///
/// For example:
///
///     nn::Optimizer optimizer = "adam";
///     Variable w = K::variable({1.f});
///     optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
///     std::cout << w;
class Optimizer : public Handle<OptimizerImpl> {
 public:
  Optimizer() = default;
  Optimizer(NoneType) {}
  /// Makes the optimizer of a name. Throws ValueError, with the nearest known names, for an unknown name.
  Optimizer(const char* name) : Optimizer(Value(name)) {}
  Optimizer(const std::string& name) : Optimizer(Value(name)) {}
  explicit Optimizer(const Value& value) : Handle(made(value)) {}
  explicit Optimizer(std::shared_ptr<OptimizerImpl> impl) : Handle(std::move(impl)) {}

  /// Updates the variables once: gradients are divided by loss_scale_factor and clipped, weights decay, each
  /// variable is updated, the moving averages follow, and the constraints of the variables are applied. A
  /// variable whose gradient is undefined stays unchanged. Throws ValueError, before anything changes, for a
  /// gradient whose shape is not the variable's, if all gradients are undefined, and for variables that were
  /// not part of the first call; TypeError for variables that are not floating. Mirrors
  /// `keras.Optimizer.apply`.
  void apply(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables) const {
    impl().apply(gradients, variables);
  }
  /// Applies pairs of a gradient and its variable. Mirrors `keras.Optimizer.apply_gradients`.
  void apply_gradients(const std::vector<std::pair<Tensor, Variable>>& gradients_and_variables) const;
  void apply_gradients(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables) const {
    apply(gradients, variables);
  }
  /// Computes the gradients of scale_loss(loss) and applies them. If the loss uses a table only by lookups of
  /// some rows (nn::Embedding, `K::gather`), the gradient of the table is kept as the gradients of these
  /// rows. The results are equal to the results of `apply`: a row that was not looked up has the gradient 0,
  /// as in Keras. If weights do not decay, SGD without momentum and Adagrad skip rows that were not looked
  /// up: the time of an update does not grow with the table. Mirrors `tf.keras`'s `minimize`.
  void minimize(const Tensor& loss, const std::vector<Variable>& variables) const;
  /// Makes the state for these variables. The first `apply` calls `build` if the state does not exist.
  void build(const std::vector<Variable>& variables) const { impl().build(variables); }
  /// Returns the loss times loss_scale_factor; the gradients for `apply` are computed from this product.
  Tensor scale_loss(const Tensor& loss) const;

  const std::string& name() const { return impl().name(); }
  /// Returns the current learning rate. Setting this variable sets the rate, unless the rate follows a
  /// schedule.
  Variable learning_rate() const { return impl().learning_rate(); }
  /// Sets the learning rate. Throws TypeError for a number if the rate follows a schedule.
  void set_learning_rate(const LearningRate& rate) const { impl().set_learning_rate(rate); }
  /// Returns how often `apply` was called.
  Variable iterations() const { return impl().iterations(); }
  /// Returns the number of calls, the learning rate, and the state of each variable, in Keras's order.
  std::vector<Variable> variables() const { return impl().variables(); }
  /// Excludes variables from weight decay: the given variables, and variables whose name contains one of the
  /// words. Throws ValueError if the optimizer is already built.
  void exclude_from_weight_decay(const std::vector<Variable>& variables,
                                 const std::vector<std::string>& names = {}) const {
    impl().exclude_from_weight_decay(variables, names);
  }
  /// Assigns the averages to the variables if use_ema is set.
  void finalize_variable_values() const { impl().finalize_variable_values(); }
};

/// A handle to an optimizer class of a user.
template <class Implementation>
using OptimizerOf = HandleOf<Optimizer, Implementation>;

}  // namespace ktape::nn
