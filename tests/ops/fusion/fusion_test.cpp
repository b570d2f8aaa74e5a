#include <doctest/doctest.h>
#include <ktape/ktape.hpp>
#include <ktape/ops/fusion/element_queue.hpp>
#include <ktape/ops/fusion/fusion_scope.hpp>

#include "../../in_threads.hpp"
#include "../check.hpp"

#include <cstdlib>
#include <cstring>

#include <omp.h>

using doctest::Contains;
namespace K = ktape::backend;
using ktape::FusionScope, ktape::Shape, ktape::Tensor, ktape::Variable, ktape::ValueError;

namespace {

/// Lets ops on small tensors wait, too.
struct AnySize {
  std::int64_t before = ktape::fusion::set_smallest_result(1);
  ~AnySize() { ktape::fusion::set_smallest_result(before); }
};

bool pending(const Tensor& x) { return x.get()->storage->pending(); }

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(a.raw(), b.raw(), static_cast<std::size_t>(a.size()) * a.dtype().size()) == 0;
}

/// Checks that f gives the same bits at once and in a scope.
template <class F>
void check_same(const F& f) {
  const std::vector<Tensor> eager = f();
  std::vector<Tensor> fused;
  {
    const AnySize any;
    FusionScope scope;
    fused = f();
  }
  REQUIRE(eager.size() == fused.size());
  for (std::size_t i = 0; i < eager.size(); ++i) {
    CAPTURE(i);
    CHECK(!pending(fused[i]));
    CHECK(same_bits(eager[i], fused[i]));
  }
}

}  // namespace

TEST_CASE("ops wait in a scope until a value is read, and at the latest until its end") {
  const AnySize any;
  const Tensor x = normal({3, 5}, 1, "float32");
  Tensor y, z;
  {
    FusionScope scope;
    y = K::tanh(x * 2.f) + 1.f;
    CHECK(pending(y));
    CHECK(y.shape() == Shape{3, 5});
    CHECK(y.item(0, 0) == doctest::Approx(std::tanh(2 * x.item(0, 0)) + 1));
    CHECK(!pending(y));
    z = K::square(y);
    CHECK(pending(z));
    {
      FusionScope inner;
      z = z + y;
    }
    CHECK(pending(z));
  }
  CHECK(!pending(z));
  CHECK(!pending(K::exp(x)));
  FusionScope off(false);
  CHECK(!pending(K::exp(x)));
}

TEST_CASE("KTAPE_COMPILE=0 forbids compiled graphs") {
  setenv("KTAPE_COMPILE", "0", 1);
  CHECK(!ktape::compiles_graphs());
  setenv("KTAPE_COMPILE", "1", 1);
  CHECK(ktape::compiles_graphs());
  unsetenv("KTAPE_COMPILE");
  CHECK(ktape::compiles_graphs());
}

TEST_CASE("chains give the bits of single ops: dtypes, lengths, broadcasts, casts, conditions") {
  for (const ktape::DType dtype : {"float16", "float32", "float64", "int32", "uint8", "int64"})
    for (const std::int64_t n : {1, 7, 16, 63, 64, 65, 511, 512, 513, 4099, 70001}) {
      CAPTURE(dtype);
      CAPTURE(n);
      const Tensor x = K::cast(normal({n}, 1, "float32") * 5.f, dtype);
      const Tensor y = K::cast(normal({n}, 2, "float32") * 5.f, dtype);
      check_same([&] {
        const Tensor a = K::square(x) + y, b = K::maximum(a, x) - 3, c = K::where(K::greater(a, b), x, b);
        return std::vector{a * c,
                           c,
                           K::cast(c, "float32") * 0.5f,
                           K::cast(b, "int16"),
                           K::less(c, y),
                           K::less(c, y) & K::greater(x, y)};
      });
    }
}

TEST_CASE("operands of other shapes are broadcast in a chain") {
  for (const Shape& shape :
       {Shape{2, 3, 4}, Shape{40, 3, 100}, Shape{5, 1, 700}, Shape{3000, 2, 1}, Shape{1, 1, 1}})
    for (const int kind : {0, 1, 2, 3, 4, 5}) {
      CAPTURE(shape);
      CAPTURE(kind);
      const Shape shapes[] = {
          {}, {shape[2]}, {shape[1], 1}, {shape[0], 1, 1}, {1, shape[1], shape[2]}, {shape[0], 1, shape[2]}};
      for (const ktape::DType dtype : {"float32", "float16", "float64", "int16"}) {
        const Tensor x = K::cast(normal(shape, 3, "float32") * 9.f, dtype);
        const Tensor y = K::cast(normal(shapes[kind], 4, "float32") * 9.f, dtype);
        check_same([&] {
          const Tensor a = x * 2 + y, b = K::where(K::less(y, a), a, y);
          const Tensor row = y + y;  // a result of another size that is broadcast itself
          return std::vector{K::maximum(b * y, row), a - row};
        });
      }
    }
}

