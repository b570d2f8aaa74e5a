#include <ktape/autograd/symbolic.hpp>
#include <ktape/nn/layers/activation.hpp>
#include <ktape/nn/layers/arguments.hpp>
#include <ktape/nn/layers/attention.hpp>
#include <ktape/nn/layers/attention_axes.hpp>
#include <ktape/nn/layers/einsum_dense.hpp>
#include <ktape/nn/layers/regularization.hpp>
#include <ktape/ops/activations.hpp>
#include <ktape/ops/attention.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/linalg.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

#include <cmath>

namespace ktape::nn {
namespace K = backend;

template <class F>
void fields(AttentionOptions& a, F&& field) {
  field("use_scale", a.use_scale);
  field("score_mode", a.score_mode);
  field("dropout", a.dropout);
  field("seed", a.seed);
}

template <class F>
void fields(AdditiveAttentionOptions& a, F&& field) {
  field("use_scale", a.use_scale);
  field("dropout", a.dropout);
  field("seed", a.seed);
}

namespace {

using Tensors = std::vector<Tensor>;

/// The mask of an input; undefined when it has none.
Tensor mask_at(const CallArguments& arguments, std::size_t i) {
  return i < arguments.mask.size() ? arguments.mask[i] : Tensor();
}

/// A layer on query, value and key, from whose scores weights are made.
template <class Arguments>
class AttentionLayer : public LayerWith<Arguments> {
 public:
  AttentionLayer(const char* class_name, const Arguments& arguments)
      : LayerWith<Arguments>(class_name, arguments) {
    expect_rate(class_name, "dropout", args.dropout);
    this->supports_masking = true;
  }

  Tensors compute_mask(const Tensors&, const Tensors& masks) override {
    return {masks.empty() ? Tensor() : masks[0]};
  }

 protected:
  using LayerWith<Arguments>::args;

  void expect_inputs(std::size_t count) const {
    if (count < 2 || count > 3)
      fail("[", this->name(),
           "] the layer must be called on {query, value} or {query, value, key}: received ", count,
           count == 1 ? " tensor" : " tensors");
  }

  /// Throws unless value and key, but for their features, are alike.
  void expect_fit(const Shape& value, const Shape& key) const {
    Shape a = value, b = key;
    if (a.rank() == b.rank() && !a.empty()) a[-1] = b[-1] = None;
    if (!compatible(a, b))
      fail("[", this->name(),
           "] value and key must have the same shape but for the last axis: received value=", value,
           ", key=", key);
  }

  void build_weighing(const Axes& axes) {
    softmax_ = Softmax({.axis = axes, .name = "softmax", .dtype = this->dtype()});
    dropout_ = Dropout(args.dropout, {.seed = args.seed, .name = "dropout", .dtype = this->dtype()});
  }

  /// Whether the weights of a call have to exist.
  bool needs_weights(const Tensor& query, const CallArguments& arguments) const {
    return arguments.return_attention_scores ||
           (args.dropout > 0 && (is_symbolic(query) || this->training(arguments)));
  }

  /// The weights of the scores that a mask, which broadcasts to them, leaves.
  Tensor weights(const Tensor& scores, const Tensor& mask) const {
    return with_mask(mask.defined() ? softmax_(scores, {.mask = mask}) : softmax_(scores), Tensor());
  }
  Tensor dropped(const Tensor& weights) const { return args.dropout > 0 ? dropout_(weights) : weights; }

 private:
  Layer softmax_, dropout_;
};

// --- Attention, AdditiveAttention --------------------------------------------------------------------------

/// One head, without projections.
template <class Arguments>
class SingleHead : public AttentionLayer<Arguments> {
 public:
  SingleHead(const char* class_name, const Arguments& arguments)
      : AttentionLayer<Arguments>(class_name, arguments) {
    this->input_spec = {{.ndim = 3}};
  }

  void build(const std::vector<Shape>& inputs) override {
    this->expect_inputs(inputs.size());
    this->build_weighing(-1);
    build_weights(inputs[0][-1]);
  }

  Tensors call(const Tensors& inputs, const CallArguments& arguments) override {
    check(inputs, arguments);
    const Tensor &query = inputs[0], &value = inputs[1], &key = inputs.back();
    const Tensor keys_mask = as_bool(mask_at(arguments, 1), 1);
    Tensors outputs;
    if (is_dot() && !this->needs_weights(query, arguments)) {
      outputs = {fused(query, key, value, keys_mask, arguments.use_causal_mask)};
    } else {
      const Tensor past = arguments.use_causal_mask ? reachable(query, 1, key, 1, true, {}) : Tensor();
      const Tensor weights = this->weights(scores(query, key), both(keys_mask, past));
      outputs = {K::matmul(this->dropped(weights), value)};
      if (arguments.return_attention_scores) outputs.push_back(weights);
    }
    if (const Tensor mask = mask_at(arguments, 0); mask.defined())
      outputs[0] = outputs[0] * K::expand_dims(K::cast(mask, query.dtype()));
    return outputs;
  }

