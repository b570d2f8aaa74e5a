#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/layers/base/planned.hpp>
#include <ktape/nn/layers/base/without_arguments.hpp>
#include <ktape/nn/layers/convolutional/spatial.hpp>
#include <ktape/nn/layers/regularization/regularization.hpp>
#include <ktape/ops/control/phase.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/random/random.hpp>

#include <cmath>

namespace ktape::nn {
namespace K = backend;

template <class F>
void fields(ActivityRegularizationOptions& a, F&& field) {
  field("l1", a.l1);
  field("l2", a.l2);
}

namespace {

/// A base class of layers that change the input in training only, with random numbers.
template <class Arguments>
class TrainingOnly : public LayerWith<Arguments>, public Planned {
 public:
  TrainingOnly(const char* class_name, const Arguments& arguments)
      : LayerWith<Arguments>(class_name, arguments) {
    this->supports_masking = true;
  }

  Tensor call(const Tensor& x, const CallArguments& arguments) final {
    if (!active() || (!is_symbolic(x) && !this->training(arguments))) return x;
    return K::in_train_phase([this, x, seed = seeds_.next()] { return disturbed(x, seed); }, x,
                             arguments.training);
  }
  std::optional<int> plan(K::NetworkBuilder&, const std::vector<int>& inputs) const final {
    return inputs[0];
  }
  void state(Archive& state) final { seeds_.state(state); }

 protected:
  virtual bool active() const = 0;
  virtual Tensor disturbed(const Tensor& x, std::optional<std::int64_t> seed) const = 0;

 private:
  SeedGenerator seeds_{this->args.seed};
};

// --- Dropout -----------------------------------------------------------------------------------------------

struct DropoutArguments : DropoutOptions {
  double rate = 0;
};
template <class F>
void fields(DropoutArguments& a, F&& field) {
  field("rate", a.rate);
  field("noise_shape", a.noise_shape);
  field("seed", a.seed);
}

class DropoutImpl final : public TrainingOnly<DropoutArguments> {
 public:
  explicit DropoutImpl(const DropoutArguments& arguments) : TrainingOnly("Dropout", arguments) {
    expect_rate("Dropout", "rate", args.rate);
  }

 protected:
  bool active() const override { return args.rate > 0; }
  Tensor disturbed(const Tensor& x, std::optional<std::int64_t> seed) const override {
    return K::dropout(x, args.rate, {args.noise_shape.value_or(Shape()), seed});
  }
};

struct SpatialDropoutArguments : SpatialDropoutOptions {
  double rate = 0;
};
template <class F>
void fields(SpatialDropoutArguments& a, F&& field) {
  field("rate", a.rate);
  field("seed", a.seed);
  field("data_format", a.data_format);
}

class SpatialDropoutImpl : public TrainingOnly<SpatialDropoutArguments> {
 public:
  SpatialDropoutImpl(const char* class_name, int axes, SpatialDropoutArguments arguments)
      : TrainingOnly(class_name, with_format(class_name, axes, std::move(arguments))), axes_(axes) {
    expect_rate(class_name, "rate", args.rate);
    input_spec = {{.ndim = axes + 2}};
  }

  /// Returns the config without `trainable`, and without `data_format` for sequences with the channels last:
  /// Keras 3 does not know these arguments.
  Value to_value() const override {
    const bool plain = axes_ == 1 && args.data_format == "channels_last";
    return without_arguments(TrainingOnly::to_value(), {"trainable", plain ? "data_format" : "trainable"});
  }

 protected:
  bool active() const override { return args.rate > 0; }
  Tensor disturbed(const Tensor& x, std::optional<std::int64_t> seed) const override {
    Shape decisions{None};
    if (args.data_format == "channels_first") decisions.push_back(None);
    for (int axis = 0; axis < axes_; ++axis) decisions.push_back(1);
    if (args.data_format == "channels_last") decisions.push_back(None);
    return K::dropout(x, args.rate, {decisions, seed});
  }

 private:
  static SpatialDropoutArguments with_format(const char* layer, int axes, SpatialDropoutArguments a) {
    a.data_format = axes == 1 && a.data_format.empty() ? "channels_last" : data_format(layer, a.data_format);
    return a;
  }
  int axes_;
};

struct SpatialDropout1DImpl final : SpatialDropoutImpl {
  explicit SpatialDropout1DImpl(const SpatialDropoutArguments& a)
      : SpatialDropoutImpl("SpatialDropout1D", 1, a) {}
};
struct SpatialDropout2DImpl final : SpatialDropoutImpl {
  explicit SpatialDropout2DImpl(const SpatialDropoutArguments& a)
      : SpatialDropoutImpl("SpatialDropout2D", 2, a) {}
};
struct SpatialDropout3DImpl final : SpatialDropoutImpl {
  explicit SpatialDropout3DImpl(const SpatialDropoutArguments& a)
      : SpatialDropoutImpl("SpatialDropout3D", 3, a) {}
};

// --- Noise -------------------------------------------------------------------------------------------------

struct GaussianDropoutArguments : GaussianDropoutOptions {
  double rate = 0;
};
template <class F>
void fields(GaussianDropoutArguments& a, F&& field) {
  field("rate", a.rate);
  field("seed", a.seed);
}

class GaussianDropoutImpl final : public TrainingOnly<GaussianDropoutArguments> {
 public:
  explicit GaussianDropoutImpl(const GaussianDropoutArguments& arguments)
      : TrainingOnly("GaussianDropout", arguments) {
    expect_rate("GaussianDropout", "rate", args.rate);
  }

