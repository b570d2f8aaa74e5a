#include <ktape/autograd/defer.hpp>
#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/base/planned.hpp>
#include <ktape/nn/layers/reshaping/reshaping.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::nn {
namespace K = backend;

template <class F>
void fields(FlattenOptions& a, F&& field) {
  field("data_format", a.data_format);
}

namespace {

class FlattenImpl final : public LayerWith<FlattenOptions>, public Planned {
 public:
  explicit FlattenImpl(FlattenOptions options) : LayerWith("Flatten", with_format(std::move(options))) {
    input_spec = {{.min_ndim = 1}};
  }

  Tensor call(const Tensor& x) override {
    if (x.ndim() == 1) return K::expand_dims(x, 1);
    if (x.ndim() < 3 || args.data_format == "channels_last") return K::batch_flatten(x);
    Shape channels_last{0};
    for (int axis = 2; axis < x.ndim(); ++axis) channels_last.push_back(axis);
    channels_last.push_back(1);
    return K::batch_flatten(K::permute_dimensions(x, channels_last));
  }
  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const override {
    const Shape shape(network.shape(inputs[0]));
    if (shape.rank() == 2) return inputs[0];
    if (args.data_format != "channels_last") return {};
    return network.reshape(inputs[0], {shape[0], shape.count(1)});
  }

 private:
  static FlattenOptions with_format(FlattenOptions options) {
    std::string& format = options.data_format;
    if (format.empty()) format = K::image_data_format();
    if (format != "channels_last" && format != "channels_first")
      fail("[Flatten] data_format must be channels_last or channels_first: received data_format=", format);
    return options;
  }
};

// --- Reshape ----------------------------------------------------------------------------------------------

struct ReshapeArguments : ReshapeOptions {
  Shape target_shape;
};

template <class F>
void fields(ReshapeArguments& a, F&& field) {
  field("target_shape", a.target_shape);
}

class ReshapeImpl final : public LayerWith<ReshapeArguments>, public Planned {
 public:
  explicit ReshapeImpl(const ReshapeArguments& arguments) : LayerWith("Reshape", arguments) {
    const auto unknown = std::count(args.target_shape.begin(), args.target_shape.end(), -1);
    const bool below =
        std::any_of(args.target_shape.begin(), args.target_shape.end(), [](auto n) { return n < -1; });
    if (unknown > 1 || below)
      fail(
          "[Reshape] target_shape must have extents of at least 0, and one -1 at most: received "
          "target_shape=",
          args.target_shape);
  }

  /// Writes the extents as numbers, because a Shape in a config has null for -1, which Keras does not accept.
  Config get_config() const override {
    return {{"target_shape", Value::List(args.target_shape.begin(), args.target_shape.end())}};
  }

  Tensor call(const Tensor& x) override {
    if (x.ndim() == 0) fail("[", name(), "] the input must have a batch axis: received shape=()");
    Shape shape = args.target_shape;
    const bool open = std::count(shape.begin(), shape.end(), -1) > 0;
    if (!open) check(x.shape());
    if (open && x.shape()[0] == None) return with_open_batch(x);
    shape.insert(0, open ? x.shape()[0] : -1);
    return K::reshape(x, shape);
  }
  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const override {
    const Shape x(network.shape(inputs[0]));
    Shape shape = args.target_shape;
    std::int64_t rest = 1;
    for (const std::int64_t n : shape) rest *= n == -1 ? 1 : n;
    if (rest == 0) return {};
    std::replace(shape.begin(), shape.end(), std::int64_t{-1}, x.count(1) / rest);
    shape.insert(0, x[0]);
    return network.reshape(inputs[0], shape);
  }

 private:
  /// Throws ValueError if the number of elements of a sample changes.
  void check(const Shape& x) const {
    const bool known = std::none_of(x.begin() + 1, x.end(), [](auto n) { return n == None; });
    if (known && x.count(1) != args.target_shape.count())
      fail("[", name(), "] a sample must keep its ", x.count(1),
           " elements: received target_shape=", args.target_shape, " for shape=", x);
  }