 protected:
  virtual void build_weights(std::int64_t dim) = 0;
  /// Whether the scores are dot products.
  virtual bool is_dot() const = 0;
  /// The query as it goes into dot products.
  virtual Tensor scaled(const Tensor& query) const { return query; }
  /// Those of each pair, (batch, queries, keys).
  virtual Tensor scores(const Tensor& query, const Tensor& key) const = 0;

  /// f of the sum of each query and each key, summed over the features.
  template <class F>
  static Tensor additive(const Tensor& query, const Tensor& key, F f) {
    return K::sum(f(K::expand_dims(query, 2) + K::expand_dims(key, 1)), -1);
  }

 private:
  void check(const Tensors& inputs, const CallArguments& arguments) const {
    this->expect_inputs(inputs.size());
    this->expect_fit(inputs[1].shape(), inputs.back().shape());
    if (!compatible(inputs[0].shape()[-1], inputs.back().shape()[-1]))
      fail("[", this->name(),
           "] query and key must have as many features: received query=", inputs[0].shape(),
           ", key=", inputs.back().shape());
    if (!arguments.mask.empty() && arguments.mask.size() < 2)
      fail("[", this->name(), "] mask must be {query mask, value mask}: received one mask");
  }

  Tensor fused(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& keys_mask,
               bool causal) const {
    const auto one_head = [](const Tensor& x) { return K::expand_dims(x, 1); };
    K::AttentionOptions options{.causal = causal, .scale = 1};
    if (keys_mask.defined()) options.mask = one_head(keys_mask);
    return K::squeeze(
        K::scaled_dot_product_attention(one_head(scaled(query)), one_head(key), one_head(value), options), 1);
  }
};

class AttentionImpl final : public SingleHead<AttentionOptions> {
 public:
  explicit AttentionImpl(const AttentionOptions& options) : SingleHead("Attention", options) {
    if (args.score_mode != "dot" && args.score_mode != "concat")
      fail("[Attention] score_mode must be \"dot\" or \"concat\": received score_mode=\"", args.score_mode,
           '"');
  }

 protected:
  void build_weights(std::int64_t) override {
    if (args.use_scale) scale_ = add_weight("scale", {}, {.initializer = "ones"});
    if (!is_dot()) concat_score_weight_ = add_weight("concat_score_weight", {}, {.initializer = "ones"});
  }
  bool is_dot() const override { return args.score_mode == "dot"; }
  Tensor scaled(const Tensor& x) const override { return args.use_scale ? x * scale_ : x; }
  Tensor scores(const Tensor& query, const Tensor& key) const override {
    if (is_dot()) return K::matmul(scaled(query), key, {.transpose_b = true});
    return additive(query, key, [&](const Tensor& sum) { return K::tanh(scaled(sum)); }) *
           concat_score_weight_;
  }

 private:
  Variable scale_, concat_score_weight_;
};

class AdditiveAttentionImpl final : public SingleHead<AdditiveAttentionOptions> {
 public:
  explicit AdditiveAttentionImpl(const AdditiveAttentionOptions& options)
      : SingleHead("AdditiveAttention", options) {}

 protected:
  void build_weights(std::int64_t dim) override {
    if (args.use_scale) scale_ = add_weight("scale", {dim});
  }
  bool is_dot() const override { return false; }
  Tensor scores(const Tensor& query, const Tensor& key) const override {
    return additive(query, key,
                    [&](const Tensor& sum) { return args.use_scale ? K::tanh(sum) * scale_ : K::tanh(sum); });
  }

