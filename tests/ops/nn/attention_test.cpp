#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/nn/attention.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/updates.hpp>

#include <cmath>

#include "../catalogue.hpp"
#include "../check.hpp"

using namespace ktape;
namespace K = ktape::backend;
using doctest::Contains;

namespace {

using List = std::vector<Tensor>;

struct Extents {
  std::int64_t queries, keys, dim, value_dim;
};

List heads(const Extents& e, std::int64_t batch = 2, std::int64_t heads = 3) {
  return {normal({batch, heads, e.queries, e.dim}), normal({batch, heads, e.keys, e.dim}, 2),
          normal({batch, heads, e.keys, e.value_dim}, 3)};
}

/// Computes attention by plain ops. Where `seen`, which has the shape of the scores, is 0, the weight is 0.
Tensor plainly(const List& in, const Tensor& seen, double scale) {
  const Tensor weights = K::exp(K::matmul(in[0], in[1], {.transpose_b = true}) * scale) * seen;
  return K::matmul(weights / (K::sum(weights, -1, true) + 1e-300), in[2]);
}

Tensor ones(const List& in) {
  return K::ones({in[0].shape()[0], in[0].shape()[1], in[0].shape()[2], in[1].shape()[2]},
                 {.dtype = "float64"});
}

Tensor lower(std::int64_t queries, std::int64_t keys) {
  const auto steps = [](std::int64_t n) { return K::arange(0, n, 1, {.dtype = "int64"}); };
  return K::cast(K::expand_dims(steps(queries)) >= steps(keys), "float64");
}

}  // namespace

TEST_CASE("attention weighs the values, for every size of the blocks") {
  for (const Extents& e : {Extents{1, 1, 1, 1},
                           {3, 5, 4, 2},
                           {64, 64, 32, 32},
                           {65, 130, 7, 40},
                           {200, 17, 64, 9},
                           {130, 70, 16, 70}})
    for (const bool causal : {false, true}) {
      CAPTURE(e.queries);
      CAPTURE(causal);
      List in;
      for (const Tensor& t : heads(e)) in.push_back(Variable(t));
      const double scale = 1 / std::sqrt(double(e.dim));
      const Tensor seen = causal ? ones(in) * lower(e.queries, e.keys) : ones(in);
      const Tensor fused = K::scaled_dot_product_attention(in[0], in[1], in[2], {.causal = causal}),
                   plain = plainly(in, seen, scale);
      CHECK(close(fused, plain, {.atol = 1e-12}));
      const auto slopes = [&](const Tensor& y) {
        return gradients(K::sum(K::square(y) * normal(y.shape(), 8)), in);
      };
      const List got = slopes(fused), wanted = slopes(plain);
      for (std::size_t i = 0; i < 3; ++i) CHECK(close(got[i], wanted[i], {.atol = 1e-11}));
    }
}

TEST_CASE("masks of any shape that broadcasts hide keys") {
  const List in = heads({5, 6, 3, 4});
  for (const Shape& shape :
       {Shape{2, 3, 5, 6}, Shape{2, 1, 1, 6}, Shape{5, 6}, Shape{6}, Shape{3, 1, 6}, Shape{2, 1, 5, 1}}) {
    CAPTURE(shape);
    const Tensor mask = K::sin(counted(shape) * 1.7) > -0.3;
    const Tensor seen = ones(in) * K::cast(mask, "float64");
    CHECK(close(K::scaled_dot_product_attention(in[0], in[1], in[2], {.mask = mask, .scale = 0.7}),
                plainly(in, seen, 0.7), {.atol = 1e-12}));
    CHECK(close(K::scaled_dot_product_attention(
                    in[0], in[1], in[2], {.mask = K::cast(mask, "float32"), .causal = true, .scale = 0.7}),
                plainly(in, seen * lower(5, 6), 0.7), {.atol = 1e-12}));
  }
}

