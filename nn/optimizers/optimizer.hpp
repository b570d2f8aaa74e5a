#pragma once
#include <ktape/autograd/variable.hpp>
#include <ktape/nn/core/object.hpp>
#include <ktape/nn/optimizers/schedules.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ktape::kernels {
struct Preparation;
}

namespace ktape::nn {

class Replicas;
struct RowGradient;

/// What all optimizers of Keras take.
struct OptimizerOptions {
  LearningRate learning_rate = 0.001;
  std::optional<double> weight_decay = {};     ///< w -= w * weight_decay * learning_rate before each update
  std::optional<double> clipnorm = {};         ///< the largest norm of each gradient
  std::optional<double> clipvalue = {};        ///< the largest size of its elements
  std::optional<double> global_clipnorm = {};  ///< the largest norm of all gradients together
  bool use_ema = false;                        ///< whether to keep moving averages of the variables
  double ema_momentum = 0.99;
  std::optional<int> ema_overwrite_frequency = {};  ///< after so many updates they replace the variables
  std::optional<double> loss_scale_factor = {};     ///< the loss was multiplied by it: gradients are divided
  std::optional<int> gradient_accumulation_steps = {};  ///< an update uses the mean of so many gradients
  std::string name = {};
};

/// A state variable that an optimizer keeps for a variable, with its dtype.
struct StateOptions {
  std::string name;
  double initial_value = 0;
  OptionalShape shape = {};  ///< the variable's by default
};

/// The update of one variable.
struct OptimizerStep {
  std::span<const Variable> state;  ///< of the variable, in the order of `state_of`
  double learning_rate;
  double number;  ///< of the update, from 1
};

/// The class behind an Optimizer. A user's optimizer says which state it keeps and how a variable changes:
///
///     struct SignImpl : nn::OptimizerImpl {
///       SignImpl() : nn::OptimizerImpl("Sign", {.learning_rate = 0.01}) {}
///       void update_step(const Tensor& g, Variable w, const nn::OptimizerStep& step) override {
///         K::update_sub(w, step.learning_rate * K::sign(g));
///       }
///     };
///     using Sign = nn::OptimizerOf<SignImpl>;
class OptimizerImpl : public Object {
 public:
  static constexpr const char* kind = "optimizer";
  /// Throws ValueError for options that contradict each other or are out of range.
  OptimizerImpl(std::string class_name, OptimizerOptions options);

  std::string class_name() const override { return class_name_; }
  /// The options, with the present learning rate; a class with more appends its own.
  Config get_config() const override;

  /// The state that belongs to a variable.
  virtual std::vector<StateOptions> state_of(const Variable& variable) const;
  /// Changes the variable, for a gradient that is unscaled and clipped already. Nothing is recorded.
  virtual void update_step(const Tensor& gradient, Variable variable, const OptimizerStep& step);

  void build(const std::vector<Variable>& variables);
  void apply(const std::vector<RowGradient>& gradients, const std::vector<Variable>& variables);
  void apply(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables);
  void exclude_from_weight_decay(const std::vector<Variable>& variables,
                                 const std::vector<std::string>& names);
  void finalize_variable_values();

  const std::string& name() const { return options_.name; }
  const OptimizerOptions& options() const { return options_; }
  Variable learning_rate() const;
  void set_learning_rate(const LearningRate& rate);
  std::int64_t calls() const;    ///< of `apply`
  std::int64_t updates() const;  ///< what the variables saw of them
  Variable iterations() const { return iterations_; }
  std::vector<Variable> variables() const;
  /// Whether the state of the variables is there.
  bool built() const { return !slots_.empty(); }
  /// The variables whose state is there, in the order of the first `apply`.
  std::vector<Variable> built_for() const;
  /// Whether a variable is left out of weight decay, by itself or by a word in its name.
  bool excluded(const Variable& variable) const;
  const std::vector<std::string>& excluded_names() const { return excluded_names_; }

  /// The processes with which it takes the mean of each gradient, see nn/distributed; null without others.
  Replicas* replicas() const { return replicas_.get(); }
  void set_replicas(std::shared_ptr<Replicas> replicas) { replicas_ = std::move(replicas); }

