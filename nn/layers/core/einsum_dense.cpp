#include <ktape/autograd/shape_rules.hpp>
#include <ktape/nn/core/pattern.hpp>
#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/base/planned.hpp>
#include <ktape/nn/layers/core/einsum_dense.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/operators.hpp>

namespace ktape::nn {
namespace K = backend;

namespace {

struct EinsumDenseArguments : EinsumDenseOptions {
  std::string equation;
  Shape output_shape;
};

template <class F>
void fields(EinsumDenseArguments& a, F&& field) {
  field("output_shape", a.output_shape);
  field("equation", a.equation);
  field("activation", a.activation);
  field("bias_axes", a.bias_axes);
  field("kernel_initializer", a.kernel_initializer);
  field("bias_initializer", a.bias_initializer);
  field("kernel_regularizer", a.kernel_regularizer);
  field("bias_regularizer", a.bias_regularizer);
  field("activity_regularizer", a.activity_regularizer);
  field("kernel_constraint", a.kernel_constraint);
  field("bias_constraint", a.bias_constraint);
}

/// The letters of the terms of an equation, and the side on which input and output have an ellipsis.
struct Terms {
  std::string input, kernel, output;
  bool left = false, right = false;

  explicit Terms(const std::string& equation) {
    static const Pattern form(R"((\.\.\.)?([a-zA-Z]+)(\.\.\.)?,([a-zA-Z]+)->(\.\.\.)?([a-zA-Z]+)(\.\.\.)?)");
    const std::vector<std::string> parts = form.groups(equation);
    const bool fits = !parts.empty() && parts[1] == parts[5] && parts[3] == parts[7] &&
                      (parts[1].empty() || parts[3].empty());
    if (!fits)
      fail(
          "[EinsumDense] equation must be like 'ab,bc->ac', '...ab,bc->...ac' or 'ab...,bc->ac...': received "
          "equation='",
          equation, "'");
    input = parts[2], kernel = parts[4], output = parts[6];
    left = !parts[1].empty(), right = !parts[3].empty();
    for (const char letter : output)
      if (!in(input, letter) && !in(kernel, letter))
        reject(equation, "the output", letter, "input or kernel");
    for (const char letter : kernel)
      if (!in(input, letter) && !in(output, letter))
        reject(equation, "the kernel", letter, "input or output");
  }

  static bool in(const std::string& letters, char letter) {
    return letters.find(letter) != std::string::npos;
  }

 private:
  [[noreturn]] static void reject(const std::string& equation, const char* term, char letter,
                                  const char* others) {
    fail("[EinsumDense] equation must have each letter of ", term, " in ", others, ", too: received '",
         letter, "' in equation='", equation, "'");
  }
};

class EinsumDenseImpl final : public LayerWith<EinsumDenseArguments>, public Planned {
 public:
  explicit EinsumDenseImpl(const EinsumDenseArguments& arguments)
      : LayerWith("EinsumDense", arguments), terms_(args.equation) {
    activity_regularizer = args.activity_regularizer;
    for (const char letter : args.bias_axes.value_or(""))
      if (!Terms::in(terms_.output, letter))
        fail("[EinsumDense] bias_axes must be letters of the output '", terms_.output,
             "': received bias_axes='", *args.bias_axes, "'");
  }

  void build(const Shape& input) override {
    const int elided = input.rank() - static_cast<int>(terms_.input.size());
    if (elided < 0 || (elided > 0 && !terms_.left && !terms_.right))
      fail("[", name(), "] the equation must name the axes of the input: received shape=", input,
           ", equation='", args.equation, "'");
    const Shape output = output_of(input, elided);
    const int skipped = terms_.left ? elided : 0;
    Shape kernel;
    for (const char letter : terms_.output) extent_of(letter, input, output, skipped);
    for (const char letter : terms_.kernel) kernel.push_back(extent_of(letter, input, output, skipped));
    kernel_ = add_weight("kernel", kernel,
                         {.initializer = args.kernel_initializer,
                          .regularizer = args.kernel_regularizer,
                          .constraint = args.kernel_constraint});
    if (!args.bias_axes.value_or("").empty())
      bias_ = add_weight("bias", bias_shape(input, output, skipped),
                         {.initializer = args.bias_initializer,
                          .regularizer = args.bias_regularizer,
                          .constraint = args.bias_constraint});
    input_spec = {{.ndim = input.rank()}};
  }

