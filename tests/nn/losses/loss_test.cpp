#include <ktape/nn/core/registry.hpp>
#include <ktape/nn/layers/base/layer.hpp>
#include <ktape/nn/losses/hinge.hpp>
#include <ktape/nn/losses/probabilistic.hpp>
#include <ktape/nn/losses/regression.hpp>
#include <ktape/nn/losses/structured.hpp>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include "../../close.hpp"
#include "../../ops/check.hpp"

using namespace ktape;
namespace K = ktape::backend;
namespace L = ktape::nn::losses;

namespace {

Tensor errors_true() { return doubles({{0.2, 0.9, 0.1}, {0.4, 0.3, 0.8}}); }
Tensor errors_pred() { return doubles({{0.5, 0.7, 0.35}, {0.6, 0.1, 0.15}}); }

double number(const Tensor& x) { return x.item<double>(); }

}  // namespace

TEST_CASE("gradients of the first and second order of losses, to predictions and targets") {
  using Function = std::function<Tensor(const Tensor&, const Tensor&)>;
  const std::vector<std::pair<const char*, Function>> functions = {
      {"mean_squared_error", L::mean_squared_error},
      {"mean_absolute_error", L::mean_absolute_error},
      {"mean_absolute_percentage_error", L::mean_absolute_percentage_error},
      {"mean_squared_logarithmic_error", L::mean_squared_logarithmic_error},
      {"huber", [](const Tensor& t, const Tensor& p) { return L::huber(t, p, {.delta = 0.22}); }},
      {"log_cosh", L::log_cosh},
      {"cosine_similarity", [](const Tensor& t, const Tensor& p) { return L::cosine_similarity(t, p); }},
      {"squared_hinge", L::squared_hinge},
      {"categorical_hinge", L::categorical_hinge},
      {"binary_crossentropy", [](const Tensor& t, const Tensor& p) { return L::binary_crossentropy(t, p); }},
      {"binary_focal_crossentropy",
       [](const Tensor& t, const Tensor& p) { return L::binary_focal_crossentropy(t, p); }},
      {"categorical_focal_crossentropy",
       [](const Tensor& t, const Tensor& p) { return L::categorical_focal_crossentropy(t, p); }},
      {"kl_divergence", L::kl_divergence},
      {"poisson", L::poisson},
      {"dice", [](const Tensor& t, const Tensor& p) { return L::dice(t, p); }},
      {"tversky", [](const Tensor& t, const Tensor& p) { return L::tversky(t, p); }},
  };
  for (const auto& [name, f] : functions)
    check_gradients(name, [f = f](In in) { return f(in[0], in[1]); }, {errors_true(), errors_pred()});
  const Tensor classes = ints({2, 0});
  check_gradients("sparse_categorical_crossentropy",
                  [&](In in) { return L::sparse_categorical_crossentropy(classes, in[0]); }, {errors_pred()});
  check_gradients("circle",
                  [&](In in) {
                    return L::circle(ints({0, 0, 1, 1}), in[0], {.gamma = 4});
                  },
                  {normal({4, 3}) * 0.4});
  check_gradients("ctc", [&](In in) { return L::ctc(ints({{1, 2}, {2, 0}}), in[0]); }, {normal({2, 4, 3})});
}

TEST_CASE("losses of symbols have the values of eager losses") {
  const Tensor t = K::placeholder({None, 3}), p = K::placeholder({None, 3});
  const Tensor y_true = K::cast(errors_true(), "float32"), y_pred = K::cast(errors_pred(), "float32");
  for (const char* name :
       {"mse", "mae", "huber", "log_cosh", "binary_crossentropy", "categorical_crossentropy", "kl_divergence",
        "poisson", "cosine_similarity", "hinge", "dice"}) {
    CAPTURE(name);
    const nn::Loss loss = name;
    CHECK(values(K::function({t, p}, {loss(t, p)})({y_true, y_pred})[0]) == values(loss(y_true, y_pred)));
  }
  const Tensor classes = K::placeholder({.shape = {None}, .dtype = "int32"});
  const nn::Loss sparse = "sparse_categorical_crossentropy";
  CHECK(number(K::function({classes, p}, {sparse(classes, p)})({ints({1, 2}), y_pred})[0]) ==
        number(sparse(ints({1, 2}), y_pred)));
}

