#include <ktape/ops/activations.hpp>
#include <ktape/ops/attention.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/kernels/apply.hpp>
#include <ktape/ops/kernels/attention.hpp>
#include <ktape/ops/kernels/composed_gradient.hpp>
#include <ktape/ops/linalg.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/shape.hpp>

#include <cmath>

namespace ktape::backend {
namespace {

using Tensors = std::vector<Tensor>;

constexpr const char* op = "scaled_dot_product_attention";

/// One run over tensors of float or double, and what it keeps for the gradient. The mask is of bool, or
/// undefined.
class Attention {
 public:
  Attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, bool causal,
            double scale)
      : query_(query), key_(key), value_(value), mask_(mask), causal_(causal), scale_(scale) {}

  Tensor forward() {
    Shape shape = query_.shape();
    logs_ = Tensor::empty({shape[0], shape[1], shape[2]}, query_.dtype());
    shape[3] = value_.shape()[3];
    Tensor out = Tensor::empty(shape, query_.dtype());
    with_type([&]<class A>() {
      kernels::attention(layout(), query_.pointer<A>(), key_.pointer<A>(), value_.pointer<A>(),
                         out.pointer<A>(), logs_.pointer<A>());
    });
    return out;
  }

  void backward(const Tensor& g, Grads& grads) const {
    if (recording())
      return kernels::composed_gradient(grads, {query_, key_, value_},
                                        [&](const Tensors& in) { return Tensors{composed(in)}; });
    const Tensor dq = Tensor::empty_like(query_), dk = Tensor::empty_like(key_),
                 dv = Tensor::empty_like(value_);
    with_type([&]<class A>() {
      kernels::attention_backward<A>(layout(), query_.pointer<A>(), key_.pointer<A>(), value_.pointer<A>(),
                                     logs_.pointer<A>(), g.pointer<A>(),
                                     {dq.pointer<A>(), dk.pointer<A>(), dv.pointer<A>()});
    });
    grads.add(0, dq);
    grads.add(1, dk);
    grads.add(2, dv);
  }

 private:
  template <class F>
  void with_type(const F& f) const {
    query_.dtype() == DType::Float64 ? f.template operator()<double>() : f.template operator()<float>();
  }

  kernels::AttentionLayout layout() const {
    const Shape &q = query_.shape(), &k = key_.shape();
    kernels::AttentionLayout at{q[0],   q[1],    q[2],    k[2], q[3], value_.shape()[3],
                                scale_, causal_, nullptr, {}};
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

  /// Which keys a query may look at, or undefined when all.
  Tensor seen() const {
    if (!causal_) return mask_;
    const auto steps = [](std::int64_t n) { return arange(0, n, 1, {.dtype = "int64"}); };
    const Tensor past = expand_dims(steps(query_.shape()[2])) >= steps(key_.shape()[2]);
    return mask_.defined() ? cast(mask_, "int8") * cast(past, "int8") > 0 : past;
  }

  Tensor composed(const Tensors& in) const {
    const Tensor scores = matmul(in[0], in[1], {.transpose_b = true}) * scale_, may = seen();
    if (!may.defined()) return matmul(softmax(scores), in[2]);
    const Tensor hidden = full({}, -1e30, query_.dtype()), weights = softmax(where(may, scores, hidden));
    return matmul(where(may, weights, full({}, 0, query_.dtype())), in[2]);
  }

  Tensor query_, key_, value_, mask_, logs_;
  bool causal_;
  double scale_;
};

void check_shapes(const Tensor& query, const Tensor& key, const Tensor& value) {
  const Shape &q = query.shape(), &k = key.shape(), &v = value.shape();
  for (const Shape& shape : {q, k, v})
    if (shape.rank() != 4)
      fail("[", op, "] query, key and value must have rank 4: received ", q, ", ", k, " and ", v);
  if (q[0] != k[0] || q[1] != k[1] || q[3] != k[3] || k[0] != v[0] || k[1] != v[1] || k[2] != v[2])
    fail("[", op,
         "] query must be (batch, heads, queries, dim), key (batch, heads, keys, dim) and value (batch, "
         "heads, keys, value_dim): "
         "received query=",
         q, ", key=", k, ", value=", v);
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options) {
  check_shapes(query, key, value);
  kernels::expect_floating(op, query);
  kernels::expect_same_dtype(op, query, key);
  kernels::expect_same_dtype(op, query, value);
  const Shape scores{query.shape()[0], query.shape()[1], query.shape()[2], key.shape()[2]};
  if (options.mask.defined() && broadcast_shapes(op, scores, options.mask.shape()) != scores)
    fail("[", op, "] the mask must broadcast to (batch, heads, queries, keys) ", scores,
         ": received mask=", options.mask.shape());
  if (query.dtype() == DType::Float16) {
    const auto wide = [](const Tensor& t) { return cast(t, DType::Float32); };
    return cast(scaled_dot_product_attention(wide(query), wide(key), wide(value), options), DType::Float16);
  }
  const Tensor mask = options.mask.defined() ? cast(options.mask.detach(), DType::Bool) : Tensor();
  Attention attention(query, key, value, mask, options.causal,
                      options.scale.value_or(
                          1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(query.shape()[3], 1)))));
  Tensor out = attention.forward();
  if (recording(query, key, value))
    record(op, out, {query, key, value}, [attention = std::move(attention)](const Tensor& g, Grads& grads) {
      attention.backward(g, grads);
    });
  return out;
}

}  // namespace ktape::backend
