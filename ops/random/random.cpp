#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/kernels/random/distributions.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/random/random.hpp>
#include <ktape/ops/random/random_scope.hpp>
#include <ktape/ops/settings/config.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <random>

namespace ktape::backend {
namespace {

/// The source of keys. Keys from seeds, from scopes and from the global generator never coincide.
struct Generator {
  enum Origin : std::uint32_t { given = 1, global = 2, scoped = 3 };
  std::mutex lock;
  std::uint64_t seed = std::uint64_t{std::random_device()()} << 32 | std::random_device()();
  std::uint64_t drawn = 0;

  static std::uint64_t key(std::uint64_t seed, std::uint64_t number, std::uint32_t origin) {
    const auto halves = [](std::uint64_t x) {
      return std::array{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32)};
    };
    const auto words = kernels::philox({halves(number)[0], halves(number)[1], origin, 0}, halves(seed));
    return std::uint64_t{words[1]} << 32 | words[0];
  }
};

Generator& generator() {
  static Generator& instance = *new Generator;
  return instance;
}

DType floating_dtype(const char* op, const std::optional<DType>& wanted) {
  const DType dtype = wanted.value_or(floatx());
  if (!dtype.is_floating())
    fail<TypeError>(
        "[", op, "] dtype must be floating (float16, bfloat16, float32 or float64): received dtype=", dtype);
  return dtype;
}

/// Returns the number rounded to the floating type T, in the type that kernels compute in.
template <class T>
kernels::random_real<T> finite(const char* op, const char* name, Scalar value) {
  const kernels::random_real<T> rounded = value.to<T>();
  if (!std::isfinite(rounded))
    fail("[", op, "] ", name, " must be finite in ", dtype_of<T>(), ": received ", name, '=', value.real());
  return rounded;
}

/// Returns the largest number of T below x.
template <class T>
T number_below(T x) {
  if constexpr (!is_half<T>) return std::nextafter(x, -std::numeric_limits<T>::infinity());
  else if (static_cast<float>(x) == 0) return T::from_bits(0x8001);
  else return T::from_bits(static_cast<std::uint16_t>(x.bits() + (static_cast<float>(x) > 0 ? -1 : 1)));
}

/// Checks the known extents and returns whether the op is deferred.
bool waits(const char* op, const ShapeLike& shape, DType dtype) {
  check_extents(op, shape.known(), dtype.size(), shape.waits());
  return shape.waits() || symbolic_mode();
}

/// Draws numbers into a new tensor, now or when a function runs; f(out) has checked everything else.
template <class F>
Tensor drawn(const char* op, const ShapeLike& shape, DType dtype, F fill) {
  const auto draw = [=](const ShapeLike& shape) {
    if (shape.waits()) return drawn(op, shape, dtype, fill);  // a model is called in another one
    check_extents(op, shape.known(), dtype.size());
    Tensor out = Tensor::empty(shape.known(), dtype, op);
    fill(out);
    return out;
  };
  if (waits(op, shape, dtype)) return defer(impure(op), {shape.known(), dtype}, draw, shape);
  return draw(shape);
}

/// Returns the tensor for the numbers from which `out` is rounded: `out`, or float32 for half precision.
template <class T>
Tensor as_computed(const Tensor& out) {
  return is_half<T> ? Tensor::empty(out.shape(), DType::Float32) : out;
}
void round_into(const Tensor& out, const Tensor& numbers) {
  if (out.dtype().is_half()) convert(out.raw(), out.dtype(), numbers.raw(), DType::Float32, out.size());
}

template <class T>
Tensor uniform_reals(const char* op, const ShapeLike& shape, const RandomUniformOptions& options) {
  using C = kernels::random_real<T>;
  const C low = finite<T>(op, "minval", options.minval),
          high = finite<T>(op, "maxval", options.maxval.value_or(1.0));
  if (low > high) fail("[", op, "] minval must not exceed maxval: received minval=", low, ", maxval=", high);
  if (!std::isfinite(high - low))
    fail("[", op, "] maxval - minval must be finite in ", dtype_of<T>(), ": received minval=", low,
         ", maxval=", high);
  const C last = low < high ? static_cast<C>(number_below(static_cast<T>(high))) : high;
  return drawn(op, shape, dtype_of<T>(), [=, seed = options.seed](Tensor& out) {
    Tensor numbers = as_computed<T>(out);
    kernels::fill_uniform(random_key(seed), out.size(), numbers.pointer<C>(), low, high - low, last);
    round_into(out, numbers);
  });
}

template <class T>
std::int64_t whole(const char* op, const char* name, Scalar value, std::int64_t highest) {
  const bool whole_number = value.kind() != Scalar::Real ||
                            (std::trunc(value.real()) == value.real() && std::abs(value.real()) < 0x1p63);
  if (!whole_number || value.integer() < std::numeric_limits<T>::min() || value.integer() > highest)
    fail("[", op, "] ", name, " must be a whole number within ", dtype_of<T>(), ": received ", name, '=',
         value.real());
  return value.integer();
}

template <class T>
Tensor uniform_integers(const char* op, const ShapeLike& shape, const RandomUniformOptions& options) {
  if (!options.maxval)
    fail("[", op, "] an integer dtype needs maxval: received dtype=", dtype_of<T>(), ", maxval=None");
  constexpr std::int64_t largest = std::numeric_limits<T>::max();
  const std::int64_t low = whole<T>(op, "minval", options.minval, largest);
  const std::int64_t high = whole<T>(op, "maxval", *options.maxval, sizeof(T) == 8 ? largest : largest + 1);
  if (low >= high) fail("[", op, "] integers need minval < maxval: received minval=", low, ", maxval=", high);
  return drawn(op, shape, dtype_of<T>(), [=, seed = options.seed](Tensor& out) {
    kernels::fill_integers(random_key(seed), out.size(), out.pointer<T>(), low,
                           static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low));
  });
}

