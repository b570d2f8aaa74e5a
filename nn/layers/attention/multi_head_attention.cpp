#include <ktape/nn/layers/attention/attention.hpp>
#include <ktape/nn/layers/attention/internal/attention_axes.hpp>
#include <ktape/nn/layers/attention/internal/attention_layer.hpp>
#include <ktape/nn/layers/base/planned.hpp>
#include <ktape/nn/layers/core/einsum_dense.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/nn/attention.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/shape.hpp>

#include <cmath>

namespace ktape::nn {
namespace K = backend;

namespace {

using Tensors = std::vector<Tensor>;

struct MultiHeadArguments : MultiHeadAttentionOptions {
  std::int64_t num_heads = 0, key_dim = 0;
};

/// Names the arguments that MultiHeadAttention and GroupQueryAttention share.
template <class Arguments, class F>
void projection_fields(Arguments& a, F&& field) {
  field("kernel_initializer", a.kernel_initializer);
  field("bias_initializer", a.bias_initializer);
  field("kernel_regularizer", a.kernel_regularizer);
  field("bias_regularizer", a.bias_regularizer);
  field("activity_regularizer", a.activity_regularizer);
  field("kernel_constraint", a.kernel_constraint);
  field("bias_constraint", a.bias_constraint);
  field("use_gate", a.use_gate, recent);
  field("seed", a.seed);
}

template <class F>
void fields(MultiHeadArguments& a, F&& field) {
  field("num_heads", a.num_heads);
  field("key_dim", a.key_dim);
  field("value_dim", a.value_dim);
  field("dropout", a.dropout);
  field("use_bias", a.use_bias);
  field("output_shape", a.output_shape);
  field("attention_axes", a.attention_axes);
  field("sliding_window", a.sliding_window, recent);
  projection_fields(a, field);
}

struct GroupQueryArguments : GroupQueryAttentionOptions {
  std::int64_t head_dim = 0, num_query_heads = 0, num_key_value_heads = 0;
};

template <class F>
void fields(GroupQueryArguments& a, F&& field) {
  field("head_dim", a.head_dim);
  field("num_query_heads", a.num_query_heads);
  field("num_key_value_heads", a.num_key_value_heads);
  field("use_bias", a.use_bias);
  field("dropout", a.dropout);
  field("sliding_window", a.sliding_window, recent);
  projection_fields(a, field);
}

/// The number and the sizes of the heads.
struct Heads {
  std::int64_t of_query, of_key, key_dim, value_dim;
};

/// Returns the equation of a projection that keeps the first `kept` axes of a tensor of a rank and makes
/// `made` new axes, and the letters of the new axes.
std::pair<std::string, std::string> projection_equation(int rank, int kept, int made) {
  std::string letters;
  for (int i = 0; i < rank + made; ++i) letters += static_cast<char>('a' + i);
  const std::string input = letters.substr(0, static_cast<std::size_t>(rank)),
                    free = letters.substr(0, static_cast<std::size_t>(kept)),
                    bound = input.substr(static_cast<std::size_t>(kept)),
                    output = letters.substr(static_cast<std::size_t>(rank));
  return {input + ',' + bound + output + "->" + free + output, output};
}

template <class Arguments>
class MultiHead : public AttentionLayer<Arguments>, public Planned {
 public:
  MultiHead(const char* class_name, const Arguments& arguments, const Heads& heads)
      : AttentionLayer<Arguments>(class_name, arguments), heads_(heads) {
    if (args.sliding_window)
      expect_at_least<std::int64_t>(class_name, "sliding_window", *args.sliding_window, 1);
    if (args.flash_attention.value_or(false) && args.dropout > 0)
      fail("[", class_name, "] flash_attention does not support dropout: received dropout=", args.dropout);
  }

  void build(const std::vector<Shape>& inputs) override {
    this->expect_inputs(inputs.size());
    const Shape &query = inputs[0], &value = inputs[1], &key = inputs.back();
    this->expect_fit(value, key);
    if (query.rank() != value.rank())
      fail("[", this->name(), "] query and value must have one rank: received query=", query,
           ", value=", value);
    axes_ = AttentionAxes(this->name(), attention_axes(), query.rank());
    this->build_weighing(axes_.of_softmax());
    query_ = add_projection("query", query, 1, {heads_.of_query, heads_.key_dim});
    key_ = add_projection("key", key, 1, {heads_.of_key, heads_.key_dim});
    if (args.use_gate)
      gate_ = add_projection("gate", query, 1, {heads_.of_query, heads_.value_dim}, "sigmoid");
    value_ = add_projection("value", value, 1, {heads_.of_key, heads_.value_dim});
    Shape attended = query;
    attended[-1] = heads_.of_query;
    attended.push_back(heads_.value_dim);
    output_ = add_projection("attention_output", attended, 2, output_shape(query));
  }

