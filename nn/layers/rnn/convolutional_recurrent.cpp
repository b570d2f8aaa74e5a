#include <ktape/autograd/scope.hpp>
#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/layers/convolutional/spatial.hpp>
#include <ktape/nn/layers/rnn/convolutional_recurrent.hpp>
#include <ktape/nn/layers/rnn/recurrent_loop.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/nn/bias.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/random/random.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/unmasked.hpp>

namespace ktape::nn {
namespace K = backend;

namespace {

using Tensors = std::vector<Tensor>;

struct ConvLSTMArguments : LSTMCellOptions {
  std::int64_t filters = 0;
  PerAxis<std::int64_t> kernel_size = 1, strides = 1;
  std::string padding = "valid", data_format = {};
  PerAxis<std::int64_t> dilation_rate = 1;
};

template <class F>
void fields(ConvLSTMArguments& a, F&& field) {
  field("filters", a.filters);
  window_fields(a, field);
  gate_fields(a, field);
}

// --- The cell ----------------------------------------------------------------------------------------------

class ConvLSTMCell final : public CellImpl {
 public:
  ConvLSTMCell(const char* layer, const ConvLSTMArguments& arguments, int axes)
      : CellImpl("ConvLSTMCell",
                 {.trainable = arguments.trainable, .dtype = arguments.dtype, .name = "conv_lstm_cell"}),
        args_(arguments),
        axes_(axes) {
    expect_count(layer, "filters", args_.filters);
    expect_rate(layer, "dropout", args_.dropout);
    expect_rate(layer, "recurrent_dropout", args_.recurrent_dropout);
    state_shape_ = Shape(std::vector<std::int64_t>(static_cast<std::size_t>(axes + 1), None));
  }

  Config get_config() const override { return config_of(args_); }
  void state(Archive& state) override { seeds_.state(state); }
  std::vector<std::int64_t> state_size() const override { return {args_.filters, args_.filters}; }
  std::vector<Shape> state_shapes() const override { return {state_shape_, state_shape_}; }

  void build(const Shape& input) override {
    const std::int64_t channels = known_channels(name(), input, args_.data_format);
    kernel_ = add_weight("kernel", kernel_shape(channels),
                         {.initializer = args_.kernel_initializer,
                          .regularizer = args_.kernel_regularizer,
                          .constraint = args_.kernel_constraint});
    recurrent_kernel_ = add_weight("recurrent_kernel", kernel_shape(args_.filters),
                                   {.initializer = args_.recurrent_initializer,
                                    .regularizer = args_.recurrent_regularizer,
                                    .constraint = args_.recurrent_constraint});
    if (args_.use_bias)
      bias_ = add_weight("bias", {4 * args_.filters},
                         {.initializer = args_.unit_forget_bias
                                             ? with_open_forget_gate(args_.bias_initializer, args_.filters)
                                             : args_.bias_initializer,
                          .regularizer = args_.bias_regularizer,
                          .constraint = args_.bias_constraint});
    Shape state = projected(make_placeholder(input, variable_dtype(), name()), {}).shape();
    state.erase(0);
    state[args_.data_format == "channels_first" ? 0 : -1] = args_.filters;
    if (state.count() == None)
      fail("[", name(), "] the spatial extents of the input must be known: received shape=", input);
    state_shape_ = state;
  }

  Tensors call(const Tensors& inputs, const CallArguments& arguments) override {
    return stepped(*this, step_for(inputs[0], arguments), inputs);
  }

  K::RnnStep step_for(const Tensor& x, const CallArguments& arguments) override {
    Tensors of_input, of_state;
    if (training(arguments) && args_.dropout > 0) of_input = dropout_masks(x, args_.dropout);
    if (training(arguments) && args_.recurrent_dropout > 0)
      of_state = dropout_masks(K::split(projected(x, {}), 4, axis())[0], args_.recurrent_dropout);
    return [this, of_input, of_state](const Tensors& x, const Tensors& states) {
      const AutocastScope weights(input_dtype(),
                                  K::cast);  // a graph runs the step after the call of the layer
      return stepped_on(projected(x[0], of_input), states, of_state);
    };
  }

  /// Runs all steps with one convolution of the inputs. Returns nothing for symbolic inputs and while dropout
  /// is active.
  std::optional<Sequence> run(const Tensor& x, const Tensors& states, const K::RnnOptions& options,
                              bool training) override {
    if (is_symbolic(x) || (training && (args_.dropout > 0 || args_.recurrent_dropout > 0))) return {};
    Shape pictures = x.shape();
    pictures.erase(0);
    pictures[0] = x.shape().count(0, 2);
    const Tensor all = projected(K::reshape(op_helpers::unmasked(x, options.mask), pictures), {});
    Shape sequences = all.shape();
    sequences[0] = x.shape()[1];
    sequences.insert(0, x.shape()[0]);
    const K::RnnStep step = [this](const Tensors& x, const Tensors& states) {
      return stepped_on(x[0], states, {});
    };
    auto [last, outputs, next] = K::rnn(step, K::reshape(all, sequences), states, options);
    return Sequence{last[0], outputs[0], next};
  }