TEST_CASE("the known extents of losses follow from targets and outputs with different unknown extents") {
  const auto of = [](const Shape& shape, const char* dtype = "float32") {
    return K::placeholder({.shape = shape, .dtype = dtype});
  };
  const auto shape = [](const Tensor& loss) { return K::int_shape(loss); };
  using Function = std::function<Tensor(const Tensor&, const Tensor&)>;
  const Function binary = [](const Tensor&t, const Tensor&p) { return L::binary_crossentropy(t, p); },
                 huber = [](const Tensor&t, const Tensor&p) { return L::huber(t, p); };
  for (const Function& f : {Function(L::mean_squared_error), Function(L::mean_absolute_error), huber,
                            Function(L::log_cosh), binary}) {
    CHECK(shape(f(of({None, None}), of({None, 10}))) == Shape{None});
    CHECK(shape(f(of({5, None}), of({None, None}))) == Shape{5});
    CHECK(shape(f(of({None, 4, None}), of({None, None, 10}))) == Shape{None, 4});
    CHECK_THROWS_AS(f(of({None, 9}), of({None, 10})), ValueError);
  }
  const Function sparse = [](const Tensor&t,
                             const Tensor&p) { return L::sparse_categorical_crossentropy(t, p); },
                 generalized = [](const Tensor&t, const Tensor&p) {
                   return L::categorical_generalized_cross_entropy(t, p, 0.5);
                 };
  for (const Function& f : {sparse, generalized}) {
    CHECK(shape(f(of({None}, "int32"), of({None, 10}))) == Shape{None});
    CHECK(shape(f(of({5, None}, "int32"), of({None, 4, 10}))) == Shape{5, 4});
    CHECK_THROWS_WITH_AS(f(of({5}, "int32"), of({4, 10})),
                         doctest::Contains("y_true must have a class for each of the samples (4,)"),
                         ValueError);
  }
  const Tensor t = of({None}, "int32"), p = of({None, 3});
  const Tensor y_true = ints({1, 2}), y_pred = K::cast(errors_pred(), "float32");
  CHECK(values(K::function({t, p}, {generalized(t, p)})({y_true, y_pred})[0]) ==
        values(generalized(y_true, y_pred)));
}

TEST_CASE("losses are reduced, weighed and masked sample by sample") {
  const Tensor t = doubles({{0, 0}, {0, 0}}), p = doubles({{1, 1}, {2, 2}}), w = doubles({1, 3});
  CHECK(number(nn::MeanSquaredError()(t, p)) == 2.5);
  CHECK(number(nn::MeanSquaredError()(t, p, {.sample_weight = w})) == 6.5);
  CHECK(number(nn::MeanSquaredError({.reduction = "sum"})(t, p, {.sample_weight = w})) == 13);
  CHECK(number(nn::MeanSquaredError({.reduction = "mean_with_sample_weight"})(t, p, {.sample_weight = w})) ==
        3.25);
  CHECK(values(nn::MeanSquaredError({.reduction = None})(t, p)) == Values{1, 4});
  CHECK(number(nn::MeanSquaredError({.reduction = "mean_with_sample_weight"})(
            t, p, {.sample_weight = doubles({0, 0})})) == 0);
  CHECK(close(number(nn::MeanSquaredError()(t, p, {.mask = K::constant({false, true})})), 4, {.rtol = 1e-5}));
  CHECK(number(nn::MeanSquaredError()(t, p, {.mask = K::constant({false, false})})) == 0);
  CHECK(close(number(nn::MeanSquaredError()(t, nn::with_mask(p, K::constant({true, false})))), 1,
              {.rtol = 1e-5}));
  CHECK_THROWS_AS(nn::MeanSquaredError()(t, p, {.sample_weight = doubles({1, 2, 3})}), ValueError);
  CHECK_THROWS_WITH_AS(nn::MeanSquaredError({.reduction = "median"}),
                       "[Loss] the reduction must be 'sum_over_batch_size', 'sum', 'mean', "
                       "'mean_with_sample_weight' or 'none': received reduction='median'",
                       ValueError);
}

