#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/base/planned.hpp>
#include <ktape/nn/layers/core/core.hpp>
#include <ktape/nn/layers/core/lambda_functions.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/nn/bias.hpp>
#include <ktape/ops/nn/class_numbers.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

namespace ktape::nn {
namespace K = backend;

template <class F>
void fields(MaskingOptions& a, F&& field) {
  field("mask_value", a.mask_value);
}

namespace {

// --- Dense -------------------------------------------------------------------------------------------------

struct DenseArguments : DenseOptions {
  std::int64_t units = 0;
};

template <class F>
void fields(DenseArguments& a, F&& field) {
  field("units", a.units);
  field("activation", a.activation);
  field("use_bias", a.use_bias);
  field("kernel_initializer", a.kernel_initializer);
  field("bias_initializer", a.bias_initializer);
  field("kernel_regularizer", a.kernel_regularizer);
  field("bias_regularizer", a.bias_regularizer);
  field("activity_regularizer", a.activity_regularizer);
  field("kernel_constraint", a.kernel_constraint);
  field("bias_constraint", a.bias_constraint);
}

class DenseImpl final : public LayerWith<DenseArguments>, public Planned {
 public:
  explicit DenseImpl(const DenseArguments& arguments) : LayerWith("Dense", arguments) {
    expect_at_least<std::int64_t>("Dense", "units", args.units, 1);
    supports_masking = true;
    activity_regularizer = args.activity_regularizer;
    input_spec = {{.min_ndim = 2}};
  }

  void build(const Shape& input) override {
    kernel_ = add_weight("kernel", {input[-1], args.units},
                         {.initializer = args.kernel_initializer,
                          .regularizer = args.kernel_regularizer,
                          .constraint = args.kernel_constraint});
    if (args.use_bias)
      bias_ = add_weight("bias", {args.units},
                         {.initializer = args.bias_initializer,
                          .regularizer = args.bias_regularizer,
                          .constraint = args.bias_constraint});
    input_spec = {{.min_ndim = 2, .axes = {{-1, input[-1]}}}};
  }

  Tensor call(const Tensor& x) override {
    Tensor y = K::dot(K::as_dtype(x, compute_dtype()), kernel_);
    if (args.use_bias) y = K::bias_add(y, bias_, {.data_format = "channels_last"});
    if (args.activation.defined()) y = args.activation(y);
    return y;
  }

  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const override {
    if (activity_regularizer.defined()) return {};
    const auto y = network.product(inputs[0], kernel_, bias_);
    return y ? plan_activation(network, *y, args.activation) : y;
  }

 private:
  Variable kernel_, bias_;
};

// --- Activation, Identity ---------------------------------------------------------------------------------

struct ActivationArguments : LayerOptions {
  ActivationFunction activation;
};

template <class F>
void fields(ActivationArguments& a, F&& field) {
  field("activation", a.activation);
}

class ActivationLayerImpl final : public LayerWith<ActivationArguments>, public Planned {
 public:
  explicit ActivationLayerImpl(const ActivationArguments& arguments) : LayerWith("Activation", arguments) {
    supports_masking = true;
  }
  Tensor call(const Tensor& x) override { return args.activation(x); }
  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const override {
    return plan_activation(network, inputs[0], args.activation);
  }
};

class IdentityImpl final : public LayerWith<LayerOptions>, public Planned {
 public:
  explicit IdentityImpl(const LayerOptions& options) : LayerWith("Identity", options) {
    supports_masking = true;
  }
  Tensor call(const Tensor& x) override { return x; }
  std::optional<int> plan(K::NetworkBuilder&, const std::vector<int>& inputs) const override {
    return inputs[0];
  }
};

// --- Embedding, Masking -----------------------------------------------------------------------------------

struct EmbeddingArguments : EmbeddingOptions {
  std::int64_t input_dim = 0, output_dim = 0;
};

template <class F>
void fields(EmbeddingArguments& a, F&& field) {
  field("input_dim", a.input_dim);
  field("output_dim", a.output_dim);
  field("embeddings_initializer", a.embeddings_initializer);
  field("embeddings_regularizer", a.embeddings_regularizer);
  field("activity_regularizer", a.activity_regularizer);
  field("embeddings_constraint", a.embeddings_constraint);
  field("mask_zero", a.mask_zero);
  field("input_length", a.input_length);
}

class EmbeddingImpl final : public LayerWith<EmbeddingArguments> {
 public:
  explicit EmbeddingImpl(const EmbeddingArguments& arguments) : LayerWith("Embedding", arguments) {
    expect_at_least<std::int64_t>("Embedding", "input_dim", args.input_dim, 1);
    expect_at_least<std::int64_t>("Embedding", "output_dim", args.output_dim, 1);
    if (const Shape table{args.input_dim, args.output_dim};
        args.weights.defined() && args.weights.shape() != table)
      fail("[Embedding] weights must have the shape ", table, ": received weights=", args.weights.shape());
    supports_masking = args.mask_zero;
    autocast = false;  // float16 does not hold all indices
    activity_regularizer = args.activity_regularizer;
  }