 private:
  Variable scale_;
};

// --- MultiHeadAttention, GroupQueryAttention ---------------------------------------------------------------

struct MultiHeadArguments : MultiHeadAttentionOptions {
  std::int64_t num_heads = 0, key_dim = 0;
};

/// What both have.
template <class Arguments, class F>
void projection_fields(Arguments& a, F&& field) {
  field("kernel_initializer", a.kernel_initializer);
  field("bias_initializer", a.bias_initializer);
  field("kernel_regularizer", a.kernel_regularizer);
  field("bias_regularizer", a.bias_regularizer);
  field("activity_regularizer", a.activity_regularizer);
  field("kernel_constraint", a.kernel_constraint);
  field("bias_constraint", a.bias_constraint);
  field("use_gate", a.use_gate);
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
  field("sliding_window", a.sliding_window);
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
  field("sliding_window", a.sliding_window);
  projection_fields(a, field);
}

/// How many heads there are, and of which size.
struct Heads {
  std::int64_t of_query, of_key, key_dim, value_dim;
};

/// The equation of a projection that keeps the first axes of a tensor of some rank, and the letters of those
/// that it makes.
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
class MultiHead : public AttentionLayer<Arguments> {
 public:
  MultiHead(const char* class_name, const Arguments& arguments, const Heads& heads)
      : AttentionLayer<Arguments>(class_name, arguments), heads_(heads) {
    if (args.sliding_window)
      expect_at_least<std::int64_t>(class_name, "sliding_window", *args.sliding_window, 1);
    if (args.flash_attention.value_or(false) && args.dropout > 0)
      fail("[", class_name, "] flash_attention is without dropout: received dropout=", args.dropout);
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

  Tensors call(const Tensors& inputs, const CallArguments& arguments) override {
    check(inputs, arguments);
    const Tensor query = query_(inputs[0]), key = key_(inputs.back()), value = value_(inputs[1]);
    const double scale = 1 / std::sqrt(static_cast<double>(heads_.key_dim));
    const bool explicitly = this->needs_weights(query, arguments);
    // The fused op knows which keys come later; every other mask must be one for it.
    const bool causal = arguments.use_causal_mask && !explicitly && axes_.plain();
    const Tensor mask = visible(inputs, arguments, arguments.use_causal_mask && !causal);
    const Tensor q = axes_.folded(query), k = axes_.folded(shared(key)), v = axes_.folded(shared(value));
    Tensor attended, weights;
    if (explicitly || (mask.defined() && !axes_.plain())) {
      weights = this->weights(axes_.unfolded_scores(dots(q * scale, k), query, key), mask);
      attended = weighed(axes_.folded_scores(this->dropped(weights)), v);
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
                                  .bias_axes = args.use_bias ? std::optional(letters) : std::nullopt,
                                  .kernel_initializer = args.kernel_initializer,
                                  .bias_initializer = args.bias_initializer,
                                  .kernel_regularizer = args.kernel_regularizer,
                                  .bias_regularizer = args.bias_regularizer,
                                  .activity_regularizer = args.activity_regularizer,
                                  .kernel_constraint = args.kernel_constraint,
                                  .bias_constraint = args.bias_constraint,
                                  .name = name,
                                  .dtype = this->dtype()});
    projection.build(input);
    return this->add_layer(static_cast<const Layer&>(projection));
  }

  void check(const Tensors& inputs, const CallArguments& arguments) const {
    this->expect_inputs(inputs.size());
    this->expect_fit(inputs[1].shape(), inputs.back().shape());
    if (args.flash_attention.value_or(false) && arguments.return_attention_scores)
      fail("[", this->name(), "] flash_attention is without scores: received return_attention_scores=true");
    if (arguments.use_causal_mask && !axes_.one())
      fail("[", this->name(),
           "] use_causal_mask needs attention over one axis: received attention_axes=", Value(axes_.list()));
  }

  /// For each head of the query the head of key or value that it shares.
  Tensor shared(const Tensor& x) const {
    const std::int64_t times = heads_.of_query / heads_.of_key;
    return times == 1 ? x : K::repeat_elements(x, times, -2);
  }

  static Tensor heads_first(const Tensor& x) { return K::permute_dimensions(x, {0, 2, 1, 3}); }
  static Tensor dots(const Tensor& query, const Tensor& key) {
    return K::matmul(heads_first(query), heads_first(key), {.transpose_b = true});
  }
  static Tensor weighed(const Tensor& weights, const Tensor& value) {
    return heads_first(K::matmul(weights, heads_first(value)));
  }

  /// Which keys each query may look at, to broadcast to the scores; undefined when all.
  Tensor visible(const Tensors& inputs, const CallArguments& arguments, bool causal) const {
    Tensor mask = axes_.mask(arguments.attention_mask);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (const Tensor steps = mask_at(arguments, i); steps.defined())
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
      fail("[GroupQueryAttention] num_query_heads must divide into num_key_value_heads: received ",
           "num_query_heads=", a.num_query_heads, ", num_key_value_heads=", a.num_key_value_heads);
    return {a.num_query_heads, a.num_key_value_heads, a.head_dim, a.head_dim};
  }
};

}  // namespace

Attention::Attention(const AttentionOptions& options) : Layer(std::make_shared<AttentionImpl>(options)) {}

AdditiveAttention::AdditiveAttention(const AdditiveAttentionOptions& options)
    : Layer(std::make_shared<AdditiveAttentionImpl>(options)) {}

MultiHeadAttention::MultiHeadAttention(std::int64_t num_heads, std::int64_t key_dim,
                                       const MultiHeadAttentionOptions& options)
    : Layer(std::make_shared<MultiHeadAttentionImpl>(MultiHeadArguments{options, num_heads, key_dim})) {}

GroupQueryAttention::GroupQueryAttention(std::int64_t head_dim, std::int64_t num_query_heads,
                                         std::int64_t num_key_value_heads,
                                         const GroupQueryAttentionOptions& options)
    : Layer(std::make_shared<GroupQueryAttentionImpl>(
          GroupQueryArguments{options, head_dim, num_query_heads, num_key_value_heads})) {}

void add_attention_layers(Catalogue& catalogue) {
  add_layer<AttentionImpl, AttentionOptions>(catalogue, "Attention");
  add_layer<AdditiveAttentionImpl, AdditiveAttentionOptions>(catalogue, "AdditiveAttention");
  add_layer<MultiHeadAttentionImpl, MultiHeadArguments>(catalogue, "MultiHeadAttention");
  add_layer<GroupQueryAttentionImpl, GroupQueryArguments>(catalogue, "GroupQueryAttention",
                                                          {"GroupedQueryAttention"});
}

}  // namespace ktape::nn
