#include <ktape/ktape.hpp>
#include <ktape/nn/callbacks/report/internal/prediction_report.hpp>

#include "../../../../ops/check.hpp"
#include "../pages.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::Tensor;

TEST_CASE("classes are counted, and the guesses kept: the first, and the most confident mistakes") {
  nn::PredictionReport report("animal", false, 1);
  const Tensor inputs = K::constant({{1.f}, {2.f}, {3.f}});
  report.add(inputs, ints({0, 1, 1}), K::constant({{0.9f, 0.1f}, {0.6f, 0.4f}, {0.75f, 0.25f}}));
  report.add(inputs, ints({1, 1, 0}), K::constant({{0.f, 1.f}, {0.f, 1.f}, {1.f, 0.f}}));
  CHECK(report.output() == "animal");
  CHECK(report.classifies());
  CHECK(report.samples() == 6);
  CHECK(report.right() == 4);
  CHECK(report.classes() == 2);
  CHECK(report.counts().at({1, 0}) == 2);
  CHECK(report.counts().count({0, 1}) == 0);
  REQUIRE(report.guesses().size() == 1);
  CHECK(report.guesses()[0].input.item<float>() == 1);
  REQUIRE(report.mistakes().size() == 1);
  CHECK(report.mistakes()[0].input.item<float>() == 3);
  CHECK(report.mistakes()[0].confidence == 0.75);
}

TEST_CASE("targets that are no classes are numbers, or nothing") {
  const Tensor inputs = K::ones({2, 1});
  nn::PredictionReport numbers("", false, 1);
  numbers.add(inputs, K::constant({0.5f, 2.f}), K::constant({{1.f}, {3.f}}));
  CHECK(numbers.regresses());
  CHECK_FALSE(numbers.classifies());
  CHECK(numbers.truths() == Values{0.5, 2});
  CHECK(numbers.predictions() == Values{1, 3});
  nn::PredictionReport neither("", false, 1);
  neither.add(inputs, K::constant({{0.5f, 0.5f}, {1.f, 0.f}}), K::ones({2, 2}));
  CHECK_FALSE((neither.regresses() || neither.classifies()));
}

TEST_CASE("classes are those of one-hot targets, of logits, and of one score, too") {
  const Tensor scores = K::constant({{2.f, 0.f, 0.f}, {0.f, 0.f, 3.f}});
  const std::string logits = report_of(
      same(), {.optimizer = nn::SGD(0.0), .loss = nn::CategoricalCrossentropy({.from_logits = true})}, scores,
      K::one_hot(ints({0, 1}), 3));
  CHECK(contains(logits, ">0</span> 78.7\u00a0%<"));          // e^2 / (e^2 + 2)
  CHECK(contains(logits, ">2</span> 90.9\u00a0%<br>is 1<"));  // e^3 / (e^3 + 2)
  nn::Sequential binary({nn::Rescaling(1.0)});
  const std::string page =
      report_of(binary, {.loss = "binary_crossentropy"}, K::constant({{0.9f}, {0.2f}, {0.6f}}),
                K::constant({{1.f}, {0.f}, {0.f}}));
  CHECK(contains(page, "2 of 3"));
  CHECK(contains(page, ">1</span> 60.0\u00a0%<br>is 0<"));
}

TEST_CASE("numbers are shown against their targets") {
  nn::Sequential model({nn::Rescaling(2.0)});
  const std::string page =
      report_of(model, {.loss = "mse"}, K::constant({{1.f}, {2.f}}), K::constant({{2.5f}, {3.5f}}));
  CHECK(contains(page, "Predictions against targets"));
  CHECK(contains(page, ">2.5, 2<"));
  CHECK_FALSE(contains(page, "Confusion"));
}

TEST_CASE("the report shows predictions of each output") {
  const Tensor in = nn::Input({3});
  const nn::Model model(
      in, {nn::Dense(1, {.name = "size"})(in), nn::Dense(3, {.activation = "softmax", .name = "kind"})(in)});
  model.compile({.optimizer = "sgd", .loss = {"mse", "sparse_categorical_crossentropy"}});
  const Files files;
  const Tensor x = K::random_uniform({20, 3});
  model.fit(x, {K::sum(x, 1, true), ints(std::vector<int>(20, 1))},
            {.verbose = 0, .callbacks = {nn::Report(files.folder() + "/two.html")}, .validation_split = 0.5});
  const std::string page = page_in(files.folder() + "/two.html");
  CHECK(contains(page, "<h2>Predictions: size</h2>"));
  CHECK(contains(page, "<h2>Predictions: kind</h2>"));
  CHECK(contains(page, "size: mean_squared_error") == false);
}

TEST_CASE("validation by a dataset, of some steps, in some of the epochs") {
  const Files files;
  const std::string path = files.folder() + "/report.html";
  const auto endless =
      data::Dataset::from_tensor_slices({K::random_uniform({10, 3}), ints(std::vector<int>(10, 1))})
          .batch(5)
          .repeat();
  const nn::Sequential model = same();
  model.compile(still());
  model.fit(endless, {.epochs = 3,
                      .verbose = 0,
                      .callbacks = {nn::Report(path)},
                      .validation_data = endless,
                      .steps_per_epoch = 2,
                      .validation_steps = 3,
                      .validation_freq = 2});
  const std::string page = page_in(path);
  CHECK(contains(page, "of 15"));
  CHECK(contains(page, ">validation: 2, "));
  CHECK_FALSE(contains(page, ">validation: 3, "));
}