  void build(const Shape&) override {
    const auto given = [this](const Shape&, DType dtype) { return K::as_dtype(args.weights, dtype); };
    embeddings_ =
        add_weight("embeddings", {args.input_dim, args.output_dim},
                   {.initializer = args.weights.defined() ? Initializer(given) : args.embeddings_initializer,
                    .regularizer = args.embeddings_regularizer,
                    .constraint = args.embeddings_constraint});
    embeddings_.set_autocast(false);  // the rows are converted, not the table
  }

  Tensor call(const Tensor& x) override {
    const Tensor indices = x.dtype().is_integer() ? x : K::class_numbers(name(), "index", x);
    return K::as_dtype(K::gather(embeddings_, indices), compute_dtype());
  }

  Tensor compute_mask(const Tensor& x, const Tensor&) override { return x != 0; }

 private:
  Variable embeddings_;
};

class MaskingImpl final : public LayerWith<MaskingOptions> {
 public:
  explicit MaskingImpl(const MaskingOptions& options) : LayerWith("Masking", options) {
    supports_masking = true;
    input_spec = {{.min_ndim = 2}};
  }
  Tensor call(const Tensor& x) override { return K::where(K::any(x != args.mask_value, -1, true), x, 0); }
  Tensor compute_mask(const Tensor& x, const Tensor&) override { return K::any(x != args.mask_value, -1); }
};

// --- Lambda -----------------------------------------------------------------------------------------------

class LambdaImpl final : public LayerImpl {
 public:
  LambdaImpl(Lambda::Function f, const LayerOptions& options)
      : LayerImpl("Lambda", options), f_(std::move(f)) {}
  std::vector<Tensor> call(const std::vector<Tensor>& inputs) { return f_(inputs); }
  Value to_value() const override {
    if (LambdaFunctions* const functions = LambdaFunctions::active()) {
      Config config = full_config();
      config.set("function", functions->keep(f_));
      return described(*this, config);
    }
    fail("[", name(),
         "] a Lambda has no config from which it could be made again: make its function the call of a layer "
         "class (nn::LayerOf)");
  }

 private:
  Lambda::Function f_;
};

}  // namespace

namespace {

/// Returns the arguments of a layer with the input shape {extent}, if `extent` is given and an input shape is
/// not.
template <class Arguments>
Arguments with_input(Arguments arguments, std::optional<std::int64_t> extent) {
  if (extent && !arguments.input_shape) arguments.input_shape = {*extent};
  return arguments;
}

}  // namespace

Dense::Dense(const DenseOptions& options)
    : KernelLayer(std::make_shared<DenseImpl>(with_input(
          DenseArguments{options, internal::given("Dense", "units", options.units)}, options.input_dim))) {}

Activation::Activation(const ActivationOptions& options)
    : Layer(std::make_shared<ActivationLayerImpl>(ActivationArguments{
          layer_options_of(options), internal::given("Activation", "activation", options.activation)})) {}

Identity::Identity(const LayerOptions& options) : Layer(std::make_shared<IdentityImpl>(options)) {}

Embedding::Embedding(const EmbeddingOptions& options)
    : Layer(std::make_shared<EmbeddingImpl>(
          with_input(EmbeddingArguments{options, internal::given("Embedding", "input_dim", options.input_dim),
                                        internal::given("Embedding", "output_dim", options.output_dim)},
                     options.input_length))) {}

Masking::Masking(const MaskingOptions& options) : Layer(std::make_shared<MaskingImpl>(options)) {}

Lambda::Lambda(const LambdaOptions& options)
    : Layer(std::make_shared<LambdaImpl>(internal::given("Lambda", "function", options.function).of_list(),
                                         layer_options_of(options))) {}

thread_local LambdaFunctions* LambdaFunctions::active_ = nullptr;

LambdaFunctions::LambdaFunctions()
    : before_(std::exchange(active_, this)),
      made_here_({{"Lambda", [this](const Config& config) {
                     const auto number =
                         static_cast<std::size_t>(config.at("function").integer("[Lambda] function"));
                     LambdaOptions options{.function = functions_.at(number)};
                     set_layer_options(options, layer_options("Lambda", config));
                     return Lambda(options);
                   }}}) {}

std::int64_t LambdaFunctions::keep(const Lambda::Function& f) {
  functions_.push_back(f);
  return std::ssize(functions_) - 1;
}

void LambdaFunction::fail_several(std::size_t received) {
  fail("[Lambda] the function takes one tensor: received ", received);
}

void add_core_layers(ClassRegistry& registry) {
  add_layer<DenseImpl, DenseArguments>(registry, "Dense");
  add_layer<ActivationLayerImpl, ActivationArguments>(registry, "Activation");
  add_layer<IdentityImpl, LayerOptions>(registry, "Identity");
  add_layer<EmbeddingImpl, EmbeddingArguments>(registry, "Embedding");
  add_layer<MaskingImpl, MaskingOptions>(registry, "Masking");
}

}  // namespace ktape::nn