TEST_CASE("attention has gradients of both orders") {
  const List in = heads({3, 4, 2, 3}, 1, 2);
  const Tensor mask =
      K::constant({{true, true, false, true}, {false, false, false, false}, {true, false, true, true}});
  check_gradients([](In v) { return K::scaled_dot_product_attention(v[0], v[1], v[2]); }, in);
  check_gradients([](In v) { return K::scaled_dot_product_attention(v[0], v[1], v[2], {.causal = true}); },
                  in);
  check_gradients(
      [&](In v) { return K::scaled_dot_product_attention(v[0], v[1], v[2], {.mask = mask, .causal = true}); },
      in);
  check_gradients([](In v) { return K::scaled_dot_product_attention(v[0], v[0], v[0], {.scale = 2.}); },
                  {in[0]});
}

TEST_CASE("the axis of heads may follow the axis of steps") {
  for (const Extents& e : {Extents{3, 5, 4, 2}, {65, 70, 17, 33}})
    for (const bool causal : {false, true}) {
      List first, last;
      for (const Tensor& t : heads(e)) {
        first.push_back(Variable(t));
        last.push_back(Variable(K::permute_dimensions(t, {0, 2, 1, 3})));
      }
      const Tensor mask = K::sin(counted({2, 1, e.queries, e.keys})) > -0.5;
      const Tensor wanted =
          K::scaled_dot_product_attention(first[0], first[1], first[2], {.mask = mask, .causal = causal});
      const Tensor got = K::scaled_dot_product_attention(
          last[0], last[1], last[2], {.mask = mask, .causal = causal, .heads_last = true});
      const auto moved = [](const Tensor& t) { return K::permute_dimensions(t, {0, 2, 1, 3}); };
      CHECK(close(moved(got), wanted, {.atol = 1e-13}));
      const List got_slopes = gradients(K::square(got), last),
                 wanted_slopes = gradients(K::square(wanted), first);
      for (std::size_t i = 0; i < 3; ++i)
        CHECK(close(moved(got_slopes[i]), wanted_slopes[i], {.atol = 1e-12}));
    }
  check_gradients(
      [](In v) {
        return K::scaled_dot_product_attention(v[0], v[1], v[2], {.causal = true, .heads_last = true});
      },
      {normal({1, 2, 3, 2}), normal({1, 2, 3, 2}, 2), normal({1, 2, 3, 1}, 3)});
}

TEST_CASE(
    "a single head, whose keys are divided among threads, has the gradients that it has among many heads") {
  for (const Extents& e : {Extents{70, 300, 5, 3}, {300, 290, 8, 8}})
    for (const bool causal : {false, true})
      for (const bool heads_last : {false, true}) {
        List alone, many;
        for (const Tensor& t : heads(e, 1, 1)) {
          alone.push_back(Variable(heads_last ? K::permute_dimensions(t, {0, 2, 1, 3}) : t));
          many.push_back(Variable(K::tile(t, {17, 1, 1, 1})));
        }
        const Tensor mask = K::sin(counted({e.queries, e.keys})) > -0.9;
        const auto slopes = [&](const List& in, bool last) {
          return gradients(K::square(K::scaled_dot_product_attention(
                               in[0], in[1], in[2], {.mask = mask, .causal = causal, .heads_last = last})),
                           in);
        };
        const List got = slopes(alone, heads_last), wanted = slopes(many, false);
        for (std::size_t i = 0; i < 3; ++i)
          CHECK(close(K::flatten(got[i]), K::flatten(wanted[i])[Slice(0, got[i].size())], {.atol = 1e-12}));
      }
}

TEST_CASE("a query that sees no key gives zeros, scores may have any size") {
  const Tensor x = normal({1, 1, 2, 3}), mask = K::constant({{0, 0}, {1, 0}});
  const Tensor y = K::scaled_dot_product_attention(x, x, x, {.mask = mask});
  for (int j = 0; j < 3; ++j) {
    CHECK(y.item<double>(0, 0, 0, j) == 0);
    CHECK(y.item<double>(0, 0, 1, j) == x.item<double>(0, 0, 0, j));
  }
  const Tensor large = K::cast(K::constant({1e4f, -1e4f}, {.shape = Shape{1, 1, 2, 1}}), "float32");
  CHECK(values(K::cast(K::scaled_dot_product_attention(large, large, large), "float64")) ==
        Values{1e4, -1e4});
}

