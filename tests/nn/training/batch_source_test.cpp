#include <ktape/nn/layers/core/core.hpp>
#include <ktape/nn/layers/core/input.hpp>
#include <ktape/nn/layers/merging/merging.hpp>
#include <ktape/nn/models/sequential.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include "../../ops/check.hpp"
#include "../captured_stderr.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Shape, ktape::Tensor, ktape::ValueError;
using ktape::data::Dataset, ktape::data::Element;

namespace {

Tensor inputs() { return normal({50, 3}, 1, "float32"); }
Tensor targets() { return K::sum(inputs(), 1, true); }

nn::Sequential compiled() {
  nn::Sequential model({nn::Dense(1, {.kernel_initializer = "ones"})});
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mae"}});
  return model;
}

Dataset batches(std::int64_t size = 16) {
  return Dataset::from_tensor_slices({inputs(), targets()}).batch(size);
}

/// Returns a dataset of unknown length.
Dataset stream() {
  return batches().filter([](const Element&) { return true; });
}

/// Counts the calls of its functions.
struct CounterImpl : nn::CallbackImpl {
  int epochs = 0, batches = 0, test_batches = 0;
  std::optional<std::int64_t> steps;
  void on_train_begin(const nn::Logs&) override { steps = parameters().steps; }
  void on_epoch_end(int, const nn::Logs&) override { ++epochs; }
  void on_train_batch_end(std::int64_t, const nn::Logs&) override { ++batches; }
  void on_test_batch_end(std::int64_t, const nn::Logs&) override { ++test_batches; }
};
using Counter = nn::CallbackOf<CounterImpl>;

}  // namespace

TEST_CASE("a dataset of batches trains, evaluates and predicts as the arrays do") {
  const nn::Sequential of_arrays = compiled(), of_dataset = compiled();
  const nn::History want = of_arrays.fit(inputs(), targets(),
                                         {.batch_size = 16,
                                          .epochs = 3,
                                          .verbose = 0,
                                          .validation_data = {inputs(), targets()},
                                          .shuffle = false});
  const nn::History got =
      of_dataset.fit(batches().prefetch(2), {.epochs = 3, .verbose = 0, .validation_data = batches(32)});
  for (const char* name : {"loss", "mae", "val_loss"}) CHECK(got[name] == want[name]);
  CHECK(of_dataset.evaluate(batches(32), {.verbose = 0})["loss"] ==
        of_arrays.evaluate(inputs(), targets(), {.verbose = 0})["loss"]);
  CHECK(values(of_dataset.predict(batches(), {.verbose = 0})) ==
        values(of_arrays.predict(inputs(), {.verbose = 0})));
  CHECK(of_dataset.predict(Dataset::from_tensor_slices(inputs()).batch(20), {.verbose = 0, .steps = 2})
            .shape() == Shape{40, 1});
}

TEST_CASE("the length of a dataset is found by the first epoch, or known") {
  const Counter known, unknown;
  compiled().fit(batches(), {.epochs = 2, .verbose = 0, .callbacks = {known}});
  CHECK(known->steps == 4);
  CHECK(known->batches == 8);
  compiled().fit(stream(), {.epochs = 2, .verbose = 0, .callbacks = {unknown}, .validation_data = stream()});
  CHECK_FALSE(unknown->steps);
  CHECK(unknown->batches == 8);
  CHECK(unknown->test_batches == 8);
  CHECK(compiled().predict(stream(), {.verbose = 0}).shape() == Shape{50, 1});
}

TEST_CASE("epochs of steps continue through a dataset, finite or infinite") {
  // Two epochs of two steps use the four batches; the third epoch begins the data again.
  for (const auto& [dataset, steps] : {std::pair(batches().repeat(), 3), std::pair(batches(), 2)}) {
    const Counter counter;
    compiled().fit(dataset, {.epochs = 3, .verbose = 0, .callbacks = {counter}, .steps_per_epoch = steps});
    CHECK(counter->epochs == 3);
    CHECK(counter->batches == 3 * steps);
  }
  CHECK(compiled().evaluate(batches().repeat(), {.verbose = 0, .steps = 3}).contains("loss"));
  CHECK(compiled().predict(batches().repeat(), {.verbose = 0, .steps = 2}).shape() == Shape{32, 1});
}

