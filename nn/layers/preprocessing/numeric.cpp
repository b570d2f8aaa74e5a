#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/base/without_arguments.hpp>
#include <ktape/nn/layers/preprocessing/internal/categories.hpp>
#include <ktape/nn/layers/preprocessing/internal/quantiles.hpp>
#include <ktape/nn/layers/preprocessing/numeric.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/nn/class_numbers.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/updates.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::nn {
namespace K = backend;

template <class F>
void fields(DiscretizationOptions& a, F&& field) {
  field("bin_boundaries", a.bin_boundaries);
  field("num_bins", a.num_bins);
  field("epsilon", a.epsilon);
  field("output_mode", a.output_mode);
  field("sparse", a.sparse);
}

namespace {

// --- Arrays in configs -------------------------------------------------------------------------------------

bool is_given(const ArrayLike& array) { return array.given().defined() || array.shape().count() > 0; }

Value nested(const double*& next, const Shape& shape, int axis) {
  if (axis == shape.rank()) return *next++;
  Value::List list;
  for (std::int64_t i = 0; i < shape[axis]; ++i) list.push_back(nested(next, shape, axis + 1));
  return list;
}

/// Returns the array as nested lists of numbers.
Value value_of(const ArrayLike& array, const char* layer) {
  const Tensor x = array.tensor(DType::Float64, DType::Float64, layer);
  const double* next = x.data<double>();
  return nested(next, x.shape(), 0);
}

void unnest(const Value& value, const std::string& what, std::size_t axis, Shape& shape,
            std::vector<double>& numbers) {
  const bool is_row = axis < shape.size();
  if (is_row != value.is_list() ||
      (is_row && value.list().size() != static_cast<std::size_t>(shape[static_cast<int>(axis)])))
    fail(what, " must have rows of one shape: received ", value);
  if (!is_row) return numbers.push_back(value.number(what));
  for (const Value& row : value.list()) unnest(row, what, axis + 1, shape, numbers);
}

/// Returns nested lists of numbers as a float64 tensor. Throws ValueError for rows of different shapes.
Tensor tensor_of(const Value& value, const std::string& what) {
  Shape shape;
  for (const Value* row = &value; row->is_list(); row = &row->list()[0]) {
    shape.push_back(static_cast<std::int64_t>(row->list().size()));
    if (row->list().empty()) break;
  }
  std::vector<double> numbers;
  unnest(value, what, 0, shape, numbers);
  return Tensor::from_buffer(numbers.data(), numbers.size() * sizeof(double), shape, DType::Float64);
}

// --- Normalization -----------------------------------------------------------------------------------------

struct NormalizationArguments : LayerOptions {
  Axes axis = -1;
  Value mean = {}, variance = {};
  bool invert = false;
};

template <class F>
void fields(NormalizationArguments& a, F&& field) {
  field("axis", a.axis);
  field("invert", a.invert);
  field("mean", a.mean);
  field("variance", a.variance);
}

/// The running mean and variance of all batches, in double precision.
class Moments {
 public:
  void clear() { *this = Moments(); }
  void add(const Tensor& batch, const std::vector<int>& axes) {
    const Tensor x = K::as_dtype(batch, DType::Float64);
    const Tensor mean = K::mean(x, Axes(axes)), variance = K::var(x, Axes(axes));
    const double n =
        static_cast<double>(x.size()) / static_cast<double>(std::max<std::int64_t>(mean.size(), 1));
    if (n == 0) return;
    if (count_ == 0) {
      mean_ = mean, squares_ = variance * n;
    } else {
      const Tensor moved = mean - mean_;
      mean_ = mean_ + moved * (n / (count_ + n));
      squares_ = squares_ + variance * n + K::square(moved) * (count_ * n / (count_ + n));
    }
    count_ += n;
  }
  double count() const { return count_; }
  const Tensor& mean() const { return mean_; }
  Tensor variance() const { return squares_ / count_; }

