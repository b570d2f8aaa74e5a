#include <ktape/autograd/arguments.hpp>
#include <ktape/ops/composed_gradient.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/kernels/engine/engine.hpp>
#include <ktape/ops/kernels/sequence/attention.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/linalg/matmul.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/nn/attention.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/shape.hpp>

#include <cmath>

namespace ktape::backend {
namespace {

using Tensors = std::vector<Tensor>;

constexpr const char* op = "scaled_dot_product_attention";

/// The extents of a tensor of heads.
struct Heads {
  std::int64_t batch, heads, steps, dim;
  Heads(const Tensor& t, bool heads_last)
      : batch(t.shape()[0]),
        heads(t.shape()[heads_last ? 2 : 1]),
        steps(t.shape()[heads_last ? 1 : 2]),
        dim(t.shape()[3]) {}
};

/// One run of attention, with the values that the gradient needs. The mask is bool, or undefined. Half precision is
/// computed in float32, and kept as given.
class Attention {
 public:
  Attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
            const AttentionOptions& options)
      : query_(query),
        key_(key),
        value_(value),
        mask_(mask),
        causal_(options.causal),
        heads_last_(options.heads_last) {
    const double dim = static_cast<double>(std::max<std::int64_t>(query.shape()[3], 1));
    scale_ = options.scale.value_or(1 / std::sqrt(dim));
  }

  Tensor forward() {
    Shape shape = query_.shape();
    const Tensor query = op_helpers::widened(query_), key = op_helpers::widened(key_),
                 value = op_helpers::widened(value_);
    logs_ = Tensor::empty({query_.shape().count(0, 3)}, query.dtype());
    shape[3] = value_.shape()[3];
    const Tensor out = Tensor::empty(shape, query.dtype(), op);
    with_type([&]<class A, bool paired>() {
      kernels::attention<A, paired>(layout(), query.pointer<A>(), key.pointer<A>(), value.pointer<A>(),
                                    out.pointer<A>(), logs_.pointer<A>());
    });
    return op_helpers::narrowed(out, query_.dtype());
  }

  void backward(const Tensor& g, const Tensor& out, Grads& grads) const {
    if (recording())
      return op_helpers::composed_gradient(grads, {query_, key_, value_},
                                           [&](const Tensors& in) { return Tensors{composed(in)}; });
    const auto wide = [](const Tensor& t) { return op_helpers::widened(t); };
    const Tensor query = wide(query_), key = wide(key_), value = wide(value_), result = wide(out),
                 slope = wide(g);
    const Tensor dq = Tensor::empty_like(query), dk = Tensor::empty_like(key), dv = Tensor::empty_like(value);
    with_type([&]<class A, bool paired>() {
      kernels::attention_backward<A, paired>(
          layout(),
          {query.pointer<A>(), key.pointer<A>(), value.pointer<A>(), result.pointer<A>(), logs_.pointer<A>(),
           slope.pointer<A>(), dq.pointer<A>(), dk.pointer<A>(), dv.pointer<A>()});
    });
    grads.add(0, op_helpers::narrowed(dq, query_.dtype()));
    grads.add(1, op_helpers::narrowed(dk, query_.dtype()));
    grads.add(2, op_helpers::narrowed(dv, query_.dtype()));
  }

 private:
  template <class F>
  void with_type(const F& f) const {
    if (query_.dtype() == DType::Float64) return f.template operator()<double, false>();
    if constexpr (kernels::has_pair_products)
      if (query_.dtype() == DType::BFloat16 && kernels::multiplies_bfloat16())
        return f.template operator()<float, true>();
    f.template operator()<float, false>();
  }

  kernels::AttentionLayout layout() const {
    const Heads q(query_, heads_last_), k(key_, heads_last_);
    kernels::AttentionLayout at{q.batch, q.heads, q.steps, k.steps, q.dim,      value_.shape()[3],
                                scale_,  causal_, nullptr, {},      heads_last_};
    if (!mask_.defined()) return at;
    at.mask = mask_.pointer<bool>();
    std::int64_t step = 1;
    for (int d = 3; d >= 0; --d) {
      const std::int64_t extent = d < 4 - mask_.ndim() ? 1 : mask_.shape()[d - 4 + mask_.ndim()];
      at.mask_strides[d] = extent == 1 ? 0 : step;
      step *= extent;
    }
    return at;
  }

  /// Returns the mask of the keys that each query may see; undefined: all keys.
  Tensor seen() const {
    if (!causal_) return mask_;
    const auto steps = [](std::int64_t n) { return arange(0, n, 1, {.dtype = "int64"}); };
    const Tensor past =
        expand_dims(steps(Heads(query_, heads_last_).steps)) >= steps(Heads(key_, heads_last_).steps);
    return mask_.defined() ? cast(mask_, "int8") * cast(past, "int8") > 0 : past;
  }