TEST_CASE("epochs of steps read one order of the dataset from its begin to its end") {
  std::vector<double> seen;
  const auto note = [&seen](const Element& e) { return seen.push_back(e[0].item<double>(0, 0)), e; };
  const Dataset dataset = batches().map(note);
  compiled().fit(dataset, {.epochs = 2, .verbose = 0, .steps_per_epoch = 2});
  const std::vector<double> steps = std::exchange(seen, {});
  compiled().fit(dataset, {.epochs = 1, .verbose = 0});
  CHECK(steps == seen);
}

TEST_CASE("a dataset that ends within an epoch ends the training, with a warning") {
  for (const Dataset& dataset : {batches(), stream()}) {
    const Counter counter;
    const CapturedStderr warning;
    const nn::History history = compiled().fit(dataset, {.epochs = 5,
                                                         .verbose = 2,
                                                         .callbacks = {counter},
                                                         .validation_data = batches(),
                                                         .steps_per_epoch = 3});
    CHECK(counter->batches == 4);
    CHECK(history["val_loss"].size() == 2);  // the short epoch is whole otherwise
    CHECK(warning.text() ==
          "\nWarning: [fit] your input ran out of data: received steps_per_epoch=3, but only 1 batch; "
          "make sure that the dataset has enough batches for all epochs, maybe with repeat()\n");
  }
}

TEST_CASE("validation, evaluation and prediction warn of steps without data") {
  const nn::Sequential model = compiled();
  {
    const CapturedStderr warning;
    model.fit(inputs(), targets(), {.verbose = 2, .validation_data = batches(), .validation_steps = 6});
    CHECK(warning.text().find("[fit] your input ran out of data: received validation_steps=6, but only 4") !=
          std::string::npos);
  }
  {
    const CapturedStderr warning;
    model.evaluate(batches(), {.verbose = 2, .steps = 5});
    model.predict(batches(), {.verbose = 2, .steps = 7});
    CHECK(
        warning.text().find("[evaluate] your input ran out of data: received steps=5, but only 4 batches") !=
        std::string::npos);
    CHECK(warning.text().find("[predict] your input ran out of data: received steps=7, but only 4 batches") !=
          std::string::npos);
  }
  {
    const CapturedStderr warning;
    model.evaluate(batches(), {.verbose = 0, .steps = 5});
    model.evaluate(batches(), {.verbose = 2, .steps = 4});
    CHECK(warning.text().empty());  // silent runs are, and there is nothing to warn of
  }
}

TEST_CASE("each epoch reads the dataset again; a resumed training in the order of the epoch") {
  const auto shuffled = [] {
    return Dataset::from_tensor_slices({inputs(), targets()}).shuffle(50, {.seed = 1}).batch(16);
  };
  const nn::Sequential whole = compiled(), resumed = compiled();
  whole.fit(shuffled(), {.epochs = 4, .verbose = 0});
  resumed.fit(shuffled(), {.epochs = 2, .verbose = 0});
  resumed.fit(shuffled(), {.epochs = 4, .verbose = 0, .initial_epoch = 2});
  CHECK(values(whole.predict(inputs(), {.verbose = 0})) == values(resumed.predict(inputs(), {.verbose = 0})));
}