template <class F>
Tensor normal(const char* op, const ShapeLike& shape, const RandomNormalOptions& options, F fill) {
  return dispatch_floating(floating_dtype(op, options.dtype), [&]<class T>() {
    const auto mean = finite<T>(op, "mean", options.mean), stddev = finite<T>(op, "stddev", options.stddev);
    if (stddev < 0) fail("[", op, "] stddev must be at least 0: received stddev=", stddev);
    return drawn(op, shape, dtype_of<T>(), [=, seed = options.seed](Tensor& out) {
      Tensor numbers = as_computed<T>(out);
      fill(random_key(seed), out.size(), numbers.pointer<kernels::random_real<T>>(), mean, stddev);
      round_into(out, numbers);
    });
  });
}

/// Returns the number of values of a 32-bit word that have probability p.
std::uint64_t share_of_words(double p) { return static_cast<std::uint64_t>(std::llround(p * 0x1p32)); }

Tensor bernoulli(const char* op, const ShapeLike& shape, const RandomBernoulliOptions& options) {
  if (!(options.p >= 0 && options.p <= 1))
    fail("[", op, "] p must be between 0 and 1: received p=", options.p);
  const std::uint64_t ones = share_of_words(options.p);
  return drawn(op, shape, options.dtype.value_or(floatx()), [ones, seed = options.seed](Tensor& out) {
    const std::uint64_t key = random_key(seed);
    if (ones == 0) {
      std::memset(out.raw(), 0, static_cast<std::size_t>(out.size()) * out.dtype().size());
      return;
    }
    dispatch(out.dtype(), [&]<class T>() {
      using Bits = kernels::bits_of<T>;
      const Bits one = std::bit_cast<Bits>(static_cast<T>(1.f));
      kernels::fill_bernoulli(key, out.size(), out.pointer<Bits>(), one,
                              static_cast<std::uint32_t>(ones - 1));
    });
  });
}

/// Drops and scales the entries that the key decides, into `out`, which may be x.
Tensor drop(const Tensor& x, double level, std::uint64_t key, Tensor out) {
  const std::uint64_t dropped = std::min<std::uint64_t>(share_of_words(level), 0xffffffff);
  const Tensor values = op_helpers::widened(x),
               results = x.dtype().is_half() ? Tensor::empty(x.shape(), values.dtype()) : out;
  dispatch_native_floating(values.dtype(), [&]<class T>() {
    kernels::scale_kept(key, x.size(), results.pointer<T>(), values.pointer<T>(),
                        static_cast<T>(1 / (1 - level)), static_cast<std::uint32_t>(dropped));
  });
  round_into(out, results);
  // The op is linear in x: its gradient is this op with this key, to any order.
  if (recording(x))
    record("dropout", out, {x}, [level, key](const Tensor& g, Grads& grads) {
      const bool reuse = !recording() && g.exclusive();
      grads.to(0, [&] { return drop(g, level, key, reuse ? g : Tensor::empty(g.shape(), g.dtype())); });
    });
  return out;
}

Shape resolved_noise_shape(const Shape& noise, const Shape& shape) {
  Shape resolved = noise;
  const int missing = shape.rank() - noise.rank();
  bool fits = missing >= 0;
  for (int i = 0; fits && i < noise.rank(); ++i) {
    const std::int64_t extent = shape[missing + i];
    if (noise[i] == None) resolved[i] = extent;
    fits = resolved[i] == extent || resolved[i] == 1 || extent == None;
  }
  if (!fits)
    fail("[dropout] noise_shape must broadcast to the shape of x: received noise_shape=", noise,
         ", x=", shape);
  return resolved;
}

}  // namespace

void set_random_seed(std::int64_t seed) {
  const std::lock_guard lock(generator().lock);
  generator().seed = static_cast<std::uint64_t>(seed);
  generator().drawn = 0;
}

RandomState random_state() {
  const std::lock_guard lock(generator().lock);
  return {generator().seed, generator().drawn};
}

