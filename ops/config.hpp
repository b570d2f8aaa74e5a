#pragma once
#include <ktape/autograd/dtype.hpp>
#include <ktape/autograd/tensor.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

/// Settings of the whole process. The first call of a setting's getter or setter reads Keras's configuration
/// file, see config_file.hpp, and passes on its errors; so does every later call until the file has been read
/// without one. All functions may be called from any thread.
namespace ktape::backend {

/// The name of the engine in use: "onednn" where it is built in, "native" otherwise, or what `keras.json` or
/// KERAS_BACKEND chose, which may be a shared library with kernels of its own (see engine.h). Throws IOError
/// when that cannot be loaded and ValueError, listing everything that is wrong, when it is not a complete
/// engine.
std::string backend();

/// The small number that keeps divisions and logarithms away from 0; 1e-7 at first.
double epsilon();
/// Throws ValueError unless the value is finite and above 0.
void set_epsilon(double value);

/// The floating dtype that tensors get by default; float32 at first.
DType floatx();
/// Throws ValueError unless the name is float16, float32 or float64.
void set_floatx(std::string_view name);
template <class D>
requires std::same_as<D, DType> || std::same_as<D, DType::Kind>
void set_floatx(D dtype) { set_floatx(std::string_view(DType(dtype).name())); }

/// Where images keep their channels by default: "channels_last" or "channels_first".
std::string image_data_format();
/// Throws ValueError for any other name.
void set_image_data_format(std::string_view data_format);

/// Counts the calls with this prefix, from 1: the number for an automatic name.
int get_uid(std::string_view prefix = "");
/// Makes every prefix start from 1 again.
void reset_uids();

/// The phase: a number, 1 in training and 0 in testing. As an input of a function it stands for the phase of
/// each call.
class LearningPhase {
 public:
  constexpr explicit LearningPhase(int value) : value_(value) {}
  constexpr operator int() const { return value_; }

 private:
  int value_;
};

/// 1 in training, 0 in testing (at first): one phase for all threads that have no scope open.
LearningPhase learning_phase();
/// Sets the phase of all threads, or, inside a learning_phase_scope, that of the rest of the scope. Throws
/// ValueError unless the value is 0 or 1.
void set_learning_phase(int value);

/// The learning phase of this thread while the scope lives; after it that before holds again. Other threads
/// keep theirs, as in TF2. Throws ValueError unless the value is 0 or 1.
class learning_phase_scope {
 public:
  explicit learning_phase_scope(int value);
  ~learning_phase_scope();
  learning_phase_scope(const learning_phase_scope&) = delete;
  learning_phase_scope& operator=(const learning_phase_scope&) = delete;

 private:
  int before_;
};

/// Forgets the automatic names and sets the learning phase to 0. Variables, tensors and settings stay as they
/// are.
void clear_session();

/// With true, the variables that `variable` and its kin make from now on hold no value until one is set;
/// reading one before is a ValueError that names it. `K.manual_variable_initialization`.
void manual_variable_initialization(bool value);
/// The present setting; false at first.
bool manual_variable_initialization();

/// With true, results are the same to the last bit whatever the number of OpenMP threads. Without, that holds
/// for all but three: gradients of convolution kernels, products of a float32 matrix and a vector, products
/// of float64 matrices; there the libraries divide sums among the threads. It costs speed: kernel gradients
/// are computed on one thread, products and other convolutions in parts of a fixed size. Not for kernels of
/// an engine library. `tf.config.experimental.enable_op_determinism`.
void set_deterministic(bool value);
/// The present setting; false at first.
bool deterministic();

/// Puts a prefix before the names of the variables and layers that this thread makes while it lives.
///
///     K::name_scope outer("encoder");
///     K::name_scope inner("dense");        // names get "encoder/dense/"
///
/// As in TF2, a name that ends in '/' replaces the prefix, and an empty one removes it.
class name_scope {
 public:
  explicit name_scope(std::string_view name);
  ~name_scope();
  name_scope(const name_scope&) = delete;
  name_scope& operator=(const name_scope&) = delete;

 private:
  std::string before_;
};

/// The prefix of this thread: empty, or ending in '/'.
std::string current_name_scope();

/// TF1's session, which has no work here: ops run at once. It exists so that code that names it builds.
struct Session {};
/// Returns a Session. The ops are not looked at.
Session get_session(const TensorList& op_input_list = {});
/// Does nothing.
void set_session(Session session);

}  // namespace ktape::backend
