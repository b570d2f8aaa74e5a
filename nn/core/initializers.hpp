#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/nn/core/object.hpp>
#include <ktape/ops/creation.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Initializers: the first values of weights. Random initializers draw from the generator of K, which
/// `K::set_random_seed` sets; an initializer with a seed gives equal numbers at each call.
namespace ktape::nn {

/// The base class of initializers.
///
///     struct TenImpl : nn::InitializerImpl {
///       std::string class_name() const override { return "Ten"; }
///       Tensor call(const Shape& shape, ktape::DType dtype) const override {
///         return K::full(shape, 10, dtype);
///       }
///     };
///     std::cout << nn::InitializerOf<TenImpl>()({2});
class InitializerImpl : public FunctionObject<Tensor, const Shape&, DType> {
 public:
  static constexpr const char* kind = "initializer";
};

/// An initializer makes the first value of a weight. A layer accepts a name ("glorot_uniform"), an object,
/// `K::zeros` or `K::ones`, or any callable of (Shape, DType). A callable that returns a wrong shape causes a
/// ValueError, a wrong dtype a TypeError.
///
///     nn::Initializer initializer = "ones";
///     std::cout << initializer({2});
class Initializer : public FunctionHandle<InitializerImpl> {
 public:
  using FunctionHandle::FunctionHandle;
  /// Makes an initializer of `K::zeros` or `K::ones`, which have names in configs, or of another such
  /// function.
  Initializer(Tensor (*f)(const backend::ShapeLike&, const backend::CreationOptions&));
  /// Returns the first value of a weight. The dtype is floatx() unless given.
  Tensor operator()(const Shape& shape, std::optional<DType> dtype = {}) const;
};

inline Initializer::Initializer(Tensor (*f)(const backend::ShapeLike&, const backend::CreationOptions&))
    : Initializer(
          f == static_cast<decltype(f)>(backend::zeros) ? Initializer("zeros")
          : f == static_cast<decltype(f)>(backend::ones)
              ? Initializer("ones")
              : Initializer([f](const Shape& shape, DType dtype) { return f(shape, {.dtype = dtype}); })) {}

/// A handle to an initializer class of a user.
template <class Implementation>
using InitializerOf = HandleOf<Initializer, Implementation>;

/// Zeros.
///
///     nn::Zeros initializer;
///     std::cout << initializer({2, 2});
class Zeros : public Initializer {
 public:
  Zeros();
};

/// Ones.
///
///     nn::Ones initializer;
///     std::cout << initializer({2, 2});
class Ones : public Initializer {
 public:
  Ones();
};

struct ConstantOptions {
  double value = 0;
};

/// One number for all elements.
///
///     nn::Constant initializer({.value = 0.5});
///     std::cout << initializer({2, 2});
class Constant : public Initializer {
 public:
  Constant(const ConstantOptions& options = {});
  explicit Constant(double value) : Constant(ConstantOptions{value}) {}
};

struct IdentityInitializerOptions {
  double gain = 1;
};
/// A matrix with `gain` on the diagonal and 0 elsewhere. Throws ValueError unless the shape has rank 2.
/// Keras's `initializers.Identity`.
///
///     nn::IdentityInitializer initializer({.gain = 2});
///     std::cout << initializer({2, 2});
class IdentityInitializer : public Initializer {
 public:
  IdentityInitializer(const IdentityInitializerOptions& options = {});
};

struct RandomNormalOptions {
  double mean = 0, stddev = 0.05;
  std::optional<std::int64_t> seed = {};
};

/// Normal random numbers with a mean and a standard deviation.
///
///     nn::RandomNormal initializer({.stddev = 0.1, .seed = 7});
///     std::cout << initializer({2, 2});
class RandomNormal : public Initializer {
 public:
  RandomNormal(const RandomNormalOptions& options = {});
};

struct RandomUniformOptions {
  double minval = -0.05, maxval = 0.05;
  std::optional<std::int64_t> seed = {};
};

/// Uniform random numbers from `minval` up to, but without, `maxval`.
///
///     nn::RandomUniform initializer({.minval = 0, .maxval = 1, .seed = 7});
///     std::cout << initializer({2, 2});
class RandomUniform : public Initializer {
 public:
  RandomUniform(const RandomUniformOptions& options = {});
};

/// Normal random numbers. Numbers beyond two standard deviations from the mean are drawn again.
///
///     nn::TruncatedNormal initializer({.seed = 7});
///     std::cout << initializer({2, 2});
class TruncatedNormal : public Initializer {
 public:
  TruncatedNormal(const RandomNormalOptions& options = {});
};

struct VarianceScalingOptions {
  double scale = 1;
  std::string mode = "fan_in";                    ///< "fan_in", "fan_out" or "fan_avg"
  std::string distribution = "truncated_normal";  ///< "truncated_normal", "untruncated_normal" or "uniform"
  std::optional<std::int64_t> seed = {};
  std::optional<std::vector<int>> input_axes = {};   ///< the axes of the input units; needs output_axes
  std::optional<std::vector<int>> output_axes = {};  ///< the axes of the output units; needs input_axes
};
/// Random numbers with mean 0 and variance scale / n. For the modes "fan_in", "fan_out" and "fan_avg", n is
/// fan_in = shape[-2] * receptive field, fan_out = shape[-1] * receptive field, or the mean of both. The
/// receptive field is the product of the other extents. With `input_axes` and `output_axes`, fan_in and
/// fan_out are the products of the extents of these axes, for weights whose axes have another order, such as
/// (features, heads, size). Throws ValueError unless the scale is above 0, and for unknown modes and
/// distributions.
///
///     nn::VarianceScaling initializer({.scale = 2, .mode = "fan_in", .seed = 7});
///     std::cout << initializer({2, 2});
class VarianceScaling : public Initializer {
 public:
  VarianceScaling(const VarianceScalingOptions& options = {});
};

struct SeedOptions {
  std::optional<std::int64_t> seed = {};
  std::optional<std::vector<int>> input_axes = {};   ///< the axes of the input units; needs output_axes
  std::optional<std::vector<int>> output_axes = {};  ///< the axes of the output units; needs input_axes
};
/// VarianceScaling with scale 1, mode "fan_avg" and distribution "uniform".
///
///     nn::GlorotUniform initializer({.seed = 7});
///     std::cout << initializer({2, 2});
class GlorotUniform : public Initializer {
 public:
  GlorotUniform(const SeedOptions& options = {});
};
/// VarianceScaling with scale 1, mode "fan_avg" and distribution "truncated_normal".
///
///     nn::GlorotNormal initializer({.seed = 7});
///     std::cout << initializer({2, 2});
class GlorotNormal : public Initializer {
 public:
  GlorotNormal(const SeedOptions& options = {});
};
/// VarianceScaling with scale 2, mode "fan_in" and distribution "uniform".
///
///     nn::HeUniform initializer({.seed = 7});
///     std::cout << initializer({2, 2});
class HeUniform : public Initializer {
 public:
  HeUniform(const SeedOptions& options = {});
};
/// VarianceScaling with scale 2, mode "fan_in" and distribution "truncated_normal".
///
///     nn::HeNormal initializer({.seed = 7});
///     std::cout << initializer({2, 2});
class HeNormal : public Initializer {
 public:
  HeNormal(const SeedOptions& options = {});
};
/// VarianceScaling with scale 1, mode "fan_in" and distribution "uniform".
///
///     nn::LecunUniform initializer({.seed = 7});
///     std::cout << initializer({2, 2});
class LecunUniform : public Initializer {
 public:
  LecunUniform(const SeedOptions& options = {});
};
/// VarianceScaling with scale 1, mode "fan_in" and distribution "truncated_normal".
///
///     nn::LecunNormal initializer({.seed = 7});
///     std::cout << initializer({2, 2});
class LecunNormal : public Initializer {
 public:
  LecunNormal(const SeedOptions& options = {});
};

struct OrthogonalOptions {
  double gain = 1;
  std::optional<std::int64_t> seed = {};
};
/// A random matrix times `gain`. The matrix has orthonormal columns, or orthonormal rows if there are fewer
/// rows than columns. The last axis of the shape counts the columns, the product of the other extents the
/// rows. Throws ValueError for a shape of rank 0 or 1.
///
///     nn::Orthogonal initializer({.seed = 7});
///     std::cout << initializer({2, 2});
class Orthogonal : public Initializer {
 public:
  Orthogonal(const OrthogonalOptions& options = {});
};

/// A window over the steps of a frame: the name of a function in `scipy.signal.windows` ("hann", "hamming",
/// "blackman", "nuttall", "blackmanharris", "flattop", "boxcar", "cosine", "bartlett", "triang", "bohman"),
/// the window's values, or None. Throws ValueError for an unknown name.
///
///     nn::STFT initializer({.window = {0.5, 1., 1., 0.5}});
///     nn::FrameWindow hann = "hann";
///     std::cout << initializer({4, 1, 3}).shape() << " " << hann.over(4, false)[1];
class FrameWindow {
 public:
  FrameWindow(const char* name) : FrameWindow(std::string(name)) {}
  FrameWindow(std::string name);
  FrameWindow(std::vector<double> values) : values_(std::move(values)) {}
  FrameWindow(std::initializer_list<double> values) : values_(values) {}
  FrameWindow(NoneType) {}
  explicit FrameWindow(const Value& value);
  Value to_value() const;
  /// Returns a number for each step; an empty vector without a window. Throws ValueError if the number of
  /// given values is not the number of steps.
  std::vector<double> over(std::int64_t steps, bool periodic) const;