  Tensors call(const Tensors& given, const CallArguments& arguments) {
    check(given, arguments);
    const Tensors inputs = without_masked(given, arguments);
    const Tensor query = query_(inputs[0]), key = key_(inputs.back()), value = value_(inputs[1]);
    const double scale = 1 / std::sqrt(static_cast<double>(heads_.key_dim));
    const bool explicitly = this->needs_weights(query, arguments);
    // The fused op has an option for causal attention; all other masks are passed to the op as one tensor.
    const bool causal = arguments.use_causal_mask && !explicitly && axes_.plain();
    const Tensor mask = visible(inputs, arguments, arguments.use_causal_mask && !causal);
    const Tensor q = axes_.folded(query), k = axes_.folded(shared(key)), v = axes_.folded(shared(value));
    Tensor attended, weights;
    if (explicitly || (mask.defined() && !axes_.plain())) {
      weights = this->weights(axes_.unfolded_scores(dots(q * scale, k), query, key), mask);
      const Tensor kept = axes_.folded_scores(this->dropped(weights));
      attended = heads_first(this->weighed(kept, heads_first(v), mask.defined()));
    } else {
      attended = K::scaled_dot_product_attention(
          q, k, v, {.mask = mask, .causal = causal, .scale = scale, .heads_last = true});
    }
    attended = axes_.unfolded(attended, query);
    if (args.use_gate) attended = attended * gate_(inputs[0]);
    Tensors outputs{output_(attended)};
    if (arguments.return_attention_scores) outputs.push_back(weights);
    return outputs;
  }

  /// A network computes attention over the steps of sequences, without masks.
  std::optional<int> plan(K::NetworkBuilder& network, const std::vector<int>& inputs) const override {
    if (inputs.size() < 2 || args.use_gate || args.sliding_window || !axes_.plain() || !axes_.one() ||
        axes_.list()[0] != 1 || heads_.of_query != heads_.of_key || this->activity_regularizer.defined())
      return {};
    const auto project = [&](const Layer& layer, std::optional<int> x) {
      return x ? dynamic_cast<const Planned&>(layer.impl()).plan(network, {*x}) : x;
    };
    const auto query = project(query_, inputs[0]), value = project(value_, inputs[1]),
               key = project(key_, inputs.back());
    if (!query || !key || !value) return {};
    const double scale = 1 / std::sqrt(static_cast<double>(heads_.key_dim));
    return project(output_, network.attention(*query, *key, *value, scale));
  }

 protected:
  using LayerWith<Arguments>::args;
  virtual Axes attention_axes() const { return {}; }
  virtual Shape output_shape(const Shape& query) const { return {query[-1]}; }

 private:
  Layer add_projection(const char* name, const Shape& input, int bound, const Shape& made,
                       const ActivationFunction& activation = {}) {
    const int kept = input.rank() - bound;
    const auto [equation, letters] = projection_equation(input.rank(), kept, made.rank());
    Shape output(std::vector<std::int64_t>(static_cast<std::size_t>(kept - 1), None));
    for (const std::int64_t extent : made) output.push_back(extent);
    const EinsumDense projection(equation, output,
                                 {.activation = activation,
                                  .bias_axes = args.use_bias ? OptionalString(letters) : None,
                                  .kernel_initializer = args.kernel_initializer,
                                  .bias_initializer = args.bias_initializer,
                                  .kernel_regularizer = args.kernel_regularizer,
                                  .bias_regularizer = args.bias_regularizer,
                                  .kernel_constraint = args.kernel_constraint,
                                  .bias_constraint = args.bias_constraint,
                                  .activity_regularizer = args.activity_regularizer,
                                  .dtype = this->dtype_policy(),
                                  .name = name});
    projection.build(input);
    return this->add_layer(static_cast<const Layer&>(projection));
  }

  void check(const Tensors& inputs, const CallArguments& arguments) const {
    this->expect_inputs(inputs.size());
    this->expect_fit(inputs[1].shape(), inputs.back().shape());
    if (!axes_.share_batch(inputs[0].shape(), inputs[1].shape()))
      fail("[", this->name(),
           "] query and value must agree in the axes without attention: received query=", inputs[0].shape(),
           ", value=", inputs[1].shape());
    if (arguments.attention_mask.defined() && arguments.attention_mask.ndim() < axes_.pairs())
      fail("[", this->name(), "] attention_mask must have the axes of queries and keys: received shape=",
           arguments.attention_mask.shape());
    if (args.flash_attention.value_or(false) && arguments.return_attention_scores)
      fail("[", this->name(),
           "] flash_attention does not return scores: received return_attention_scores=true");
    if (arguments.use_causal_mask && !axes_.one())
      fail("[", this->name(),
           "] use_causal_mask needs attention over one axis: received attention_axes=", Value(axes_.list()));
  }

  /// Returns a key or value with one head for each head of the query, by repeating the shared heads.
  Tensor shared(const Tensor& x) const {
    const std::int64_t times = heads_.of_query / heads_.of_key;
    return times == 1 ? x : K::repeat_elements(x, times, -2);
  }