 private:
  double count_ = 0;
  Tensor mean_, squares_;  ///< `squares_`: the sum of the squared differences from the mean
};

class NormalizationImpl final : public LayerWith<NormalizationArguments> {
 public:
  explicit NormalizationImpl(const NormalizationArguments& arguments)
      : LayerWith("Normalization", arguments) {
    supports_masking = true;
    autocast = false;  // the statistics are as precise as the weights
    if (args.mean.is_null() != args.variance.is_null())
      fail("[Normalization] mean and variance must be given together: received mean=", args.mean,
           ", variance=", args.variance);
    if (args.mean.is_null()) return;
    given_mean_ = tensor_of(args.mean, "[Normalization] mean");
    given_variance_ = tensor_of(args.variance, "[Normalization] variance");
    if (given_mean_.shape() != given_variance_.shape() ||
        given_mean_.ndim() > static_cast<int>(args.axis.list().size()))
      fail(
          "[Normalization] mean and variance must have one shape, with at most one axis for each of axis: "
          "received mean=",
          given_mean_.shape(), ", variance=", given_variance_.shape(), ", axis=", Value(args.axis));
  }

  void build(const Shape& input) override {
    // As in Keras, the statistics broadcast to inputs of another rank, too: to single samples, and to batches after data
    // without a batch axis.
    InputSpec spec{.min_ndim = 0};
    Shape extents;
    axes_ = kept_axes(input);
    if (!axes_.empty()) placed_ = Shape(std::vector<std::int64_t>(input.size(), 1));
    for (const int axis : axes_) {
      if (input[axis] == None)
        fail("[", name(), "] the extents of axis must be known: received shape=", input,
             ", axis=", Value(args.axis));
      extents.push_back(placed_[axis] = input[axis]);
      const int from_end = axis - input.rank();
      spec.axes.emplace_back(from_end, input[axis]);
      spec.min_ndim = std::max(*spec.min_ndim, -from_end);
    }
    if (given_mean_.defined()) place_given(input);
    else add_statistics(extents);
    if (!axes_.empty()) input_spec = {spec};  // a single mean fits every shape
  }

  Tensor call(const Tensor& given) override {
    const Tensor x = K::as_dtype(given, variable_dtype());
    const bool known = given_mean_.defined();
    const Tensor mean = known ? placed_mean_ : K::reshape(mean_, placed_);
    const Tensor variance = known ? placed_variance_ : K::reshape(variance_, placed_);
    const Tensor deviation = K::maximum(K::sqrt(variance), K::epsilon());
    return K::as_dtype(args.invert ? mean + x * deviation : (x - mean) / deviation, compute_dtype());
  }

  void reset_state() override {
    if (given_mean_.defined())
      fail("[", name(), "] adapt is for a layer without mean and variance: received mean=", args.mean);
    moments_.clear();
  }
  void adapt(const Tensor& data) override {
    reset_state();
    learn(data);
    finalize_state();
  }
  /// A vector in a dataset is one sample, as in Keras.
  void update_state(const Tensor& batch) override {
    const bool learned_vectors = built() && placed_.rank() == 1;
    learn(batch.ndim() == 1 && !learned_vectors ? K::expand_dims(batch, 0) : batch);
  }
  void learn(const Tensor& batch) {
    expect_value("adapt", batch);
    if (!built()) Layer(shared_from_this()).build(batch.shape());
    bool fits = axes_.empty() || batch.ndim() == placed_.rank();
    for (const int axis : axes_) fits = fits && batch.shape()[axis] == placed_[axis];
    if (!fits)
      fail("[", name(),
           "] all data must have the same rank, and the same extents on axis: received shape=", batch.shape(),
           " after ", placed_);
    std::vector<int> others;
    for (int axis = 0; axis < batch.ndim(); ++axis)
      if (std::find(axes_.begin(), axes_.end(), axis) == axes_.end()) others.push_back(axis);
    const NoGrad none;
    moments_.add(batch, others);
  }
  void finalize_state() override {
    if (moments_.count() == 0) fail("[", name(), "] adapt must have data: received none");
    const NoGrad none;
    K::update(mean_, K::as_dtype(moments_.mean(), dtype()));
    K::update(variance_, K::as_dtype(moments_.variance(), dtype()));
    K::update(count_, static_cast<std::int64_t>(moments_.count()));
    moments_.clear();
  }