void set_random_state(const RandomState& state) {
  const std::lock_guard lock(generator().lock);
  generator().seed = state.seed;
  generator().drawn = state.drawn;
}

std::uint64_t random_key(std::optional<std::int64_t> seed) {
  RandomScope* scope = RandomScope::current();
  if (seed) {
    const auto given = static_cast<std::uint64_t>(*seed);
    return Generator::key(scope ? scope->salted(given) : given, 0, Generator::given);
  }
  if (inferring_shapes()) return 0;
  if (scope) return scope->draw();
  const std::lock_guard lock(generator().lock);
  return Generator::key(generator().seed, generator().drawn++, Generator::global);
}

namespace {

Tensor normal(const char* op, const ShapeLike& shape, const RandomNormalOptions& options) {
  return normal(op, shape, options, [](const auto&... arguments) { kernels::fill_normal(arguments...); });
}

Tensor uniform(const char* op, const ShapeLike& shape, const RandomUniformOptions& options) {
  return dispatch(options.dtype.value_or(floatx()), [&]<class T>() -> Tensor {
    if constexpr (dtype_of<T>().is_floating()) return uniform_reals<T>(op, shape, options);
    else if constexpr (!std::is_same_v<T, bool>) return uniform_integers<T>(op, shape, options);
    else fail<TypeError>("[", op, "] dtype must be floating or integer: received dtype=bool");
  });
}

thread_local RandomScope* current_scope = nullptr;

}  // namespace

RandomScope::RandomScope(std::uint64_t key, std::uint64_t salt)
    : key_(key), salt_(salt), outer_(std::exchange(current_scope, this)) {}
RandomScope::~RandomScope() { current_scope = outer_; }
std::uint64_t RandomScope::draw() { return Generator::key(key_, drawn_++, Generator::scoped); }
RandomScope* RandomScope::current() { return current_scope; }

Tensor random_normal(const ShapeLike& shape, const RandomNormalOptions& options) {
  return normal("random_normal", shape, options);
}

Tensor truncated_normal(const ShapeLike& shape, const RandomNormalOptions& options) {
  return normal("truncated_normal", shape, options,
                [](const auto&... arguments) { kernels::fill_truncated_normal(arguments...); });
}

Tensor random_uniform(const ShapeLike& shape, const RandomUniformOptions& options) {
  return uniform("random_uniform", shape, options);
}

Tensor random_bernoulli(const ShapeLike& shape, const RandomBernoulliOptions& options) {
  return bernoulli("random_bernoulli", shape, options);
}

Tensor random_binomial(const ShapeLike& shape, const RandomBernoulliOptions& options) {
  return bernoulli("random_binomial", shape, options);
}

Variable random_uniform_variable(const Shape& shape, Scalar low, Scalar high,
                                 const RandomVariableOptions& options) {
  const Tensor value = uniform("random_uniform_variable", shape,
                               {.minval = low, .maxval = high, .dtype = options.dtype, .seed = options.seed});
  return variable(value, {.name = options.name});
}
Variable random_uniform_variable(const Shape& shape, Scalar low, Scalar high, DType dtype) {
  return random_uniform_variable(shape, low, high, {.dtype = dtype});
}

Variable random_normal_variable(const Shape& shape, Scalar mean, Scalar scale,
                                const RandomVariableOptions& options) {
  const Tensor value = normal("random_normal_variable", shape,
                              {.mean = mean, .stddev = scale, .dtype = options.dtype, .seed = options.seed});
  return variable(value, {.name = options.name});
}
Variable random_normal_variable(const Shape& shape, Scalar mean, Scalar scale, DType dtype) {
  return random_normal_variable(shape, mean, scale, {.dtype = dtype});
}

Tensor dropout(const Tensor& x, double level, const DropoutOptions& options) {
  expect_defined("dropout", "x", x);
  if (!x.dtype().is_floating())
    fail<TypeError>("[dropout] x must be floating (float16, bfloat16, float32 or float64): received dtype=",
                    x.dtype());
  if (!(level >= 0 && level < 1))
    fail("[dropout] level must be at least 0 and below 1: received level=", level);
  const Shape& wanted = options.noise_shape.known();
  const Shape noise = wanted.empty() ? x.shape() : resolved_noise_shape(wanted, x.shape());
  if (is_symbolic(x) || options.noise_shape.waits() || symbolic_mode())
    return defer(
        impure("dropout"), {x.shape(), x.dtype()},
        [level, seed = options.seed](const Tensor& x, const ShapeLike& noise) {
          return dropout(x, level, {.noise_shape = noise, .seed = seed});
        },
        x, options.noise_shape);
  if (level == 0) return identity(x);
  const std::uint64_t key = random_key(options.seed);
  if (noise == x.shape()) return drop(x, level, key, Tensor::empty(x.shape(), x.dtype()));
  const Tensor mask = ones(noise, {.dtype = x.dtype()});
  return x * drop(mask, level, key, mask);
}

}  // namespace ktape::backend
