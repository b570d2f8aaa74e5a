#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include <random>

#include "../../../close.hpp"
#include "../../../reference/reference.hpp"

namespace {

using namespace ktape;
namespace K = ktape::backend;
using reference::Array;

Tensor normal(const Shape& shape, int seed, const char* dtype) {
  return K::cast(K::random_normal(shape, {.dtype = "float32", .seed = seed}), dtype);
}

Array array(const Tensor& x) {
  Array out(reference::Extents(x.shape().begin(), x.shape().end()));
  convert(out.data(), "float64", x.raw(), x.dtype(), x.size());
  return out;
}

}  // namespace

TEST_CASE("kernels: attention agrees with softmax(scale * dot(query, transpose(key))) dotted with value") {
  std::mt19937 random(5);
  const auto between = [&](int least, int most) {
    return least + static_cast<int>(random() % (most - least + 1));
  };
  for (int i = 0; i < 24; ++i) {
    const char* const dtype = i % 2 ? "float32" : "float64";
    const int batch = between(1, 2), heads = between(1, 3), queries = between(1, 150), keys = between(1, 300);
    const int dim = between(1, 40), value_dim = between(1, 40);
    const bool causal = between(0, 1);
    CAPTURE(i);
    CAPTURE(queries);
    CAPTURE(keys);
    CAPTURE(dim);
    CAPTURE(value_dim);
    CAPTURE(causal);
    const Tensor query = normal({batch, heads, queries, dim}, 3 * i + 1, dtype),
                 key = normal({batch, heads, keys, dim}, 3 * i + 2, dtype),
                 value = normal({batch, heads, keys, value_dim}, 3 * i + 3, dtype);
    const Tensor got = K::scaled_dot_product_attention(query, key, value, {.causal = causal, .scale = 0.25});
    const Array want = reference::attention(array(query), array(key), array(value), 0.25, causal);
    CHECK(close(K::flatten(got), want, {.atol = i % 2 ? 1e-5 : 1e-13}));
  }
}