 private:
  int axis() const { return channel_axis(args_.data_format); }

  Shape kernel_shape(std::int64_t channels) const {
    Shape shape(args_.kernel_size.over(axes_));
    shape.push_back(channels);
    shape.push_back(4 * args_.filters);
    return shape;
  }

  /// Returns a dropout mask for each gate: 0, or 1 / (1 - rate) for elements that stay.
  Tensors dropout_masks(const Tensor& like, double rate) {
    Tensors masks;
    for (int gate = 0; gate < 4; ++gate)
      masks.push_back(K::dropout(K::ones_like(like), rate, {.seed = seeds_.next()}));
    return masks;
  }

  /// Returns the convolution of x with a kernel for all four gates. With dropout masks, each gate reads x
  /// multiplied by the mask of the gate.
  Tensor convolved(const Tensor& x, const Tensor& kernel, const Tensors& masks,
                   const K::ConvOptions& window) const {
    if (masks.empty()) return convolution(axes_, x, kernel, window);
    const Tensors kernels = K::split(kernel, 4, -1);
    Tensors gates;
    for (std::size_t gate = 0; gate < kernels.size(); ++gate)
      gates.push_back(convolution(axes_, x * masks[gate], kernels[gate], window));
    return K::concatenate(gates, axis());
  }

  /// Returns the contribution of the inputs to the gates: the convolution of x with the kernels of the gates,
  /// plus bias.
  Tensor projected(const Tensor& x, const Tensors& masks) const {
    const Tensor gates =
        convolved(x, kernel_, masks, {args_.strides, args_.padding, args_.data_format, args_.dilation_rate});
    return args_.use_bias ? K::bias_add(gates, bias_, {args_.data_format}) : gates;
  }

  std::pair<Tensors, Tensors> stepped_on(const Tensor& projected, const Tensors& states,
                                         const Tensors& masks) const {
    const Tensor recurrent =
        convolved(states[0], recurrent_kernel_, masks, {.padding = "same", .data_format = args_.data_format});
    const Tensors z = K::split(projected + recurrent, 4, axis());
    const auto& gate = args_.recurrent_activation;
    const Tensor c = gate(z[1]) * states[1] + gate(z[0]) * args_.activation(z[2]);
    const Tensor h = gate(z[3]) * args_.activation(c);
    return {{h}, {h, c}};
  }

  const ConvLSTMArguments args_;
  const int axes_;
  Shape state_shape_;
  Variable kernel_, recurrent_kernel_, bias_;
  SeedGenerator seeds_{args_.seed};
};

// --- The layers --------------------------------------------------------------------------------------------

template <int axes>
class ConvLSTM final : public RecurrentImpl {
 public:
  using Arguments = RecurrentArguments<ConvLSTMArguments>;
  static constexpr const char* class_name = axes == 1   ? "ConvLSTM1D"
                                            : axes == 2 ? "ConvLSTM2D"
                                                        : "ConvLSTM3D";

  explicit ConvLSTM(const Arguments& arguments)
      : RecurrentImpl(class_name,
                      Layer(std::make_shared<ConvLSTMCell>(class_name, completed(arguments).cell, axes)),
                      arguments.loop, axes + 3),
        args_(completed(arguments)) {}
  Config get_config() const override { return config_of(args_); }

 private:
  /// Returns the arguments with one number for each axis of the window, as the config has the window.
  static Arguments completed(Arguments arguments) {
    arguments.cell = with_window(class_name, arguments.cell, axes, false);
    return arguments;
  }

  const Arguments args_;
};

template <int axes>
std::shared_ptr<ConvLSTM<axes>> conv_lstm(const ConvLSTMOptions& o) {
  const char* const layer = ConvLSTM<axes>::class_name;
  ConvLSTMArguments cell;
  set_gate_arguments(cell, o);
  cell.filters = internal::given(layer, "filters", o.filters);
  cell.kernel_size = internal::given(layer, "kernel_size", o.kernel_size), cell.strides = o.strides;
  cell.padding = o.padding, cell.data_format = o.data_format, cell.dilation_rate = o.dilation_rate;
  return std::make_shared<ConvLSTM<axes>>(RecurrentArguments<ConvLSTMArguments>{cell, loop_options(o)});
}

template <int axes>
void add_conv_lstm(ClassRegistry& registry) {
  using Impl = ConvLSTM<axes>;
  add_outer_layer<Impl, typename Impl::Arguments>(registry, Impl::class_name);
}

}  // namespace

ConvLSTM1D::ConvLSTM1D(const ConvLSTMOptions& options) : RecurrentLayer(conv_lstm<1>(options)) {}
ConvLSTM2D::ConvLSTM2D(const ConvLSTMOptions& options) : RecurrentLayer(conv_lstm<2>(options)) {}
ConvLSTM3D::ConvLSTM3D(const ConvLSTMOptions& options) : RecurrentLayer(conv_lstm<3>(options)) {}

void add_convolutional_recurrent_layers(ClassRegistry& registry) {
  add_conv_lstm<1>(registry);
  add_conv_lstm<2>(registry);
  add_conv_lstm<3>(registry);
}

}  // namespace ktape::nn