TEST_CASE("a loss is a name, an alias, an object, or any callable") {
  const Tensor t = doubles({{0, 0}, {0, 0}}), p = doubles({{1, 1}, {2, 2}});
  for (const char* name : {"mse", "MSE", "mean_squared_error", "MeanSquaredError"})
    CHECK(number(nn::Loss(name)(t, p)) == 2.5);
  const nn::Loss one_value = [](const Tensor& t, const Tensor& p) { return K::sum(K::abs(t - p)); };
  const nn::Loss per_sample = [](const Tensor& t, const Tensor& p) { return K::sum(K::abs(t - p), -1); };
  CHECK(number(one_value(t, p)) == 6);
  CHECK(number(per_sample(t, p)) == 3);
  CHECK(number(nn::Loss(L::mean_absolute_error)(t, p)) == 1.5);
  CHECK(nn::Loss("kld").name() == "kl_divergence");
  CHECK(nn::Huber({.name = "smooth"}).name() == "smooth");
  CHECK_THROWS_WITH_AS(nn::Loss("mean_square_error"),
                       "[loss] the name must be one of nn::registered_names(\"loss\"): received "
                       "'mean_square_error'; did you mean "
                       "'MeanSquaredError'?",
                       ValueError);
  const nn::Loss none = [](const Tensor&, const Tensor&) { return Tensor(); };
  CHECK_THROWS_WITH_AS(none(t, p), "[function] a loss must return a tensor: received None", ValueError);
}

TEST_CASE("crossentropy is the one that fits targets and predictions") {
  const nn::Loss any = "crossentropy", ce = "ce";
  const Tensor classes = K::constant({1, 0}), two = doubles({{0.2, 0.8}, {0.5, 0.5}});
  const Tensor one_hot = doubles({{0, 1}, {1, 0}}), one = doubles({{0.8}, {0.5}});
  CHECK(number(any(classes, two)) == number(nn::Loss("sparse_categorical_crossentropy")(classes, two)));
  CHECK(number(ce(one_hot, two)) == number(nn::Loss("categorical_crossentropy")(one_hot, two)));
  CHECK(number(ce(doubles({{1}, {0}}), one)) ==
        number(nn::Loss("binary_crossentropy")(doubles({{1}, {0}}), one)));
}

TEST_CASE("every loss is made again from its config") {
  for (const std::string& name : nn::registered_names("loss")) {
    CAPTURE(name);
    const nn::Loss loss{name};
    const nn::Loss again{nn::from_json(nn::to_json(loss.to_value()))};
    CHECK(again.to_value() == loss.to_value());
  }
  CHECK(nn::Loss(nn::SparseCategoricalCrossentropy({.from_logits = true}).to_value()).get_config() ==
        nn::Config{{"from_logits", true},
                   {"ignore_class", None},
                   {"axis", -1},
                   {"reduction", "sum_over_batch_size"},
                   {"name", "sparse_categorical_crossentropy"}});
}

TEST_CASE("crossentropies of a softmax or sigmoid come from its logits") {
  const Tensor x = doubles({{200, -200}, {-200, 200}}), wrong = doubles({{0, 1}, {1, 0}});
  CHECK(number(nn::CategoricalCrossentropy()(wrong, K::softmax(x))) == 400);
  CHECK(number(nn::SparseCategoricalCrossentropy()(ints({1, 0}), K::softmax(x))) == 400);
  CHECK(number(nn::BinaryCrossentropy()(wrong, K::sigmoid(x))) == 200);
}

TEST_CASE("targets that do not fit are errors") {
  CHECK_THROWS_WITH_AS(
      L::sparse_categorical_crossentropy(ints({3, 0}), errors_pred()),
      "[sparse_categorical_crossentropy] a target must be a class in [0, 3): received target=3", ValueError);
  CHECK_THROWS_WITH_AS(L::binary_crossentropy(doubles({{0, 1}}), errors_pred()),
                       "[binary_crossentropy] y_true and y_pred must have one shape: received y_true=(1, 2), "
                       "y_pred=(2, 3)",
                       ValueError);
  CHECK_THROWS_WITH_AS(L::ctc(ints({{1}}), errors_pred()),
                       "[ctc] y_pred must have shape (samples, steps, classes): received y_pred=(2, 3)",
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::CategoricalGeneralizedCrossEntropy({.q = 1}),
                       "[CategoricalGeneralizedCrossEntropy] q must be in (0, 1): received q=1", ValueError);
}

TEST_CASE("ctc is finite for logits that are far apart") {
  const Tensor x = K::variable({{{0.f, 60.f, 0.f}, {60.f, 0.f, 0.f}}});
  const Tensor loss = L::ctc(ints({{2}}), x);
  CHECK(close(loss.item(), 60, {.rtol = 0.02}));
  CHECK(K::all(K::is_finite(gradients(loss, {x})[0])).item<bool>());
}
