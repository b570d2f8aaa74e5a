#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include "../captured_stderr.hpp"

/// `trainable` counts when compile is called.

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor;

namespace {

struct Trained {
  nn::Dense first{2, {.name = "first"}}, second{1, {.name = "second"}};
  nn::Sequential model{{nn::Input({3}), first, second}};
  Tensor x = K::ones({4, 3}), y = K::zeros({4, 1});

  void compile() const { model.compile({.optimizer = nn::SGD(0.1), .loss = "mse"}); }
  void fit(int verbose = 0) const { model.fit(x, y, {.epochs = 1, .verbose = verbose}); }
  /// Returns whether a training changes the weights of the first layer.
  bool changes_first() const {
    const Tensor before = K::identity(first.get_weights()[0]) + 0.f;
    fit();
    return K::max(K::abs(first.get_weights()[0] - before)).item<double>() > 0;
  }
};

/// Returns the text that f writes to the error stream.
template <class F>
std::string errors_of(F f) {
  const CapturedStderr captured;
  f();
  return captured.text();
}

}  // namespace

TEST_CASE("a change of trainable counts after the next compile") {
  const Trained of;
  of.compile();
  of.first.set_trainable(false);
  CHECK(of.changes_first());
  of.compile();
  CHECK(!of.changes_first());
  of.first.set_trainable(true);
  CHECK(!of.changes_first());
  of.compile();
  CHECK(of.changes_first());
}

TEST_CASE("a model that is frozen as a whole") {
  const Trained of;
  of.model.set_trainable(false);
  of.compile();
  of.model.set_trainable(true);
  CHECK(!of.changes_first());
}

TEST_CASE("penalties of frozen weights are no losses") {
  const nn::Dense dense(2, {.kernel_regularizer = "l2"});
  const nn::Sequential model({nn::Input({3}), dense});
  CHECK(model.losses().size() == 1);
  dense.set_trainable(false);
  CHECK(model.losses().empty());
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor x = K::ones({2, 3});
  CHECK(model.evaluate(x, model(x), {.verbose = 0})["loss"] == 0);
}

TEST_CASE("a training warns of changes, once for each, and where there is nothing to train") {
  const Trained of;
  of.compile();
  of.first.set_trainable(false);
  const std::string text = errors_of([&] { of.fit(2); });
  CHECK(text.find("[fit] trainable has changed since compile was called, and the change counts when compile "
                  "is called "
                  "again: received 'first'") != std::string::npos);
  CHECK(errors_of([&] { of.fit(2); }).empty());
  of.compile();
  CHECK(errors_of([&] { of.fit(2); }).empty());
  of.model.set_trainable(false);
  of.compile();
  CHECK(errors_of([&] { of.fit(2); }).find("has no weights to train") != std::string::npos);
}