  Tensor composed(const Tensors& in) const {
    const auto moved = [&](const Tensor& t) { return heads_last_ ? permute_dimensions(t, {0, 2, 1, 3}) : t; };
    const auto wide = [&](const Tensor& t) {
      return moved(query_.dtype().is_half() ? cast(t, DType::Float32) : t);
    };
    const Tensor scores = matmul(wide(in[0]), wide(in[1]), {.transpose_b = true}) * scale_,
                 out = moved(op_helpers::weighed_sum(weights(scores), wide(in[2])));
    return query_.dtype().is_half() ? cast(out, query_.dtype()) : out;
  }
  Tensor weights(const Tensor& scores) const {
    const Tensor may = seen();
    if (!may.defined()) return softmax(scores);
    const auto number = [&](double value) { return full({}, value, scores.dtype()); };
    return where(may, softmax(where(may, scores, number(-INFINITY))), number(0));
  }

  Tensor query_, key_, value_, mask_, logs_;
  bool causal_, heads_last_;
  double scale_;
};

/// Returns the options that a symbolic call keeps: without the mask, which is an operand.
AttentionOptions without_mask(AttentionOptions options) {
  options.mask = {};
  return options;
}

void check_shapes(const Tensor& query, const Tensor& key, const Tensor& value, bool heads_last) {
  for (const Tensor& t : {query, key, value})
    if (t.ndim() != 4)
      fail("[", op, "] query, key and value must have rank 4: received ", query.shape(), ", ", key.shape(),
           " and ", value.shape());
  const Heads q(query, heads_last), k(key, heads_last), v(value, heads_last);
  const bool fit = compatible(q.batch, k.batch) && compatible(q.heads, k.heads) && compatible(q.dim, k.dim) &&
                   compatible(k.batch, v.batch) && compatible(k.heads, v.heads) &&
                   compatible(k.steps, v.steps);
  if (!fit)
    fail("[", op, "] query must be (",
         heads_last ? "batch, queries, heads, dim" : "batch, heads, queries, dim",
         "), key and value the same with keys in place of queries: received query=", query.shape(),
         ", key=", key.shape(), ", value=", value.shape());
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options) {
  expect_defined("scaled_dot_product_attention", "query, key, value", query, key, value);
  check_shapes(query, key, value, options.heads_last);
  op_helpers::expect_floating(op, query);
  op_helpers::expect_same_dtype(op, query, key);
  op_helpers::expect_same_dtype(op, query, value);
  const Heads q(query, options.heads_last), k(key, options.heads_last), v(value, options.heads_last);
  const std::int64_t batch = merged(merged(q.batch, k.batch), v.batch),
                     heads = merged(merged(q.heads, k.heads), v.heads);
  const Shape scores{batch, heads, q.steps, merged(k.steps, v.steps)};
  if (options.mask.defined() && !broadcasts_to(options.mask.shape(), scores))
    fail("[", op, "] the mask must broadcast to (batch, heads, queries, keys) ", scores,
         ": received mask=", options.mask.shape());
  if (is_symbolic(query, key, value, options.mask)) {
    const auto later = [options = without_mask(options)](const Tensor& query, const Tensor& key,
                                                         const Tensor& value, const Tensor& mask) {
      AttentionOptions given = options;
      given.mask = mask;
      return scaled_dot_product_attention(query, key, value, given);
    };
    const Shape shape =
        options.heads_last ? Shape{batch, q.steps, heads, v.dim} : Shape{batch, heads, q.steps, v.dim};
    // Keras has the function with the heads behind the steps; the description tells the forms apart by its length.
    std::vector<DescribedArgument> description(4, {.operands = 1});
    description.push_back(describe(options.scale)), description.push_back(describe(options.causal));
    if (!options.heads_last) description.push_back(describe(options.heads_last));
    return defer_as(std::move(description), op, std::vector{OutputInfo{shape, query.dtype()}}, later, query,
                    key, value, WithoutGradient{options.mask})[0];
  }
  const Tensor mask = options.mask.defined() ? cast(options.mask.detach(), DType::Bool) : Tensor();
  Attention attention(query, key, value, mask, options);
  Tensor out = attention.forward();
  if (recording(query, key, value))
    record(op, out, {query, key, value},
           [attention = std::move(attention)](const Tensor& g, const Tensor& y, Grads& grads) {
             attention.backward(g, y, grads);
           });
  return out;
}

}  // namespace ktape::backend

namespace ktape::nn {
namespace {

Tensor attention(const OperationCall& call) {
  backend::AttentionOptions options{
      .causal = call.flag("causal"),
      .scale = call.value("scale").as<std::optional<double>>("[scaled_dot_product_attention] scale"),
      .heads_last = call.flag("heads_last")};
  if (call.has("mask")) options.mask = call.tensor("mask");
  return backend::scaled_dot_product_attention(call.tensor("query"), call.tensor("key"), call.tensor("value"),
                                               options);
}

}  // namespace

Operations attention_operations() {
  static constexpr Operation rows[] = {
      {"scaled_dot_product_attention", "", "query, key, value, mask=null; scale, causal, heads_last",
       attention},
  };
  return rows;
}

}  // namespace ktape::nn