TEST_CASE("elements hold inputs, targets and weights") {
  const Tensor a = nn::Input({3}), b = nn::Input({3});
  const nn::Model two({a, b}, nn::Dense(1, {.kernel_initializer = "ones"})(nn::Add()({a, b})));
  two.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor weights = K::concatenate({K::zeros({25}), K::ones({25})}, 0);
  const Dataset weighted = Dataset::from_tensor_slices({inputs(), inputs(), targets(), weights}).batch(50);
  CHECK(two.evaluate(weighted, {.verbose = 0})["loss"] ==
        two.evaluate({inputs(), inputs()}, targets(),
                     {.batch_size = 50, .verbose = 0, .sample_weight = weights})["loss"]);
  CHECK(two.predict(weighted, {.verbose = 0}).shape() == Shape{50, 1});
  CHECK_THROWS_WITH_AS(two.predict(Dataset::from_tensors(inputs()), {.verbose = 0}),
                       Contains("each of the 2 inputs: received 1"), ValueError);
  CHECK_THROWS_WITH_AS(
      two.evaluate(Dataset::from_tensors({inputs(), inputs(), targets(), weights, weights}), {.verbose = 0}),
      Contains("received 5 tensors"), ValueError);

  const Tensor classes = ints({0, 1, 1});
  const nn::Sequential model = compiled();
  const Tensor three = K::slice(inputs(), {0, 0}, {3, 3});
  CHECK(
      model.fit(Dataset::from_tensors({three, classes}), {.verbose = 0, .class_weight = {{1, 0.}}})["loss"] ==
      compiled().fit(three, classes, {.verbose = 0, .class_weight = {{1, 0.}}})["loss"]);
}

TEST_CASE("datasets that do not fit are errors") {
  const nn::Sequential model = compiled();
  CHECK_THROWS_WITH_AS(model.fit(batches().repeat(), {.verbose = 0}),
                       "[fit] steps_per_epoch must be given for a dataset without an end: received "
                       "steps_per_epoch=None",
                       ValueError);
  CHECK_THROWS_WITH_AS(model.fit(batches(), {.verbose = 0, .validation_data = batches().repeat()}),
                       Contains("validation_steps"), ValueError);
  CHECK_THROWS_WITH_AS(model.evaluate(batches().repeat(), {.verbose = 0}), Contains("steps must be given"),
                       ValueError);
  CHECK_THROWS_WITH_AS(model.fit(batches(), {.verbose = 0, .validation_split = 0.5}),
                       "[fit] validation_split must go with arrays: received validation_split=0.5 and a "
                       "dataset; see Dataset::take and Dataset::skip",
                       ValueError);
  CHECK_THROWS_WITH_AS(model.fit(batches(), {.batch_size = 32, .verbose = 0}),
                       "[fit] batch_size must go with arrays, for the elements of a dataset are batches: "
                       "received batch_size=32 and a dataset; see Dataset::batch",
                       ValueError);
  CHECK_THROWS_WITH_AS(model.evaluate(batches(), {.batch_size = 32, .verbose = 0}),
                       Contains("[evaluate] batch_size must go with arrays"), ValueError);
  CHECK_THROWS_WITH_AS(model.predict(batches(), {.batch_size = 32, .verbose = 0}),
                       Contains("[predict] batch_size must go with arrays"), ValueError);
  CHECK_THROWS_WITH_AS(model.fit(batches(), {.verbose = 0, .sample_weight = K::ones({50})}),
                       Contains("[fit] sample_weight must go with arrays"), ValueError);
  const auto takes_targets = [](const auto& m) {
    return requires { m.fit(batches(), targets()); }
    || requires { m.evaluate(batches(), targets()); };
  };
  CHECK_FALSE(takes_targets(model));  // the targets are in the dataset: a separate argument does not compile
  CHECK_THROWS_WITH_AS(model.fit(batches().take(0), {.verbose = 0}), Contains("must have elements"),
                       ValueError);
  CHECK_THROWS_WITH_AS(model.predict(stream().take(0), {.verbose = 0}), Contains("must have elements"),
                       ValueError);
  CHECK_THROWS_WITH_AS(model.fit(Dataset::from_tensors({inputs(), K::zeros({3})}), {.verbose = 0}),
                       Contains("the number of samples"), ValueError);
  const Dataset broken = batches().map([](const Element&) -> Element { throw std::runtime_error("broken"); });
  CHECK_THROWS_WITH_AS(model.fit(broken.prefetch(2), {.verbose = 0}), "broken", std::runtime_error);
}