 protected:
  /// The same with what is to be done to gradient and variable on the way, and for a gradient of some rows:
  /// by default that is done first.
  virtual void fused_step(const Tensor& gradient, Variable variable, const kernels::Preparation& how,
                          const OptimizerStep& step);
  /// Whether the update of an element whose gradient is 0 changes nothing, so that the rows of a table that
  /// were not looked up can be left out.
  virtual bool ignores_zeros() const { return false; }
  /// Called once before the updates of an `apply`; `number` is theirs.
  virtual void start_updates(double number);
  /// A variable for all others: listed behind their state.
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
                                const std::vector<Variable>& variables);
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
  std::shared_ptr<Replicas> replicas_;
  bool warned_ = false;
};

/// Changes variables so that a loss gets smaller: by name ("adam"), or as an object.
///
///     nn::Adam optimizer(0.01);
///     optimizer.apply(K::gradients(loss, weights), weights);
class Optimizer : public Handle<OptimizerImpl> {
 public:
  Optimizer() = default;
  Optimizer(NoneType) {}
  /// Throws ValueError, with the nearest known names, for an unknown one.
  Optimizer(const char* name) : Optimizer(Value(name)) {}
  Optimizer(const std::string& name) : Optimizer(Value(name)) {}
  explicit Optimizer(const Value& value) : Handle(made(value)) {}
  explicit Optimizer(std::shared_ptr<OptimizerImpl> impl) : Handle(std::move(impl)) {}

  /// One step: gradients are unscaled (loss_scale_factor) and clipped, weights decay, each variable is
  /// updated, averages follow, and the constraints of the variables are applied. A variable whose gradient is
  /// undefined stays as it is. Throws ValueError, before anything changes, for a gradient of another shape
  /// than its variable's, when there is none at all, and for variables that were not there at the first call;
  /// TypeError for variables that are not floating. Mirrors `keras.Optimizer.apply`.
  void apply(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables) const {
    impl().apply(gradients, variables);
  }
  /// The same of pairs, each a gradient and its variable. Mirrors `keras.Optimizer.apply_gradients`.
  void apply_gradients(const std::vector<std::pair<Tensor, Variable>>& gradients_and_variables) const;
  /// apply(gradients(scale_loss(loss), variables), variables), but that the gradient of a table of which some
  /// rows were looked up (nn::Embedding, `K::gather`), and nothing else, stays these rows. The results are
  /// those of `apply`: a row that was not looked up has the gradient 0, as in Keras. SGD without momentum and
  /// Adagrad, unless weights decay, let it alone, and take a time that does not grow with the table. Mirrors
  /// `tf.keras`'s `minimize`.
  void minimize(const Tensor& loss, const std::vector<Variable>& variables) const;
  /// Makes the state for these variables. `apply` does it by itself the first time.
  void build(const std::vector<Variable>& variables) const { impl().build(variables); }
  /// The loss to compute gradients of: times loss_scale_factor.
  Tensor scale_loss(const Tensor& loss) const;

  const std::string& name() const { return impl().name(); }
  /// The present learning rate: setting the variable sets the rate, unless a schedule does.
  Variable learning_rate() const { return impl().learning_rate(); }
  /// Throws TypeError for a number in place of a schedule.
  void set_learning_rate(const LearningRate& rate) const { impl().set_learning_rate(rate); }
  /// How often `apply` was called.
  Variable iterations() const { return impl().iterations(); }
  /// The number of calls, the learning rate, and the state of each variable, in Keras's order.
  std::vector<Variable> variables() const { return impl().variables(); }
  /// These variables, and those in whose names one of the words occurs, do not decay. Throws ValueError once
  /// the optimizer is built.
  void exclude_from_weight_decay(const std::vector<Variable>& variables,
                                 const std::vector<std::string>& names = {}) const {
    impl().exclude_from_weight_decay(variables, names);
  }
  /// With use_ema, the averages become the variables' values.
  void finalize_variable_values() const { impl().finalize_variable_values(); }
};

/// An optimizer class of the user's.
template <class Implementation>
using OptimizerOf = HandleOf<Optimizer, Implementation>;

}  // namespace ktape::nn