  static Tensor heads_first(const Tensor& x) { return K::permute_dimensions(x, {0, 2, 1, 3}); }
  static Tensor dots(const Tensor& query, const Tensor& key) {
    return K::matmul(heads_first(query), heads_first(key), {.transpose_b = true});
  }

  /// Returns the inputs with zeros for masked steps. A step is masked for keys and values if it is for either.
  Tensors without_masked(const Tensors& inputs, const CallArguments& arguments) const {
    const auto mask = [&](std::size_t i) { return this->mask_at(inputs, arguments, i); };
    Tensors out{op_helpers::unmasked(inputs[0], mask(0))};
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      const Tensor x = op_helpers::unmasked(inputs[i], mask(1));
      out.push_back(inputs.size() > 2 ? op_helpers::unmasked(x, mask(2)) : x);
    }
    return out;
  }

  /// Returns the mask of the keys that each query may see, which broadcasts to the scores; undefined when
  /// each query sees all keys.
  Tensor visible(const Tensors& inputs, const CallArguments& arguments, bool causal) const {
    Tensor mask = axes_.mask(arguments.attention_mask);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (const Tensor steps = this->mask_at(inputs, arguments, i); steps.defined())
        mask = both(mask, axes_.step_mask(this->name(), steps, i == 0));
    if (!causal && !args.sliding_window) return mask;
    if (!axes_.one())
      fail("[", this->name(),
           "] sliding_window needs attention over one axis: received attention_axes=", Value(axes_.list()));
    const int axis = axes_.list()[0];
    return both(mask, reachable(inputs[0], axis, inputs.back(), axis, causal, args.sliding_window));
  }

  const Heads heads_;
  AttentionAxes axes_;
  Layer query_, key_, gate_, value_, output_;
};

class MultiHeadAttentionImpl final : public MultiHead<MultiHeadArguments> {
 public:
  explicit MultiHeadAttentionImpl(const MultiHeadArguments& arguments)
      : MultiHead("MultiHeadAttention", arguments, heads_of(arguments)) {
    input_spec = {{.min_ndim = 3}};
  }

 protected:
  Axes attention_axes() const override { return args.attention_axes; }
  Shape output_shape(const Shape& query) const override {
    return args.output_shape ? *args.output_shape : Shape{query[-1]};
  }

 private:
  static Heads heads_of(const MultiHeadArguments& a) {
    const std::int64_t value_dim = a.value_dim.value_or(a.key_dim);
    for (const auto& [argument, number] :
         {std::pair{"num_heads", a.num_heads}, {"key_dim", a.key_dim}, {"value_dim", value_dim}})
      expect_at_least<std::int64_t>("MultiHeadAttention", argument, number, 1);
    return {a.num_heads, a.num_heads, a.key_dim, value_dim};
  }
};

class GroupQueryAttentionImpl final : public MultiHead<GroupQueryArguments> {
 public:
  explicit GroupQueryAttentionImpl(const GroupQueryArguments& arguments)
      : MultiHead("GroupQueryAttention", arguments, heads_of(arguments)) {
    input_spec = {{.ndim = 3}};
  }

 private:
  static Heads heads_of(const GroupQueryArguments& a) {
    for (const auto& [argument, number] : {std::pair{"head_dim", a.head_dim},
                                           {"num_query_heads", a.num_query_heads},
                                           {"num_key_value_heads", a.num_key_value_heads}})
      expect_at_least<std::int64_t>("GroupQueryAttention", argument, number, 1);
    if (a.num_query_heads % a.num_key_value_heads != 0)
      fail("[GroupQueryAttention] num_query_heads must be a multiple of num_key_value_heads: received ",
           "num_query_heads=", a.num_query_heads, ", num_key_value_heads=", a.num_key_value_heads);
    return {a.num_query_heads, a.num_key_value_heads, a.head_dim, a.head_dim};
  }
};

}  // namespace

MultiHeadAttention::MultiHeadAttention(const MultiHeadAttentionOptions& options)
    : Layer(std::make_shared<MultiHeadAttentionImpl>(
          MultiHeadArguments{options, internal::given("MultiHeadAttention", "num_heads", options.num_heads),
                             internal::given("MultiHeadAttention", "key_dim", options.key_dim)})) {}

GroupQueryAttention::GroupQueryAttention(const GroupQueryAttentionOptions& options)
    : Layer(std::make_shared<GroupQueryAttentionImpl>(GroupQueryArguments{
          options, internal::given("GroupQueryAttention", "head_dim", options.head_dim),
          internal::given("GroupQueryAttention", "num_query_heads", options.num_query_heads),
          internal::given("GroupQueryAttention", "num_key_value_heads", options.num_key_value_heads)})) {}

void add_multi_head_attention_layers(ClassRegistry& registry) {
  add_layer<MultiHeadAttentionImpl, MultiHeadArguments>(registry, "MultiHeadAttention");
  add_layer<GroupQueryAttentionImpl, GroupQueryArguments>(registry, "GroupQueryAttention",
                                                          {"GroupedQueryAttention"});
}

}  // namespace ktape::nn