 private:
  std::string name_;
  std::vector<double> values_;
};

struct STFTOptions {
  std::string side = "real";  ///< "real" or "imag"
  FrameWindow window = "hann";
  OptionalString scaling = "density";  ///< "density", "spectrum" or None, see STFT
  bool periodic = false;               ///< the window is periodic: the last of steps + 1 values is left out
};
/// The kernel of a convolution that computes the real or the imaginary side of the short-time Fourier
/// transform. For a shape (steps, 1, bins) the number at (t, 0, k) is
///
///   window[t] / scale * cos(2 pi t k / (2 (bins - 1)))
///
/// with -sin instead of cos for "imag". The scale is sqrt(sum(window^2)) for "density",
/// sum(abs(window)) for "spectrum" and 1 without scaling. Throws ValueError for other shapes and for unknown
/// names. Keras's `STFTInitializer`.
///
///     nn::STFT initializer, plain({.window = None, .scaling = None});
///     std::cout << initializer({8, 1, 5}).shape() << "\n" << plain({2, 1, 2});
class STFT : public Initializer {
 public:
  STFT(const STFTOptions& options = {});
};

/// Keras's other names of the initializers: `nn::initializers::he_normal()`.
namespace initializers {
using nn::Constant, nn::GlorotNormal, nn::GlorotUniform, nn::HeNormal, nn::HeUniform, nn::LecunNormal,
    nn::LecunUniform, nn::Ones, nn::Orthogonal, nn::RandomNormal, nn::RandomUniform, nn::STFT,
    nn::TruncatedNormal, nn::VarianceScaling, nn::Zeros;
using Identity = IdentityInitializer;
using constant = Constant;
using glorot_normal = GlorotNormal;
using glorot_uniform = GlorotUniform;
using he_normal = HeNormal;
using he_uniform = HeUniform;
using identity = IdentityInitializer;
using lecun_normal = LecunNormal;
using lecun_uniform = LecunUniform;
using ones = Ones;
using orthogonal = Orthogonal;
using random_normal = RandomNormal;
using random_uniform = RandomUniform;
using stft = STFT;
using truncated_normal = TruncatedNormal;
using variance_scaling = VarianceScaling;
using zeros = Zeros;
}  // namespace initializers

}  // namespace ktape::nn