 protected:
  bool active() const override { return args.rate > 0; }
  Tensor disturbed(const Tensor& x, std::optional<std::int64_t> seed) const override {
    const double stddev = std::sqrt(args.rate / (1 - args.rate));
    return x * K::random_normal(K::shape(x), {.mean = 1, .stddev = stddev, .dtype = x.dtype(), .seed = seed});
  }
};

struct GaussianNoiseArguments : GaussianNoiseOptions {
  double stddev = 0;
};
template <class F>
void fields(GaussianNoiseArguments& a, F&& field) {
  field("stddev", a.stddev);
  field("seed", a.seed);
}

class GaussianNoiseImpl final : public TrainingOnly<GaussianNoiseArguments> {
 public:
  explicit GaussianNoiseImpl(const GaussianNoiseArguments& arguments)
      : TrainingOnly("GaussianNoise", arguments) {
    expect_at_least("GaussianNoise", "stddev", args.stddev, 0.0);
  }

 protected:
  bool active() const override { return args.stddev > 0; }
  Tensor disturbed(const Tensor& x, std::optional<std::int64_t> seed) const override {
    return x + K::random_normal(K::shape(x), {.stddev = args.stddev, .dtype = x.dtype(), .seed = seed});
  }
};

struct AlphaDropoutArguments : AlphaDropoutOptions {
  double rate = 0;
};
template <class F>
void fields(AlphaDropoutArguments& a, F&& field) {
  field("rate", a.rate);
  field("noise_shape", a.noise_shape);
  field("seed", a.seed);
}

class AlphaDropoutImpl final : public TrainingOnly<AlphaDropoutArguments> {
 public:
  explicit AlphaDropoutImpl(const AlphaDropoutArguments& arguments)
      : TrainingOnly("AlphaDropout", arguments) {
    expect_rate("AlphaDropout", "rate", args.rate);
  }

 protected:
  bool active() const override { return args.rate > 0; }
  Tensor disturbed(const Tensor& x, std::optional<std::int64_t> seed) const override {
    constexpr double saturation =
        -1.6732632423543772 * 1.0507009873554805;  // the limit of selu at minus infinity
    const double scale = 1 / std::sqrt((1 - args.rate) * (1 + args.rate * saturation * saturation));
    // A mask that is 1 for kept elements: K::dropout divides the ones by 1 - rate.
    const Tensor kept =
        K::dropout(K::ones_like(x), args.rate, {args.noise_shape.value_or(Shape()), seed}) * (1 - args.rate);
    return (x * kept + (1 - kept) * saturation) * scale - scale * saturation * args.rate;
  }
};

class ActivityRegularizationImpl final : public LayerWith<ActivityRegularizationOptions> {
 public:
  explicit ActivityRegularizationImpl(const ActivityRegularizationOptions& options)
      : LayerWith("ActivityRegularization", options) {
    supports_masking = true;
    activity_regularizer = L1L2({.l1 = args.l1, .l2 = args.l2});
  }
  Tensor call(const Tensor& x) override { return x; }
};

}  // namespace

Dropout::Dropout(const DropoutOptions& options)
    : Layer(std::make_shared<DropoutImpl>(
          DropoutArguments{options, internal::given("Dropout", "rate", options.rate)})) {}
SpatialDropout1D::SpatialDropout1D(const SpatialDropoutOptions& options)
    : Layer(std::make_shared<SpatialDropout1DImpl>(
          SpatialDropoutArguments{options, internal::given("SpatialDropout1D", "rate", options.rate)})) {}
SpatialDropout2D::SpatialDropout2D(const SpatialDropoutOptions& options)
    : Layer(std::make_shared<SpatialDropout2DImpl>(
          SpatialDropoutArguments{options, internal::given("SpatialDropout2D", "rate", options.rate)})) {}
SpatialDropout3D::SpatialDropout3D(const SpatialDropoutOptions& options)
    : Layer(std::make_shared<SpatialDropout3DImpl>(
          SpatialDropoutArguments{options, internal::given("SpatialDropout3D", "rate", options.rate)})) {}
GaussianDropout::GaussianDropout(const GaussianDropoutOptions& options)
    : Layer(std::make_shared<GaussianDropoutImpl>(
          GaussianDropoutArguments{options, internal::given("GaussianDropout", "rate", options.rate)})) {}
GaussianNoise::GaussianNoise(const GaussianNoiseOptions& options)
    : Layer(std::make_shared<GaussianNoiseImpl>(
          GaussianNoiseArguments{options, internal::given("GaussianNoise", "stddev", options.stddev)})) {}
AlphaDropout::AlphaDropout(const AlphaDropoutOptions& options)
    : Layer(std::make_shared<AlphaDropoutImpl>(
          AlphaDropoutArguments{options, internal::given("AlphaDropout", "rate", options.rate)})) {}
ActivityRegularization::ActivityRegularization(const ActivityRegularizationOptions& options)
    : Layer(std::make_shared<ActivityRegularizationImpl>(options)) {}

void add_regularization_layers(ClassRegistry& registry) {
  add_layer<DropoutImpl, DropoutArguments>(registry, "Dropout");
  add_layer<SpatialDropout1DImpl, SpatialDropoutArguments>(registry, "SpatialDropout1D");
  add_layer<SpatialDropout2DImpl, SpatialDropoutArguments>(registry, "SpatialDropout2D");
  add_layer<SpatialDropout3DImpl, SpatialDropoutArguments>(registry, "SpatialDropout3D");
  add_layer<GaussianDropoutImpl, GaussianDropoutArguments>(registry, "GaussianDropout");
  add_layer<GaussianNoiseImpl, GaussianNoiseArguments>(registry, "GaussianNoise");
  add_layer<AlphaDropoutImpl, AlphaDropoutArguments>(registry, "AlphaDropout");
  add_layer<ActivityRegularizationImpl, ActivityRegularizationOptions>(registry, "ActivityRegularization");
}

}  // namespace ktape::nn
