#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/autograd/xtensor.hpp>
#include <ktape/nn/core/class_registry.hpp>
#include <ktape/nn/core/initializers.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/random/random.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <cmath>
#include <xtensor-blas/xlinalg.hpp>

namespace ktape::nn {
namespace K = backend;

template <class F>
void fields(ConstantOptions& o, F&& field) {
  field("value", o.value);
}
template <class F>
void fields(IdentityInitializerOptions& o, F&& field) {
  field("gain", o.gain);
}
template <class F>
void fields(RandomNormalOptions& o, F&& field) {
  field("mean", o.mean);
  field("stddev", o.stddev);
  field("seed", o.seed);
}
template <class F>
void fields(RandomUniformOptions& o, F&& field) {
  field("minval", o.minval);
  field("maxval", o.maxval);
  field("seed", o.seed);
}
template <class F>
void fields(VarianceScalingOptions& o, F&& field) {
  field("scale", o.scale);
  field("mode", o.mode);
  field("distribution", o.distribution);
  field("seed", o.seed);
  field("input_axes", o.input_axes, recent);
  field("output_axes", o.output_axes, recent);
}
template <class F>
void fields(SeedOptions& o, F&& field) {
  field("seed", o.seed);
  field("input_axes", o.input_axes, recent);
  field("output_axes", o.output_axes, recent);
}
template <class F>
void fields(OrthogonalOptions& o, F&& field) {
  field("gain", o.gain);
  field("seed", o.seed);
}

template <class F>
void fields(STFTOptions& o, F&& field) {
  field("side", o.side);
  field("window", o.window);
  field("scaling", o.scaling);
  field("periodic", o.periodic);
}

namespace {

/// fan_in and fan_out of a weight: the numbers of inputs of an output unit, and of outputs of an input unit.
struct Fans {
  double in = 1, out = 1;
};

/// Returns the product of the extents of some axes.
double units_along(const Shape& shape, const std::vector<int>& axes) {
  double units = 1;
  for (const int axis : axes)
    units *= static_cast<double>(shape[canonical_axis("VarianceScaling", axis, shape.rank())]);
  return units;
}

Fans fans(const Shape& shape, const VarianceScalingOptions& o) {
  if (o.input_axes && o.output_axes)
    return {units_along(shape, *o.input_axes), units_along(shape, *o.output_axes)};
  const int rank = shape.rank();
  if (rank == 0) return {};
  const auto field = static_cast<double>(shape.count(0, std::max(0, rank - 2)));
  return {field * static_cast<double>(shape[std::max(0, rank - 2)]),
          field * static_cast<double>(shape.back())};
}

/// Returns the n of the variance scale / n.
double fan(const Shape& shape, const VarianceScalingOptions& o) {
  const auto [in, out] = fans(shape, o);
  return std::max(1.0, o.mode == "fan_in" ? in : o.mode == "fan_out" ? out : (in + out) / 2);
}

Tensor scaled(const Shape& shape, DType dtype, const VarianceScalingOptions& o) {
  const double variance = o.scale / fan(shape, o);
  if (o.distribution == "uniform") {
    const double limit = std::sqrt(3 * variance);
    return K::random_uniform(shape, {.minval = -limit, .maxval = limit, .dtype = dtype, .seed = o.seed});
  }
  if (o.distribution == "untruncated_normal")
    return K::random_normal(shape, {.stddev = std::sqrt(variance), .dtype = dtype, .seed = o.seed});
  constexpr double kept = 0.87962566103423978;  // the deviation of a standard normal cut at 2
  return K::truncated_normal(shape, {.stddev = std::sqrt(variance) / kept, .dtype = dtype, .seed = o.seed});
}

std::shared_ptr<InitializerImpl> variance_scaling(const char* name, const SeedOptions& options, double scale,
                                                  const char* mode, const char* distribution) {
  return function_object<InitializerImpl>(name, options,
                                          [=](const Shape& shape, DType dtype, const SeedOptions& o) {
                                            return scaled(shape, dtype,
                                                          {.scale = scale,
                                                           .mode = mode,
                                                           .distribution = distribution,
                                                           .seed = o.seed,
                                                           .input_axes = o.input_axes,
                                                           .output_axes = o.output_axes});
                                          });
}

const VarianceScalingOptions& checked(const VarianceScalingOptions& o) {
  if (!(o.scale > 0)) fail("[VarianceScaling] scale must be above 0: received scale=", o.scale);
  if (o.mode != "fan_in" && o.mode != "fan_out" && o.mode != "fan_avg")
    fail("[VarianceScaling] mode must be 'fan_in', 'fan_out' or 'fan_avg': received mode='", o.mode, "'");
  if (o.distribution != "truncated_normal" && o.distribution != "untruncated_normal" &&
      o.distribution != "uniform")
    fail(
        "[VarianceScaling] distribution must be 'truncated_normal', 'untruncated_normal' or 'uniform': "
        "received distribution='",
        o.distribution, "'");
  return o;
}

Tensor orthogonal(const Shape& shape, DType dtype, const OrthogonalOptions& o) {
  if (shape.rank() < 2) fail("[Orthogonal] the shape must have rank 2 or more: received shape=", shape);
  const std::int64_t columns = shape.back(), rows = shape.count(0, shape.rank() - 1);
  const Shape tall{std::max(rows, columns), std::min(rows, columns)};
  if (tall.count() == 0) return K::zeros(shape, {.dtype = dtype});
  const xt::xarray<double> normal =
      view<double>(K::random_normal(tall, {.dtype = DType::Float64, .seed = o.seed}));
  const auto [q, r] = xt::linalg::qr(normal);
  Tensor basis = Tensor::empty(tall, DType::Float64);
  for (std::int64_t i = 0, at = 0; i < tall[0]; ++i)
    for (std::int64_t j = 0; j < tall[1]; ++j, ++at)  // the signs make the matrix uniformly distributed
      basis.pointer<double>()[at] = r(j, j) < 0 ? -q(i, j) : q(i, j);
  if (rows < columns) basis = K::transpose(basis);
  return K::cast(K::reshape(basis * o.gain, shape), dtype);
}

Tensor identity(const Shape& shape, DType dtype, const IdentityInitializerOptions& o) {
  if (shape.rank() != 2) fail("[Identity] the shape must have rank 2: received shape=", shape);
  return K::eye(shape, {.dtype = dtype}) * o.gain;
}

// --- STFT --------------------------------------------------------------------------------------------------

constexpr double pi = 3.14159265358979323846;

/// A window that is a sum of cosines over -pi to pi: the name of the window and the factor of each cosine.
struct CosineWindow {
  const char* name;
  std::vector<double> terms;
};
const std::vector<CosineWindow>& cosine_windows() {
  static const std::vector<CosineWindow> windows{
      {"boxcar", {1}},
      {"hann", {0.5, 0.5}},
      {"hamming", {0.54, 0.46}},
      {"blackman", {0.42, 0.5, 0.08}},
      {"nuttall", {0.3635819, 0.4891775, 0.1365995, 0.0106411}},
      {"blackmanharris", {0.35875, 0.48829, 0.14128, 0.01168}},
      {"flattop", {0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368}}};
  return windows;
}

/// Returns the value at step t of n of a window that is not a sum of cosines. Requires n > 1.
double other_window(const std::string& name, double t, double n) {
  const double from_center = std::fabs(2 * t / (n - 1) - 1);
  if (name == "cosine") return std::sin(pi / n * (t + 0.5));
  if (name == "bartlett") return 1 - from_center;
  if (name == "triang") return 1 - std::fabs(2 * t + 1 - n) / (std::fmod(n, 2) == 0 ? n : n + 1);
  return from_center >= 1 ? 0
                          : (1 - from_center) * std::cos(pi * from_center) + std::sin(pi * from_center) / pi;
}

double window_at(const std::string& name, double t, double n) {
  if (n == 1) return 1;
  for (const CosineWindow& window : cosine_windows()) {
    if (name != window.name) continue;
    double sum = 0;
    for (std::size_t k = 0; k < window.terms.size(); ++k)
      sum += window.terms[k] * std::cos(static_cast<double>(k) * (2 * t / (n - 1) - 1) * pi);
    return sum;
  }
  return other_window(name, t, n);
}

std::vector<std::string> window_names() {
  std::vector<std::string> names{"cosine", "bartlett", "triang", "bohman"};
  for (const CosineWindow& window : cosine_windows()) names.push_back(window.name);
  return names;
}

double window_scale(const std::vector<double>& window, const std::optional<std::string>& scaling) {
  double squares = 0, sum = 0;
  for (const double w : window) squares += w * w, sum += std::fabs(w);
  return window.empty() || !scaling ? 1 : *scaling == "density" ? std::sqrt(squares) : sum;
}

const STFTOptions& checked(const STFTOptions& o) {
  if (o.side != "real" && o.side != "imag")
    fail("[STFT] side must be 'real' or 'imag': received side='", o.side, "'");
  if (o.scaling && *o.scaling != "density" && *o.scaling != "spectrum")
    fail("[STFT] scaling must be 'density', 'spectrum' or None: received scaling='", *o.scaling, "'");
  return o;
}

Tensor stft(const Shape& shape, DType dtype, const STFTOptions& o) {
  if (shape.rank() != 3 || shape[1] != 1 || shape[2] < 2)
    fail("[STFT] the shape must be (steps, 1, bins) with 2 bins or more: received shape=", shape);
  const std::int64_t steps = shape[0], bins = shape[2], period = 2 * (bins - 1);
  const std::vector<double> window = o.window.over(steps, o.periodic);
  const double scale = window_scale(window, o.scaling);
  const Tensor kernel = Tensor::empty(shape, DType::Float64);
  double* out = kernel.pointer<double>();
  for (std::int64_t t = 0; t < steps; ++t)
    for (std::int64_t k = 0; k < bins; ++k) {
      const double angle = 2 * pi * static_cast<double>(t * k % period) / static_cast<double>(period);
      const double weight = window.empty() ? 1 : window[static_cast<std::size_t>(t)] / scale;
      *out++ = weight * (o.side == "real" ? std::cos(angle) : -std::sin(angle));
    }
  return K::cast(kernel, dtype);
}

}  // namespace

FrameWindow::FrameWindow(std::string name) : name_(std::move(name)) {
  const std::vector<std::string> known = window_names();
  if (std::find(known.begin(), known.end(), name_) == known.end())
    fail("[STFT] window must be ", in_quotes(known, " or "), ": received window='", name_, "'",
         near_names(name_, known));
}

FrameWindow::FrameWindow(const Value& value) {
  if (value.is_string()) *this = FrameWindow(value.string());
  else if (!value.is_null()) values_ = value.as<std::vector<double>>("[STFT] window");
}

Value FrameWindow::to_value() const {
  if (!name_.empty()) return name_;
  return values_.empty() ? Value() : Value(values_);
}

std::vector<double> FrameWindow::over(std::int64_t steps, bool periodic) const {
  if (name_.empty()) {
    if (!values_.empty() && static_cast<std::int64_t>(values_.size()) != steps)
      fail("[STFT] window must have a value for each of the ", steps, " steps: received ", values_.size());
    return values_;
  }
  std::vector<double> window;
  const double n = static_cast<double>(steps + (periodic && steps > 1 ? 1 : 0));
  for (std::int64_t t = 0; t < steps; ++t) window.push_back(window_at(name_, static_cast<double>(t), n));
  return window;
}

Tensor Initializer::operator()(const Shape& shape, std::optional<DType> dtype) const {
  const DType wanted = dtype.value_or(K::floatx());
  const Tensor value = impl().call(shape, wanted);
  if (!value.defined()) fail("[", class_name(), "] an initializer must return a tensor: received None");
  if (value.shape() != shape)
    fail("[", class_name(), "] an initializer must return the shape ", shape,
         ": received shape=", value.shape());
  if (value.dtype() != wanted)
    fail<TypeError>("[", class_name(), "] an initializer must return the dtype ", wanted,
                    ": received dtype=", value.dtype());
  return value;
}

Zeros::Zeros()
    : Initializer(function_object<InitializerImpl>("Zeros", NoOptions(),
                                                   [](const Shape& shape, DType dtype, const NoOptions&) {
                                                     return K::zeros(shape, {.dtype = dtype});
                                                   })) {}

Ones::Ones()
    : Initializer(function_object<InitializerImpl>("Ones", NoOptions(),
                                                   [](const Shape& shape, DType dtype, const NoOptions&) {
                                                     return K::ones(shape, {.dtype = dtype});
                                                   })) {}

Constant::Constant(const ConstantOptions& options)
    : Initializer(function_object<InitializerImpl>(
          "Constant", options, [](const Shape& shape, DType dtype, const ConstantOptions& o) {
            return K::full(shape, o.value, dtype);
          })) {}

IdentityInitializer::IdentityInitializer(const IdentityInitializerOptions& options)
    : Initializer(function_object<InitializerImpl>("Identity", options, identity)) {}

RandomNormal::RandomNormal(const RandomNormalOptions& options)
    : Initializer(function_object<InitializerImpl>(
          "RandomNormal", options, [](const Shape& shape, DType dtype, const RandomNormalOptions& o) {
            return K::random_normal(shape,
                                    {.mean = o.mean, .stddev = o.stddev, .dtype = dtype, .seed = o.seed});
          })) {}

RandomUniform::RandomUniform(const RandomUniformOptions& options)
    : Initializer(function_object<InitializerImpl>(
          "RandomUniform", options, [](const Shape& shape, DType dtype, const RandomUniformOptions& o) {
            return K::random_uniform(
                shape, {.minval = o.minval, .maxval = o.maxval, .dtype = dtype, .seed = o.seed});
          })) {}

TruncatedNormal::TruncatedNormal(const RandomNormalOptions& options)
    : Initializer(function_object<InitializerImpl>(
          "TruncatedNormal", options, [](const Shape& shape, DType dtype, const RandomNormalOptions& o) {
            return K::truncated_normal(shape,
                                       {.mean = o.mean, .stddev = o.stddev, .dtype = dtype, .seed = o.seed});
          })) {}

VarianceScaling::VarianceScaling(const VarianceScalingOptions& options)
    : Initializer(function_object<InitializerImpl>("VarianceScaling", checked(options), scaled)) {}

GlorotUniform::GlorotUniform(const SeedOptions& options)
    : Initializer(variance_scaling("GlorotUniform", options, 1, "fan_avg", "uniform")) {}
GlorotNormal::GlorotNormal(const SeedOptions& options)
    : Initializer(variance_scaling("GlorotNormal", options, 1, "fan_avg", "truncated_normal")) {}
HeUniform::HeUniform(const SeedOptions& options)
    : Initializer(variance_scaling("HeUniform", options, 2, "fan_in", "uniform")) {}
HeNormal::HeNormal(const SeedOptions& options)
    : Initializer(variance_scaling("HeNormal", options, 2, "fan_in", "truncated_normal")) {}
LecunUniform::LecunUniform(const SeedOptions& options)
    : Initializer(variance_scaling("LecunUniform", options, 1, "fan_in", "uniform")) {}
LecunNormal::LecunNormal(const SeedOptions& options)
    : Initializer(variance_scaling("LecunNormal", options, 1, "fan_in", "truncated_normal")) {}

Orthogonal::Orthogonal(const OrthogonalOptions& options)
    : Initializer(function_object<InitializerImpl>("Orthogonal", options, orthogonal)) {}

STFT::STFT(const STFTOptions& options)
    : Initializer(function_object<InitializerImpl>("STFT", checked(options), stft)) {}

void add_initializers(ClassRegistry& registry) {
  registry.add("Zeros", [](const Config&) { return Zeros(); }, {"zero"});
  registry.add("Ones", [](const Config&) { return Ones(); }, {"one"});
  registry.add<Constant, ConstantOptions>("Constant");
  registry.add<IdentityInitializer, IdentityInitializerOptions>("Identity", {"IdentityInitializer", "eye"});
  registry.add<RandomNormal, RandomNormalOptions>("RandomNormal", {"normal"});
  registry.add<RandomUniform, RandomUniformOptions>("RandomUniform", {"uniform"});
  registry.add<TruncatedNormal, RandomNormalOptions>("TruncatedNormal");
  registry.add<VarianceScaling, VarianceScalingOptions>("VarianceScaling");
  registry.add<GlorotUniform, SeedOptions>("GlorotUniform");
  registry.add<GlorotNormal, SeedOptions>("GlorotNormal");
  registry.add<HeUniform, SeedOptions>("HeUniform");
  registry.add<HeNormal, SeedOptions>("HeNormal");
  registry.add<LecunUniform, SeedOptions>("LecunUniform");
  registry.add<LecunNormal, SeedOptions>("LecunNormal");
  registry.add<Orthogonal, OrthogonalOptions>("Orthogonal", {"OrthogonalInitializer"});
  registry.add<STFT, STFTOptions>("STFT", {"STFTInitializer"});
}

}  // namespace ktape::nn