 private:
  std::vector<int> kept_axes(const Shape& input) const {
    std::vector<int> axes;
    for (const int axis : args.axis.list()) {
      const int at = axis < 0 ? axis + input.rank() : axis;
      if (at < 0 || at >= input.rank())
        fail("[", name(), "] axis must be of the input: received axis=", Value(args.axis), ", shape=", input);
      axes.push_back(at);
    }
    std::sort(axes.begin(), axes.end());
    if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
      fail("[", name(), "] axis must name each axis once: received axis=", Value(args.axis));
    return axes;
  }
  void add_statistics(const Shape& extents) {
    mean_ = add_weight("mean", extents, {.initializer = "zeros", .trainable = false, .autocast = false});
    variance_ =
        add_weight("variance", extents, {.initializer = "ones", .trainable = false, .autocast = false});
    count_ = add_weight("count", {}, {.initializer = "zeros", .dtype = DType::Int64, .trainable = false});
  }
  /// Reshapes the given statistics to broadcast to the input: the last axes of the statistics become the last
  /// axes of `axis`.
  void place_given(const Shape& input) {
    const Shape& given = given_mean_.shape();
    Shape shape(std::vector<std::int64_t>(input.size(), 1));
    for (int i = 1; i <= given.rank(); ++i) {
      const int axis = axes_[axes_.size() - static_cast<std::size_t>(i)];
      if (given[-i] != 1 && given[-i] != input[axis])
        fail("[", name(), "] mean and variance must broadcast to axis: received mean=", given,
             ", axis=", Value(args.axis), ", shape=", input);
      shape[axis] = given[-i];
    }
    placed_mean_ = K::as_dtype(K::reshape(given_mean_, shape), dtype());
    placed_variance_ = K::as_dtype(K::reshape(given_variance_, shape), dtype());
  }

  std::vector<int> axes_;
  Shape placed_;  ///< the shape in which the statistics broadcast to the input
  Tensor given_mean_, given_variance_, placed_mean_, placed_variance_;
  Variable mean_, variance_, count_;
  Moments moments_;
};

// --- Rescaling ---------------------------------------------------------------------------------------------

struct RescalingArguments : LayerOptions {
  Value scale = 1.0, offset = 0.0;
};

template <class F>
void fields(RescalingArguments& a, F&& field) {
  field("scale", a.scale);
  field("offset", a.offset);
}

class RescalingImpl final : public LayerWith<RescalingArguments> {
 public:
  explicit RescalingImpl(const RescalingArguments& arguments)
      : LayerWith("Rescaling", arguments),
        scale_(tensor_of(args.scale, "[Rescaling] scale")),
        offset_(tensor_of(args.offset, "[Rescaling] offset")) {
    supports_masking = true;
  }

  Tensor call(const Tensor& x) override {
    const Tensor y = K::as_dtype(x, compute_dtype()) * placed(scale_) + placed(offset_);
    if (y.ndim() != x.ndim())
      fail("[", name(), "] scale and offset must broadcast to the input: received scale=", scale_.shape(),
           ", offset=", offset_.shape(), ", shape=", x.shape());
    return y;
  }

 private:
  Tensor placed(const Tensor& numbers) const {
    const bool per_channel = numbers.ndim() == 1 && K::image_data_format() == "channels_first";
    return K::as_dtype(per_channel ? K::reshape(numbers, {-1, 1, 1}) : numbers, compute_dtype());
  }
  Tensor scale_, offset_;
};

// --- Discretization ----------------------------------------------------------------------------------------

/// The implementation of Discretization. A config with both boundaries and num_bins belongs to an adapted
/// layer.
class DiscretizationImpl final : public LayerWith<DiscretizationOptions> {
 public:
  explicit DiscretizationImpl(const DiscretizationOptions& options)
      : LayerWith("Discretization", canonical(options)),
        mode_(mode_of(args)),
        boundaries_(args.bin_boundaries),
        summary_(args.epsilon) {
    if (boundaries_) expect_ascending(*boundaries_);
  }

  Config get_config() const override {
    Config config = LayerWith::get_config();
    config.set("bin_boundaries", boundaries_);
    return config;
  }
  /// Returns the config without `trainable`, which Keras's Discretization does not have.
  Value to_value() const override { return without_arguments(LayerWith::to_value(), {"trainable"}); }

  Tensor call(const Tensor& x) override {
    if (!boundaries_) fail("[", name(), "] adapt must come before a call: received no bin_boundaries");
    const auto depth = static_cast<std::int64_t>(boundaries_->size()) + 1;
    if (is_symbolic(x))
      return defer(
          impure("discretization"), {encoded_shape(x.shape(), mode_, depth), compute_dtype()},
          [self = shared_from_this()](const Tensor& given) { return self->call(given); }, x);
    return encoded(bins(x), mode_, depth, compute_dtype());
  }

