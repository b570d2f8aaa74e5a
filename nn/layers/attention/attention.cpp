#include <ktape/nn/layers/attention/attention.hpp>
#include <ktape/nn/layers/attention/internal/attention_axes.hpp>
#include <ktape/nn/layers/attention/internal/attention_layer.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/nn/attention.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

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

/// A base class of attention with one head and without projections.
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

  Tensors call(const Tensors& inputs, const CallArguments& arguments) {
    check(inputs, arguments);
    const Tensor query_mask = this->mask_at(inputs, arguments, 0),
                 steps = this->mask_at(inputs, arguments, 1), keys_mask = as_bool(steps, 1),
                 value = op_helpers::unmasked(inputs[1], steps),
                 key = inputs.size() > 2 ? op_helpers::unmasked(inputs[2], steps) : value;
    // The returned scores of a masked query are those of what it holds.
    const Tensor query =
        arguments.return_attention_scores ? inputs[0] : op_helpers::unmasked(inputs[0], query_mask);
    Tensors outputs;
    if (is_dot() && !this->needs_weights(query, arguments)) {
      outputs = {fused(query, key, value, keys_mask, arguments.use_causal_mask)};
    } else {
      const Tensor past = arguments.use_causal_mask ? reachable(query, 1, key, 1, true, {}) : Tensor();
      const Tensor seen = both(keys_mask, past), weights = this->weights(scores(query, key), seen);
      outputs = {this->weighed(this->dropped(weights), value, seen.defined())};
      if (arguments.return_attention_scores) outputs.push_back(weights);
    }
    outputs[0] = op_helpers::unmasked(outputs[0], query_mask);
    return outputs;
  }

 protected:
  virtual void build_weights(std::int64_t dim) = 0;
  /// Returns whether the scores are dot products.
  virtual bool is_dot() const = 0;
  /// Returns the query, scaled for dot products.
  virtual Tensor scaled(const Tensor& query) const { return query; }
  /// Returns the score of each pair of query and key, (batch, queries, keys).
  virtual Tensor scores(const Tensor& query, const Tensor& key) const = 0;

  /// Returns f(query + key) for each pair of a query and a key, summed over the features.
  template <class F>
  static Tensor additive(const Tensor& query, const Tensor& key, F f) {
    return K::sum(f(K::expand_dims(query, 2) + K::expand_dims(key, 1)), -1);
  }

 private:
  void check(const Tensors& inputs, const CallArguments& arguments) const {
    this->expect_inputs(inputs.size());
    this->expect_fit(inputs[1].shape(), inputs.back().shape());
    const Shape &query = inputs[0].shape(), &key = inputs.back().shape();
    if (!compatible(query[0], key[0]) || !compatible(query[-1], key[-1]))
      fail("[", this->name(),
           "] query and key must have the same batch and number of features: received query=", query,
           ", key=", key);
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

}  // namespace

Attention::Attention(const AttentionOptions& options) : Layer(std::make_shared<AttentionImpl>(options)) {}

AdditiveAttention::AdditiveAttention(const AdditiveAttentionOptions& options)
    : Layer(std::make_shared<AdditiveAttentionImpl>(options)) {}

void add_attention_layers(ClassRegistry& registry) {
  add_layer<AttentionImpl, AttentionOptions>(registry, "Attention");
  add_layer<AdditiveAttentionImpl, AdditiveAttentionOptions>(registry, "AdditiveAttention");
}

}  // namespace ktape::nn