TEST_CASE("only results that somebody reads are written") {
  const AnySize any;
  const std::int64_t n = 1 << 18;
  const Tensor x = normal({n}, 5, "float32");
  const Tensor wanted = [&] {
    Tensor y = x;
    for (int i = 0; i < 12; ++i) y = K::tanh(y) * 1.5f;
    return y;
  }();
  const auto bytes = [] { return ktape::memory_stats().live_bytes; };
  Tensor y = x;
  const std::int64_t before = bytes();
  {
    FusionScope scope;
    for (int i = 0; i < 12; ++i) y = K::tanh(y) * 1.5f;
  }
  CHECK(bytes() - before < 2 * n * 4);
  CHECK(same_bits(y, wanted));
}

TEST_CASE("a result takes the memory of an operand that nobody sees any more") {
  const AnySize any;
  Tensor x = normal({100, 100}, 6, "float32");
  const Tensor copy = x * 1.f, wanted = K::exp(copy) + copy;
  const void* const memory = x.raw();
  {
    FusionScope scope;
    x = K::exp(x) + x;
  }
  CHECK(x.raw() == memory);
  CHECK(same_bits(x, wanted));
  for (int i = 0; i < 100; ++i) {
    FusionScope scope;
    x = x * 1.f;
  }
  CHECK(x.raw() == memory);
}

TEST_CASE("a variable that changes later does not change an op that waits") {
  const AnySize any;
  Variable w = K::variable(K::ones({1000}));
  FusionScope scope;
  const Tensor y = w * 3.f;
  K::update(w, K::zeros({1000}));
  const Tensor z = w + 1.f;
  K::update_add(w, K::ones({1000}) * 5.f);
  CHECK(values(y) == Values(1000, 3));
  CHECK(values(z) == Values(1000, 1));
  CHECK(values(w) == Values(1000, 5));
}

TEST_CASE("an update in place stays in place beside ops that wait") {
  const AnySize any;
  Variable w = K::variable(K::ones({1000}));
  const void* const memory = w.value().raw();
  FusionScope scope;
  const Tensor y = w * 3.f;
  K::update_add(w, K::ones({1000}));
  CHECK(w.value().raw() == memory);
  CHECK(values(y) == Values(1000, 3));
}

TEST_CASE("gradients of chains have the bits of single ops, of the first and second order") {
  check_same([] {
    const Tensor x = normal({20, 30}, 7, "float32"), row = normal({30}, 8, "float32");
    ktape::GradientTape outer;
    outer.watch(x), outer.watch(row);
    const Tensor y = K::tanh(x * row) * K::sigmoid(x) + K::exp(-K::square(x)) / (K::abs(row) + 1.f);
    const std::vector<Tensor> g = K::gradients(K::sum(y * y), {x, row});
    const std::vector<Tensor> h = K::gradients(K::sum(g[0] * x), {x, row});
    return std::vector{y, g[0], g[1], h[0], h[1]};
  });
}

TEST_CASE("an exception leaves ops that were made before it whole") {
  const AnySize any;
  const Tensor x = K::ones({100});
  Tensor y;
  CHECK_THROWS_WITH_AS(
      [&] {
        FusionScope scope;
        y = x + 2.f;
        K::dot(K::ones({2, 3}), K::ones({2, 3}) * 2.f);
      }(),
      Contains("[dot]"), ValueError);
  CHECK(!pending(y));
  CHECK(values(y) == Values(100, 3));
  CHECK(!pending(x + 1.f));
}

TEST_CASE("other threads read results that wait") {
  const AnySize any;
  const Tensor x = normal({5000}, 9, "float32"), wanted = K::exp(x) * 2.f;
  for (int round = 0; round < 50; ++round) {
    FusionScope scope;
    const Tensor y = K::exp(x) * 2.f;
    in_threads(4, [&](int) { CHECK(same_bits(y, wanted)); });
  }
}

TEST_CASE("threads have scopes of their own") {
  const AnySize any;
  const Tensor x = normal({40, 60}, 10, "float32"), wanted = K::tanh(K::exp(x) * 2.f) - x;
  in_threads(4, [&](int thread) {
    for (int round = 0; round < 50; ++round) {
      FusionScope scope(thread != 0);
      CHECK(same_bits(K::tanh(K::exp(x) * 2.f) - x, wanted));
    }
  });
}

TEST_CASE("the bits do not depend on the number of threads") {
  const Tensor x = normal({500, 300}, 11, "float32"), row = normal({300}, 12, "float32");
  const auto run = [&](int threads) {
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    Tensor y;
    {
      FusionScope scope;
      y = K::sigmoid(x * row + 0.5f) / (K::square(x) + 1.f);
    }
    omp_set_num_threads(before);
    return y;
  };
  const Tensor one = run(1);
  CHECK(same_bits(one, run(2)));
  CHECK(same_bits(one, run(3)));
  CHECK(same_bits(one, run(7)));
}

TEST_CASE("many ops wait, whatever their number") {
  check_same([] {
    Tensor x = normal({300}, 13, "float32");
    std::vector<Tensor> all;
    for (int i = 0; i < 300; ++i) {
      x = K::tanh(x * 1.01f) + 0.01f;
      if (i % 37 == 0) all.push_back(x);
    }
    all.push_back(x);
    return all;
  });
}