  void reset_state() override {
    if (!args.num_bins)
      fail("[", name(),
           "] adapt is for a layer with num_bins: received bin_boundaries=", Value(args.bin_boundaries));
    summary_ = QuantileSummary(args.epsilon);
  }
  void update_state(const Tensor& batch) override {
    expect_value("adapt", batch);
    const Tensor numbers = K::as_dtype(batch, DType::Float64);
    summary_.add({numbers.pointer<double>(), numbers.pointer<double>() + numbers.size()});
  }
  void finalize_state() override {
    if (summary_.empty()) fail("[", name(), "] adapt must have data: received none");
    boundaries_ = summary_.boundaries(*args.num_bins);
    summary_ = QuantileSummary(args.epsilon);
  }

 private:
  static OutputMode mode_of(const DiscretizationOptions& o) {
    return output_mode("Discretization", o.output_mode,
                       {OutputMode::Int, OutputMode::OneHot, OutputMode::MultiHot, OutputMode::Count});
  }
  static DiscretizationOptions canonical(DiscretizationOptions o) {
    const OutputMode mode = mode_of(o);
    o.output_mode = name_of(mode);
    if (!o.bin_boundaries && !o.num_bins)
      fail("[Discretization] bin_boundaries or num_bins must be given: received neither");
    if (o.num_bins) expect_at_least<std::int64_t>("Discretization", "num_bins", *o.num_bins, 1);
    if (o.num_bins) K::expect_columns("Discretization", "num_bins", *o.num_bins);
    if (!(o.epsilon > 0 && o.epsilon < 1))
      fail("[Discretization] epsilon must be between 0 and 1: received epsilon=", o.epsilon);
    if (o.sparse) fail("[Discretization] outputs are dense: received sparse=true");
    if (!o.dtype) o.dtype = mode == OutputMode::Int ? DType(DType::Int64) : K::floatx();
    return o;
  }
  static void expect_ascending(const std::vector<double>& boundaries) {
    for (std::size_t i = 0; i < boundaries.size(); ++i)
      if (std::isnan(boundaries[i]) || (i > 0 && boundaries[i] < boundaries[i - 1]))
        fail("[Discretization] bin_boundaries must ascend: received bin_boundaries=", Value(boundaries));
  }

  Tensor bins(const Tensor& x) const {
    Tensor out = Tensor::empty(x.shape(), DType::Int64);
    dispatch(x.dtype(), [&]<class T>() {
      // A boundary is rounded to the dtype of the numbers, so that 0.7f is not below the boundary 0.7.
      std::vector<double> boundaries;
      for (const double b : *boundaries_)
        boundaries.push_back(x.dtype().is_floating() ? static_cast<double>(static_cast<T>(b)) : b);
      const T* numbers = x.pointer<T>();
      for (std::int64_t i = 0; i < x.size(); ++i)
        out.pointer<std::int64_t>()[i] =
            std::upper_bound(boundaries.begin(), boundaries.end(), static_cast<double>(numbers[i])) -
            boundaries.begin();
    });
    return out;
  }

  OutputMode mode_;
  std::optional<std::vector<double>> boundaries_;
  QuantileSummary summary_;
};

NormalizationArguments arguments_of(const NormalizationOptions& o) {
  const auto value = [](const ArrayLike& array) {
    return is_given(array) ? value_of(array, "Normalization") : Value();
  };
  return {layer_options_of(o), o.axis, value(o.mean), value(o.variance), o.invert};
}

RescalingArguments arguments_of(const RescalingOptions& o) {
  if (!is_given(o.scale)) fail("[Rescaling] scale must be given");
  return {layer_options_of(o), value_of(o.scale, "Rescaling"), value_of(o.offset, "Rescaling")};
}

const DiscretizationOptions& bins_or_boundaries(const DiscretizationOptions& o) {
  if (o.bin_boundaries && o.num_bins)
    fail("[Discretization] either bin_boundaries or num_bins must be given: received both");
  return o;
}

}  // namespace

Normalization::Normalization(const NormalizationOptions& options)
    : Layer(std::make_shared<NormalizationImpl>(arguments_of(options))) {}
Rescaling::Rescaling(const RescalingOptions& options)
    : Layer(std::make_shared<RescalingImpl>(arguments_of(options))) {}
Discretization::Discretization(const DiscretizationOptions& options)
    : Layer(std::make_shared<DiscretizationImpl>(bins_or_boundaries(options))) {}

void add_numeric_layers(ClassRegistry& registry) {
  add_layer<NormalizationImpl, NormalizationArguments>(registry, "Normalization");
  add_layer<RescalingImpl, RescalingArguments>(registry, "Rescaling");
  add_layer<DiscretizationImpl, DiscretizationOptions>(registry, "Discretization");
}

}  // namespace ktape::nn
