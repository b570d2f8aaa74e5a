#pragma once
#include <ktape/autograd/tape.hpp>
#include <ktape/autograd/variable.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ktape {

/// Returns the gradient of sum(loss) with respect to each of `variables`, which are variables, watched
/// tensors, or recorded tensors on the way from a variable to the loss. A gradient has the shape and dtype of
/// its variable, and is undefined (None) where the loss does not depend on the variable.
///
/// The result of an op is always a new tensor, also where the op changes no element (a reshape to an equal
/// shape). The gradient with respect to the result counts only ops that read the result, not ops that read
/// the arguments.
///
/// `seeds` weights the losses: the function differentiates sum over i of sum(losses[i] * seeds[i]). Missing
/// and undefined seeds are ones.
///
/// The results are differentiable: fused backward kernels compute the gradients at once, and the backward
/// pass runs again, recorded, only when a result is differentiated. Under NoGrad the results are plain
/// values. The results keep the graph of the losses alive: a loop that carries gradients from step to step
/// should store their values in a Variable, see Tape.
///
/// The graph is not freed, so that any thread can differentiate the graph again, also concurrently (see
/// tape.hpp). Time and memory are linear in the number of ops that are newer than the oldest of `variables`.
///
/// Throws ValueError for an undefined loss or variable and a seed of another shape, TypeError for a loss that
/// is not floating. Mirrors `K.gradients` and `tf.gradients`.
std::vector<Tensor> gradients(const TensorList& losses, const TensorList& variables,
                              const TensorList& seeds = {});

/// Returns the gradients with respect to a vector of variables, without copies that tell variables from
/// tensors.
///
///     std::vector<Variable> weights{K::constant(2.), K::constant(3.)};
///     Tensor loss = weights[0] * weights[1];
///     std::cout << ktape::gradients_of({loss}, weights, {})[0];
std::vector<Tensor> gradients_of(const TensorList& losses, const std::vector<Variable>& variables,
                                 const TensorList& seeds);
template <std::same_as<Variable> V>
std::vector<Tensor> gradients(const TensorList& losses, const std::vector<V>& variables,
                              const TensorList& seeds = {}) {
  return gradients_of(losses, variables, seeds);
}

/// The part of one lookup (`gather`) in the gradient of a variable: values[i] is added to the slice rows[i]
/// along axis 0.
///
///     Variable table = K::zeros({1000, 2});
///     Tensor loss =
///         K::sum(K::gather(table, K::constant({7, 7, 9}, {.dtype = "int32"})));
///     std::vector<ktape::LookupGradient> lookups;
///     auto rest = ktape::gradients(loss, {table}, lookups);
///     std::cout << lookups[0].rows << "\n"
///               << lookups[0].values.shape() << " " << rest[0].defined();
struct LookupGradient {
  std::size_t variable;  ///< the index of the variable among the variables of the call
  Tensor rows, values;   ///< int64 row indices, with repetitions; values of shape (rows.size(), slice...)
};

/// Computes the gradients of one loss with the lookups apart: the gradients that come from lookups (`gather`)
/// of the variables go into `lookups` as rows, so that no gradient of a whole table is made for a few rows.
/// The result holds the gradients that come from other ops. The values are not recorded.
std::vector<Tensor> gradients(const Tensor& loss, const std::vector<Variable>& variables,
                              std::vector<LookupGradient>& lookups);

struct GradientTapeOptions {
  bool persistent = false;  ///< accepted as in TF2; every tape may be used any number of times
};

struct GradientOptions {
  Tensor output_gradients = {};                ///< weights of the target, of its shape; ones by default
  std::string unconnected_gradients = "none";  ///< "none": a missing gradient is undefined; "zero": zeros
};

/// Options of `GradientTape::jacobian`.
///
///     Variable w = K::variable({1.f, 2.f});
///     ktape::GradientTape tape;
///     Tensor y = w * w, far = K::ones({2});
///     std::cout << tape.jacobian(y, w) << "\n"
///               << tape.jacobian(y, far, {.unconnected_gradients = "zero"}).shape();
struct JacobianOptions {
  std::string unconnected_gradients = "none";  ///< see GradientOptions
};

/// TF2's gradient tape as a scope. Every op is recorded also without the scope; the scope adds `watch`, which
/// makes a constant differentiable until the last tape that watches the constant ends.
///
///     Variable w = K::variable({2.f}), other = K::variable({5.f});
///     ktape::GradientTape tape({.persistent = true});
///     Tensor y = K::sum(w * w * w);
///     std::cout << tape.gradient(y, w) << " "
///               << tape.gradient(y, other, {.unconnected_gradients = "zero"});
class GradientTape {
 public:
  GradientTape() = default;
  explicit GradientTape(const GradientTapeOptions&) {}
  ~GradientTape();
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;

  /// Records all later ops on the tensor. Throws ValueError when the tensor is undefined, TypeError when the
  /// tensor is not floating.
  void watch(const Tensor& tensor);
  void watch(const std::vector<Tensor>& tensors);