TEST_CASE("attention in float32 and float16 is close to float64") {
  const List in = heads({70, 33, 32, 32});
  const Tensor wanted = K::scaled_dot_product_attention(in[0], in[1], in[2]);
  for (const char* dtype : {"float32", "float16"}) {
    const auto of = [&](const Tensor& t) { return K::cast(t, dtype); };
    const Tensor got = K::scaled_dot_product_attention(of(in[0]), of(in[1]), of(in[2]));
    CHECK(got.dtype() == dtype);
    CHECK(close(got, wanted, {.atol = DType(dtype) == DType::Float16 ? 1e-2 : 1e-5}));
  }
}

TEST_CASE(
    "attention of bfloat16 and its gradients are those of float32 within the rounding, for every size") {
  const auto run = [](const List& given, DType dtype, const K::AttentionOptions& options) {
    std::vector<Variable> in;
    for (const Tensor& x : given) in.emplace_back(K::cast(K::cast(x, "bfloat16"), dtype));
    const Tensor y = K::scaled_dot_product_attention(in[0], in[1], in[2], options);
    List all = K::gradients(K::sum(K::cast(y, "float32")), in);
    all.push_back(y);
    return all;
  };
  for (const Extents& e : {Extents{1, 1, 1, 1},
                           {3, 5, 4, 2},
                           {64, 64, 32, 32},
                           {65, 130, 7, 40},
                           {200, 17, 64, 9},
                           {130, 261, 16, 70}})
    for (const bool causal : {false, true}) {
      CAPTURE(e.queries);
      CAPTURE(causal);
      const K::AttentionOptions options{.causal = causal};
      const List got = run(heads(e), "bfloat16", options), want = run(heads(e), "float32", options);
      for (std::size_t i = 0; i < got.size(); ++i) {
        CHECK(got[i].dtype() == DType(DType::BFloat16));
        const double scale = K::max(K::abs(want[i])).item<double>();
        CHECK(close(K::cast(got[i], "float32"), want[i], {.rtol = 0.01, .atol = 0.01 * scale}));
      }
    }
}

TEST_CASE("attention to no keys is zeros, and of no queries empty") {
  CHECK(values(K::scaled_dot_product_attention(K::ones({1, 1, 2, 3}), K::ones({1, 1, 0, 3}),
                                               K::ones({1, 1, 0, 1}))) == Values{0, 0});
  CHECK(K::scaled_dot_product_attention(K::ones({0, 1, 2, 3}), K::ones({0, 1, 2, 3}), K::ones({0, 1, 2, 3}))
            .shape() == Shape{0, 1, 2, 3});
  CHECK(K::scaled_dot_product_attention(K::ones({1, 1, 0, 3}), K::ones({1, 1, 2, 3}), K::ones({1, 1, 2, 3}))
            .shape() == Shape{1, 1, 0, 3});
}

TEST_CASE("attention names the op and what was expected") {
  const Tensor x = K::zeros({2, 1, 4, 3});
  CHECK_THROWS_WITH_AS(K::scaled_dot_product_attention(K::zeros({4, 3}), x, x),
                       Contains("[scaled_dot_product_attention] query, key and value must have rank 4"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::scaled_dot_product_attention(x, K::zeros({2, 1, 4, 2}), x),
                       Contains("received query=(2, 1, 4, 3), key=(2, 1, 4, 2)"), ValueError);
  CHECK_THROWS_WITH_AS(K::scaled_dot_product_attention(x, x, K::zeros({2, 1, 5, 3})),
                       Contains("the same with keys in place of queries"), ValueError);
  CHECK_THROWS_AS(K::scaled_dot_product_attention(x, x, x, {.mask = K::ones({3, 4})}), ValueError);
  CHECK_THROWS_WITH_AS(K::scaled_dot_product_attention(x, x, x, {.mask = K::ones({1, 2, 1, 4, 4})}),
                       Contains("must broadcast"), ValueError);
  CHECK_THROWS_AS(K::scaled_dot_product_attention(x, x, K::cast(x, "float64")), TypeError);
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"scaled_dot_product_attention", [](In in) { return K::scaled_dot_product_attention(in[0], in[1], in[2]); },
       {normal({1, 1, 2, 2}), normal({1, 1, 3, 2}, 2), normal({1, 1, 3, 1}, 3)}},
  };
});
// clang-format on

}  // namespace
