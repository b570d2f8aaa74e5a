// Keys and values that a mask hides do not matter to attention, whatever they are.
#include "../../close.hpp"
#include "../check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::All, ktape::Slice, ktape::Tensor, ktape::Variable;

namespace hidden_keys {

using Tensors = std::vector<Tensor>;
using Attend =
    std::function<Tensor(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask)>;

struct Row {
  std::string name;
  Attend attend;
  bool causal = false;
};

std::vector<Row> rows(const std::string& dtype) {
  const Tensor bias = K::cast(normal({1, 1, 5, 5}, 8), dtype);
  return {
      {"fused",
       [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
         return K::scaled_dot_product_attention(q, k, v, {.mask = mask, .heads_last = true});
       }},
      {"causal",
       [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor&) {
         return K::scaled_dot_product_attention(q, k, v, {.causal = true, .heads_last = true});
       },
       true},
      {"ops", [](const Tensor& q, const Tensor& k, const Tensor& v,
                 const Tensor& mask) { return ops::dot_product_attention(q, k, v, {.mask = mask}); }},
      {"ops with a bias",
       [bias](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
         return ops::dot_product_attention(q, k, v, {.bias = bias, .mask = mask});
       }},
      {"ops with a bias, causal",
       [bias](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor&) {
         return ops::dot_product_attention(q, k, v, {.bias = bias, .is_causal = true});
       },
       true},
      {"ops with a soft cap, causal",
       [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor&) {
         return ops::dot_product_attention(q, k, v, {.is_causal = true, .attn_logits_soft_cap = 3});
       },
       true},
  };
}

/// Returns the results of the queries that do not see the last step, the gradients of query, key and value, and those of
/// the gradients.
Tensors found(const Row& row, const Tensor& query, const Tensor& key, const Tensor& value) {
  const Variable q = K::variable(query, {.dtype = query.dtype()}),
                 k = K::variable(key, {.dtype = key.dtype()}),
                 v = K::variable(value, {.dtype = value.dtype()});
  // Query 2 sees nothing; the last query sees itself.
  std::vector<bool> seen(25, true);
  for (std::size_t i = 0; i < 5; ++i) seen[10 + i] = false, seen[5 * i + 4] = i == 4;
  const Tensor out = row.attend(q, k, v, K::constant(seen, {.dtype = "bool", .shape = {1, 1, 5, 5}}));
  const Tensor shown = out[{All, Slice(0, 4)}];
  const auto weighed = [](const Tensor& x, int seed) {
    return K::sum(K::cast(x, "float64") * normal(x.shape(), seed));
  };
  Tensors all = ktape::gradients(weighed(shown, 9), {q, k, v});
  const Tensor sum = weighed(all[0], 10) + weighed(all[1], 11) + weighed(all[2], 12);
  for (const Tensor& g : ktape::gradients(sum, {q, k, v})) all.push_back(g);
  all.push_back(shown);
  return all;
}

}  // namespace hidden_keys

using namespace hidden_keys;

TEST_CASE("hidden keys and values do not matter") {
  for (const std::string dtype : {"float32", "float64", "float16", "bfloat16"})
    for (const Row& row : rows(dtype)) {
      const auto numbers = [&](int seed) { return K::cast(normal({2, 5, 2, 3}, seed), dtype); };
      const Tensor last = K::reshape(K::arange(5) > 3, {1, 5, 1, 1});
      const auto spoiled = [&](const Tensor& x, double number) { return K::where(last, number, x); };
      const Tensors want = found(row, numbers(1), numbers(2), numbers(3));
      for (const double number : std::vector<double>{NAN, INFINITY, -INFINITY, 6e4}) {
        CAPTURE(row.name);
        CAPTURE(dtype);
        CAPTURE(number);
        const Tensors got =
            found(row, spoiled(numbers(1), number), spoiled(numbers(2), number), spoiled(numbers(3), number));
        const bool half = dtype.ends_with("16");
        CHECK(close(got, want, {.rtol = half ? 0.02 : 1e-5, .atol = half ? 0.01 : 1e-6}));
      }
    }
}

TEST_CASE("a query that sees no key gives zeros, with scores that are stored, too") {
  const Tensor x = normal({1, 3, 1, 2}), none = K::zeros({1, 1, 3, 3}, {.dtype = "bool"});
  const Tensor bias = K::zeros({1, 1, 3, 3}, {.dtype = "float64"});
  CHECK(close(ops::dot_product_attention(x, x, x, {.mask = none}), K::zeros_like(x)));
  CHECK(close(ops::dot_product_attention(x, x, x, {.bias = bias, .mask = none}), K::zeros_like(x)));
}

TEST_CASE("a query that sees NaN gives NaN") {
  const Tensor x = K::where(K::reshape(K::arange(3) > 1, {1, 3, 1, 1}), NAN, normal({1, 3, 1, 2}));
  const Tensor y = K::scaled_dot_product_attention(x, x, x, {.causal = true, .heads_last = true});
  CHECK(std::isfinite(K::sum(y[{All, Slice(0, 2)}]).item()));
  CHECK(std::isnan(K::sum(y[{All, 2}]).item()));
}

TEST_CASE("long sequences with blocks of queries and of keys") {
  const Tensor x = normal({1, 200, 2, 8}, 5, "float32"),
               late = K::reshape(K::arange(200) > 150, {1, 200, 1, 1});
  const auto run = [&](const Tensor& given) {
    const Variable v = K::variable(given);
    const Tensor y =
        K::scaled_dot_product_attention(v, v, v, {.causal = true, .heads_last = true})[{All, Slice(0, 150)}];
    return std::vector{y, ktape::gradients(K::sum(y * normal(y.shape(), 2, "float32")), {v})[0]};
  };
  CHECK(close(run(K::where(late, NAN, x)), run(x), {.rtol = 1e-4, .atol = 1e-5}));
}

TEST_CASE("a gradient of 0 hides what a matrix product multiplies it with") {
  for (const char* dtype : {"float32", "float16"}) {
    const auto matrix = [&](const ktape::ArrayLike& x) {
      return K::variable(K::cast(K::constant(x), dtype), {.dtype = dtype});
    };
    for (const double number : std::vector<double>{NAN, INFINITY}) {
      const Variable x = matrix({{1., 2.}, {number, 3.}}), w = matrix({{1., 4.}, {2., 5.}});
      const Tensor y = K::dot(x, w);
      const Tensors slopes = ktape::gradients(K::where(K::constant({{true}, {false}}), y, 0), {x, w});
      CHECK(values(slopes[0]) == Values{5, 7, 0, 0});
      CHECK(values(slopes[1]) == Values{1, 1, 2, 2});
      const Tensors all = ktape::gradients(y, {x, w});
      CHECK(!std::isfinite(values(all[1])[0]));
      CHECK(values(all[1])[2] == 5);
    }
  }
}
