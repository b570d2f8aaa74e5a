#pragma once
#include <ktape/autograd/base/dtype.hpp>
#include <ktape/autograd/tensor.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

/// Settings of the whole process. The first call of a getter or setter reads Keras's configuration file (see
/// config_file.hpp) and passes on the errors of the file; so does every later call until the file has been
/// read without an error. All functions may be called from any thread.
namespace ktape::backend {

/// Returns the name of the engine in use: "onednn" where oneDNN is built in, "native" otherwise, or the name
/// that `keras.json` or KERAS_BACKEND gives. The name may be a shared library with its own kernels (see
/// engine.h). Throws IOError when the library cannot be loaded, and ValueError, listing all that is missing
/// or wrong, when the library is not a complete engine.
///
///     std::cout << (K::backend().empty() ? "none" : "an engine") << " " << K::version();
std::string backend();

/// Returns the small number that keeps divisors and arguments of logarithms away from 0; 1e-7 by default.
///
///     std::cout << K::epsilon();
///     K::set_epsilon(1e-5);
///     std::cout << " " << K::epsilon();
///     K::set_epsilon(1e-7);
double epsilon();
/// Sets epsilon. Throws ValueError unless the value is finite and above 0.
void set_epsilon(double value);

/// Returns the default floating dtype of tensors; float32 by default.
///
///     K::set_floatx("float64");
///     std::cout << K::floatx() << " " << K::zeros({1}).dtype();
///     K::set_floatx("float32");
DType floatx();
/// Sets the default floating dtype. Throws ValueError unless the name is float16, bfloat16,
/// float32 or float64.
void set_floatx(std::string_view name);
template <class D>
requires std::same_as<D, DType> || std::same_as<D, DType::Kind>
void set_floatx(D dtype) { set_floatx(std::string_view(DType(dtype).name())); }

/// Returns the default position of the channel axis of images: "channels_last" or "channels_first".
///
///     std::cout << K::image_data_format() << " "
///               << K::pool2d(K::ones({1, 4, 4, 2}), 2).shape();
///     K::set_image_data_format("channels_first");
///     std::cout << "\n"
///               << K::image_data_format() << " "
///               << K::pool2d(K::ones({1, 2, 4, 4}), 2).shape();
///     K::set_image_data_format("channels_last");
std::string image_data_format();
/// Sets the default position of the channel axis. Throws ValueError for any other name.
void set_image_data_format(std::string_view data_format);

/// Returns the number of calls with this prefix so far, this call included; automatic names end with this
/// number.
int get_uid(std::string_view prefix = "");
/// Resets the counter of every prefix, so that the next number is 1.
void reset_uids();

/// The learning phase: 1 in training and 0 in testing. A LearningPhase among the inputs of a function is an
/// input that sets the phase for each call.
///
///     K::learning_phase_scope training(1);
///     std::cout << K::in_train_phase(K::constant(1.), K::constant(0.));
class LearningPhase {
 public:
  constexpr explicit LearningPhase(int value) : value_(value) {}
  constexpr operator int() const { return value_; }

 private:
  int value_;
};

/// Returns the learning phase: 1 in training, 0 in testing (the default). All threads without an open
/// learning_phase_scope share one phase.
///
///     K::set_learning_phase(1);
///     std::cout << K::in_train_phase(K::constant(1.), K::constant(0.)) << " "
///               << K::in_test_phase(K::constant(1.), K::constant(0.));
///     K::set_learning_phase(0);
LearningPhase learning_phase();
/// Sets the learning phase of all threads or, inside a learning_phase_scope, of the rest of the scope. Throws
/// ValueError unless the value is 0 or 1.
void set_learning_phase(int value);

/// A scope that sets the learning phase of this thread. The end of the scope restores the phase from before
/// the scope. The phase of other threads does not change, as in TF2. Throws ValueError unless the value is 0
/// or 1.
class learning_phase_scope {
 public:
  explicit learning_phase_scope(int value);
  ~learning_phase_scope();
  learning_phase_scope(const learning_phase_scope&) = delete;
  learning_phase_scope& operator=(const learning_phase_scope&) = delete;

 private:
  int before_;
};

/// Resets the counters of the automatic names and sets the learning phase to 0. Variables, tensors and
/// settings are kept.
///
///     std::cout << K::get_uid("dense") << " " << K::get_uid("dense");
///     K::reset_uids();
///     std::cout << " " << K::get_uid("dense");
void clear_session();

/// Sets whether the variables that `variable` and similar functions make start without a value. With true, a
/// variable that is made from now on holds no value until a value is set; reading the variable earlier is a
/// ValueError that names the variable. `K.manual_variable_initialization`.
///
///     std::cout << K::manual_variable_initialization();
void manual_variable_initialization(bool value);
/// Returns the current setting; false by default.
bool manual_variable_initialization();

/// Sets whether results are equal to the last bit for any number of OpenMP threads. With false, three kinds
/// of results may differ: gradients of convolution kernels, products of a float32 matrix and a vector, and
/// products of float64 matrices, because the libraries divide sums among the threads. With true, these ops
/// are slower: kernel gradients are computed on one thread, products and other convolutions in parts of a
/// fixed size. Kernels of an engine library are not affected. `tf.config.experimental.enable_op_determinism`.
///
///     K::set_deterministic(true);
///     std::cout << K::deterministic();
///     K::set_deterministic(false);
void set_deterministic(bool value);
/// Returns the current setting; false by default.
bool deterministic();

/// A scope that puts a prefix before the names of the variables and layers that this thread makes.
///
///     K::name_scope outer("encoder");
///     K::name_scope inner("dense");        // names get "encoder/dense/"
///
/// As in TF2, a name that ends in '/' replaces the prefix, and an empty name removes the prefix.
///
///     K::name_scope scope("encoder");
///     std::cout << K::current_name_scope() << " "
///               << K::variable({1.f}, {.name = "w"}).name();
class name_scope {
 public:
  explicit name_scope(std::string_view name);
  ~name_scope();
  name_scope(const name_scope&) = delete;
  name_scope& operator=(const name_scope&) = delete;

 private:
  std::string before_;
};

/// Returns the name prefix of this thread: empty, or ending in '/'.
std::string current_name_scope();

/// The session of TF1. Ops run at once and need no session; the type exists so that code that names a session
/// compiles.
struct Session {};
/// Returns a Session and ignores the ops.
///
///     K::Session session = K::get_session();
///     K::set_session(session);
///     std::cout << "sessions do nothing";
Session get_session(const TensorList& op_input_list = {});
/// Does nothing.
void set_session(Session session);

}  // namespace ktape::backend