  /// Returns the gradient of sum(target) with respect to one source. Throws the errors of `gradients`.
  Tensor gradient(const Tensor& target, const Tensor& source, const GradientOptions& options = {}) const;
  /// Returns one gradient for each source.
  std::vector<Tensor> gradient(const Tensor& target, const std::vector<Tensor>& sources,
                               const GradientOptions& options = {}) const;
  template <std::same_as<Variable> V>
  std::vector<Tensor> gradient(const Tensor& target, const std::vector<V>& sources,
                               const GradientOptions& options = {}) const {
    return gradient_of(target, sources, options);
  }

  /// Returns the derivative of each element of the target with respect to each element of the source, of
  /// shape target.shape() + source.shape(); undefined where the target does not depend on the source.
  /// Differentiable. Runs one backward pass for each element of the target.
  ///
  ///     tape.jacobian(x * x, x)    // x of shape (3,): a matrix with 2 x on its diagonal
  ///
  /// Throws ValueError for an undefined target or source and a result of more than 8 axes, TypeError for a
  /// target that is not floating. Mirrors `tf.GradientTape.jacobian`.
  Tensor jacobian(const Tensor& target, const Tensor& source, const JacobianOptions& options = {}) const;
  /// Returns one jacobian for each source.
  std::vector<Tensor> jacobian(const Tensor& target, const std::vector<Tensor>& sources,
                               const JacobianOptions& options = {}) const;
  template <std::same_as<Variable> V>
  std::vector<Tensor> jacobian(const Tensor& target, const std::vector<V>& sources,
                               const JacobianOptions& options = {}) const {
    return jacobian(target, TensorList(sources).vector(), options);
  }

  /// Returns the jacobian of each sample: the derivatives of target[i] with respect to source[i], where no
  /// sample of the target depends on another sample of the source. The result has shape (samples,
  /// target.shape()[1:]..., source.shape()[1:]...). Runs one backward pass for each element of one sample of
  /// the target.
  ///
  ///     tape.batch_jacobian(square(x), x)    // x of shape (10, 2): ten matrices, of shape (10, 2, 2)
  ///
  /// The result is zeros where the target does not depend on the source, as in TF2. Throws ValueError unless
  /// both tensors have rank 2 or more and equal numbers of samples, and the errors of `jacobian`. Mirrors
  /// `tf.GradientTape.batch_jacobian`.
  Tensor batch_jacobian(const Tensor& target, const Tensor& source,
                        const JacobianOptions& options = {}) const;

 private:
  std::vector<Tensor> gradient_of(const Tensor& target, const std::vector<Variable>& sources,
                                  const GradientOptions& options) const;

  std::vector<Tensor> watched_;
};

namespace detail {
/// A result, and a callable that maps the gradient of the result to one gradient per argument.
using WithGradient = std::pair<Tensor, std::function<std::vector<Tensor>(const Tensor&)>>;
Tensor custom_gradient(const std::function<WithGradient(const std::vector<Tensor>&)>& f,
                       const std::vector<Tensor>& arguments);

inline std::vector<Tensor> as_list(Tensor gradient) { return {std::move(gradient)}; }
inline std::vector<Tensor> as_list(std::vector<Tensor> gradients) { return gradients; }
}  // namespace detail

/// Gives a function a custom gradient. `f` takes tensors and returns a pair: the result, and a callable that
/// maps the gradient of the result to the gradient of the only argument, or to a vector with one gradient per
/// argument.
///
///     auto reverse = custom_gradient([](const Tensor& x) {
///       return std::pair{x * 1.f, [](const Tensor& dy) { return dy * -1.f; }};
///     });
///
/// The ops of the callable are recorded, so that the callable can compute a value and differentiate the value
/// with respect to the arguments, none of which depends on another argument. A checkpoint keeps only the
/// arguments of `f`, and runs `f` again when the gradient is needed:
///
///     auto checkpoint = custom_gradient([f](const Tensor& x, const Tensor& w) {
///       return std::pair{f(x, w), [f, x, w](const Tensor& dy) { return gradients(f(x, w), {x, w}, {dy}); }};
///     });
///
/// (Variables that `f` uses must be among the arguments to get a gradient.)
///
/// The use of a result with a wrong number of gradients is a ValueError. Mirrors `tf.custom_gradient`.
///
///     auto clipped = ktape::custom_gradient([](const Tensor& x) {
///       return std::pair{x * x, [](const Tensor& dy) { return K::clip(dy, -1, 1); }};
///     });
///     Variable w = K::variable({3.f});
///     std::cout << K::gradients(K::sum(10 * clipped(w)), {w})[0];
template <class F>
auto custom_gradient(F f) {
  return [f = std::move(f)](const auto&... arguments) {
    const auto call = [f](const std::vector<Tensor>& inputs) {
      const auto with = [&]<std::size_t... I>(std::index_sequence<I...>) { return f(inputs[I]...); };
      auto result = with(std::index_sequence_for<decltype(arguments)...>());
      return detail::WithGradient{result.first, [gradient = std::move(result.second)](const Tensor& dy) {
                                    return detail::as_list(gradient(dy));
                                  }};
    };
    return detail::custom_gradient(call, {static_cast<const Tensor&>(arguments)...});
  };
}

}  // namespace ktape