  Tensor call(const Tensor& x) override {
    Tensor y = K::einsum(args.equation, {K::as_dtype(x, compute_dtype()), kernel_});
    if (args.bias_axes && !args.bias_axes->empty()) y = y + bias_;
    return args.activation(y);
  }

  /// A network computes equations of the form 'pi,io->po', in which p, i and o may be several letters.
  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const override {
    const std::string &in = terms_.input, &kernel = terms_.kernel, &out = terms_.output;
    std::size_t kept = 0;
    while (kept < in.size() && kept < out.size() && in[kept] == out[kept]) ++kept;
    const std::string inner = in.substr(kept), made = out.substr(kept);
    const std::string biased = args.bias_axes.value_or("");
    if (network.rank(inputs[0]) != input_spec[0].ndim || terms_.right || inner.empty() || made.empty() ||
        kernel != inner + made || (!biased.empty() && biased != made) || activity_regularizer.defined())
      return {};
    const auto y = network.product(inputs[0], kernel_, bias_, static_cast<int>(inner.size()));
    return y ? plan_activation(network, *y, args.activation) : y;
  }

 private:
  /// Returns the shape of the output: `output_shape` with the batch axis and the axes of the ellipsis added.
  Shape output_of(const Shape& input, int elided) const {
    Shape output = args.output_shape;
    output.insert(0, input[0]);
    if (terms_.left)
      for (int axis = 1; axis < elided; ++axis) output.insert(axis, input[axis]);
    else
      for (int axis = input.rank() - elided; axis < input.rank(); ++axis) output.push_back(input[axis]);
    if (output.rank() != static_cast<int>(terms_.output.size()) + elided)
      fail("[", name(), "] output_shape must have an extent for each axis of the output but the batch ",
           "and those of the ellipsis: received output_shape=", args.output_shape, ", equation='",
           args.equation, "', input shape=", input);
    return output;
  }

  /// Returns the extent that a letter stands for. Throws ValueError when input and output disagree on the
  /// extent.
  std::int64_t extent_of(char letter, const Shape& input, const Shape& output, int skipped) const {
    const auto at = [&](const std::string& term, const Shape& shape) -> std::int64_t {
      const std::size_t place = term.find(letter);
      return place == std::string::npos ? std::int64_t{None} : shape[skipped + static_cast<int>(place)];
    };
    const std::int64_t in = at(terms_.input, input), out = at(terms_.output, output);
    if (!compatible(in, out))
      fail("[", name(),
           "] output_shape must have the extents of the input where both share a letter: ", "received ", out,
           " and ", in, " for '", letter, "' in equation='", args.equation, "'");
    return merged(in, out);
  }

  Shape bias_shape(const Shape& input, const Shape& output, int skipped) const {
    const std::size_t first = terms_.output.find_first_of(*args.bias_axes);
    Shape shape;
    for (std::size_t i = first; i < terms_.output.size(); ++i)
      shape.push_back(Terms::in(*args.bias_axes, terms_.output[i])
                          ? extent_of(terms_.output[i], input, output, skipped)
                          : std::int64_t{1});
    for (int axis = static_cast<int>(terms_.output.size()) + skipped; axis < output.rank(); ++axis)
      shape.push_back(1);
    return shape;
  }

  const Terms terms_;
  Variable kernel_, bias_;
};

}  // namespace

EinsumDense::EinsumDense(const EinsumDenseOptions& options)
    : KernelLayer(std::make_shared<EinsumDenseImpl>(
          EinsumDenseArguments{options, internal::given("EinsumDense", "equation", options.equation),
                               internal::given("EinsumDense", "output_shape", options.output_shape)})) {}

void add_einsum_dense(ClassRegistry& registry) {
  add_layer<EinsumDenseImpl, EinsumDenseArguments>(registry, "EinsumDense");
}

}  // namespace ktape::nn
