#include <ktape/nn/core/registry.hpp>
#include <ktape/nn/layers/core/core.hpp>
#include <ktape/nn/optimizers/adam.hpp>
#include <ktape/nn/optimizers/adaptive.hpp>
#include <ktape/nn/optimizers/internal/row_gradients.hpp>
#include <ktape/nn/optimizers/sgd.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/updates.hpp>

#include "../../../close.hpp"
#include "../../../ops/check.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

Variable table(std::int64_t rows = 10, std::int64_t width = 3, DType dtype = "float64") {
  return Variable(normal({rows, width}, 7, dtype), "table");
}

/// Returns a loss whose gradient differs in every place that was looked up.
Tensor loss_of(const Tensor& looked_up) { return K::sum(K::square(looked_up) * counted(looked_up.shape())); }

/// Compares the gradient of each row with that of K::gradients.
void check_like_whole(const nn::RowGradient& gradient, const Tensor& loss, const Variable& w) {
  CHECK(values(gradient.whole(w.shape())) == values(gradients(loss, {w})[0]));
}

/// Returns an optimizer of this class.
nn::Optimizer made(const std::string& name, nn::Config config = {}) {
  return nn::Optimizer(nn::Value(nn::Config{{"class_name", name}, {"config", std::move(config)}}));
}

}  // namespace

TEST_CASE("the gradient of a table is the rows that were looked up, each once") {
  const Variable w = table();
  const Tensor loss = loss_of(K::gather(w, ints({{7, 2}, {7, 7}})));
  const nn::RowGradient gradient = nn::row_gradients(loss, {w})[0];
  CHECK(values<std::int64_t>(gradient.rows) == std::vector<std::int64_t>{7, 2});
  CHECK(gradient.value.shape() == Shape{2, 3});
  check_like_whole(gradient, loss, w);
}

TEST_CASE("two lookups of one table give one gradient") {
  const Variable w = table();
  const Tensor loss = loss_of(K::gather(w, ints({1, 2}))) + loss_of(w[ints({2, 5, 2})]);
  const nn::RowGradient gradient = nn::row_gradients(loss, {w})[0];
  CHECK(gradient.rows.size() == 3);
  check_like_whole(gradient, loss, w);
}

TEST_CASE("a table that is used otherwise, too, has a whole gradient: a softmax that is tied to it") {
  const Variable w = table();
  const Tensor looked_up = K::gather(w, ints({3, 3, 9}));
  const Tensor scores = K::dot(looked_up, K::transpose(w));
  const Tensor loss = loss_of(scores) + loss_of(looked_up);
  const nn::RowGradient gradient = nn::row_gradients(loss, {w})[0];
  CHECK(!gradient.of_rows());
  const Values expected = values(gradients(loss, {w})[0]), received = values(gradient.value);
  CHECK(close(received, expected, {.rtol = 1e-5}));
}

TEST_CASE("as many lookups as rows, lookups of computed tensors, and of elements, give whole gradients") {
  const Variable w = table(4);
  for (const Tensor& looked_up : {K::gather(w, ints({0, 1, 1, 0})), K::gather(w * 2, ints({1})),
                                  K::gather_nd(w, ints({{1, 2}})), K::top_k(w, 2).values}) {
    const Tensor loss = loss_of(looked_up);
    const nn::RowGradient gradient = nn::row_gradients(loss, {w})[0];
    CHECK(!gradient.of_rows());
    check_like_whole(gradient, loss, w);
  }
}

TEST_CASE("an empty batch looks up no row; a variable that was not used has no gradient") {
  const Variable w = table(), other = table();
  const std::vector<nn::RowGradient> found =
      nn::row_gradients(loss_of(K::gather(w, Tensor::empty({0, 2}, DType::Int32))), {w, other});
  CHECK(found[0].rows.size() == 0);
  CHECK(values(found[0].whole(w.shape())) == Values(30, 0.0));
  CHECK(!found[1].value.defined());

  const Values before = values(w);
  nn::SGD(0.1).minimize(loss_of(K::gather(w, Tensor::empty({0}, DType::Int32))), {w});
  CHECK(values(w) == before);
}

TEST_CASE("gradients that are differentiated again are whole, and right") {
  const Variable w = table(5, 2);
  const auto cubes = [&] { return K::sum(K::pow(K::gather(w, ints({4, 1, 4})), 3)); };
  const Tensor slope = gradients(cubes(), {w})[0];
  const Tensor loss = K::sum(K::square(slope));
  // Twice looked up, row 4 has the slope 6 x^2, whose square has the slope 144 x^3; row 1 has 36 x^3.
  const Values x = values(w), found = values(nn::row_gradients(loss, {w})[0].whole(w.shape()));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double factor = i / 2 == 4 ? 144 : i / 2 == 1 ? 36 : 0;
    CHECK(close(found[i], factor * x[i] * x[i] * x[i], {.rtol = 1e-5}));
  }
}

TEST_CASE("every optimizer updates equally with rows and with the whole gradient, in every floating dtype") {
  for (const std::string& name : nn::registered_names("optimizer"))
    for (const char* dtype : {"float16", "float32", "float64"})
      for (const nn::Config& config :
           {nn::Config{}, nn::Config{{"clipnorm", 0.5}}, nn::Config{{"clipvalue", 0.5}},
            nn::Config{{"weight_decay", 0.1}}, nn::Config{{"gradient_accumulation_steps", 2}}}) {
        CAPTURE(name);
        CAPTURE(dtype);
        CAPTURE(nn::to_json(config));
        if (name == "LossScaleOptimizer") continue;  // `apply` takes gradients of a scaled loss
        if (name == "Adafactor" && dtype == std::string("float16")) continue;  // its epsilon is 0 there
        const nn::Optimizer by_rows = made(name, config), whole = made(name, config);
        Variable a = table(20, 5, dtype), b = table(20, 5, dtype);
        for (int step = 0; step < 4; ++step) {
          const Tensor ids = ints({(7 * step) % 20, 3, (5 * step) % 20});
          by_rows.minimize(K::sum(K::square(K::gather(a, ids))), {a});
          whole.apply(gradients(K::sum(K::square(K::gather(b, ids))), {b}), {b});
        }
        const Values x = values(K::cast(a, "float64")), y = values(K::cast(b, "float64"));
        for (std::size_t i = 0; i < x.size(); ++i) CHECK(close(x[i], y[i], {.rtol = 1e-5}));
      }
}

TEST_CASE("SGD and Adagrad touch only the rows, of any width, and keep values that were taken before") {
  for (const std::int64_t width : {1, 3, 16, 300}) {
    Variable w = table(9, width);
    const Tensor before = w.value();
    for (const nn::Optimizer& optimizer : {nn::Optimizer(nn::Adagrad(0.1)), nn::Optimizer(nn::SGD(0.1))})
      optimizer.minimize(K::sum(K::gather(w, ints({8, 0, 8}))), {w});
    CHECK(values(before) == values(table(9, width)));
    const Values x = values(w), y = values(before);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i) / width;
      CHECK((x[i] != y[i]) == (row == 0 || row == 8));
    }
  }
}