  /// Reshapes a symbol of unknown batch size. The extent that is given as -1 stays unknown if x has an
  /// unknown extent after the batch axis.
  Tensor with_open_batch(const Tensor& x) const {
    Shape shape = args.target_shape;
    std::int64_t rest = 1;
    for (const std::int64_t n : shape) rest *= n == -1 ? 1 : n;
    const bool known = std::none_of(x.shape().begin() + 1, x.shape().end(), [](auto n) { return n == None; });
    if (rest == 0 || (known && x.shape().count(1) % rest != 0))
      fail("[", name(),
           "] the -1 of target_shape must follow from the input: received target_shape=", args.target_shape,
           " for shape=", x.shape());
    *std::find(shape.begin(), shape.end(), -1) = known ? x.shape().count(1) / rest : None;
    shape.insert(0, None);
    return defer(
        "reshape", {shape, x.dtype()},
        [target = args.target_shape](const Tensor& x) {
          Shape shape = target;
          shape.insert(0, x.shape()[0]);
          return K::reshape(x, shape);
        },
        x);
  }
};

// --- Permute, RepeatVector --------------------------------------------------------------------------------

struct PermuteArguments : PermuteOptions {
  Shape dims;
};

template <class F>
void fields(PermuteArguments& a, F&& field) {
  field("dims", a.dims);
}

class PermuteImpl final : public LayerWith<PermuteArguments>, public Planned {
 public:
  explicit PermuteImpl(const PermuteArguments& arguments) : LayerWith("Permute", arguments) {
    Shape sorted = args.dims;
    std::sort(sorted.begin(), sorted.end());
    for (int i = 0; i < sorted.rank(); ++i)
      if (sorted[i] != i + 1)
        fail("[Permute] dims must name each axis from 1 once: received dims=", args.dims);
    input_spec = {{.ndim = args.dims.rank() + 1}};
  }
  Tensor call(const Tensor& x) override {
    Shape pattern = args.dims;
    pattern.insert(0, 0);
    return K::permute_dimensions(x, pattern);
  }
  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const override {
    std::vector<int> axes{0};
    for (const std::int64_t axis : args.dims) axes.push_back(static_cast<int>(axis));
    return static_cast<int>(axes.size()) == network.rank(inputs[0]) ? network.permutation(inputs[0], axes)
                                                                    : std::nullopt;
  }
};

struct RepeatVectorArguments : RepeatVectorOptions {
  std::int64_t n = 1;
};

template <class F>
void fields(RepeatVectorArguments& a, F&& field) {
  field("n", a.n);
}

class RepeatVectorImpl final : public LayerWith<RepeatVectorArguments> {
 public:
  explicit RepeatVectorImpl(const RepeatVectorArguments& arguments) : LayerWith("RepeatVector", arguments) {
    expect_at_least<std::int64_t>("RepeatVector", "n", args.n, 1);
    input_spec = {{.ndim = 2}};
  }
  Tensor call(const Tensor& x) override { return K::repeat(x, args.n); }
};

}  // namespace

Flatten::Flatten(const FlattenOptions& options) : Layer(std::make_shared<FlattenImpl>(options)) {}
Reshape::Reshape(const ReshapeOptions& options)
    : Layer(std::make_shared<ReshapeImpl>(
          ReshapeArguments{options, internal::given("Reshape", "target_shape", options.target_shape)})) {}
Permute::Permute(const PermuteOptions& options)
    : Layer(std::make_shared<PermuteImpl>(
          PermuteArguments{options, internal::given("Permute", "dims", options.dims)})) {}
RepeatVector::RepeatVector(const RepeatVectorOptions& options)
    : Layer(std::make_shared<RepeatVectorImpl>(
          RepeatVectorArguments{options, internal::given("RepeatVector", "n", options.n)})) {}

void add_reshaping_layers(ClassRegistry& registry) {
  add_layer<FlattenImpl, FlattenOptions>(registry, "Flatten");
  add_layer<ReshapeImpl, ReshapeArguments>(registry, "Reshape");
  add_layer<PermuteImpl, PermuteArguments>(registry, "Permute");
  add_layer<RepeatVectorImpl, RepeatVectorArguments>(registry, "RepeatVector");
}

}  // namespace ktape::nn
