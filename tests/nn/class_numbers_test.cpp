// Class numbers that come as floats: a NaN (a missing field of a CSV file, say) or 0.5 is no class.
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include <functional>
#include <limits>

using namespace ktape;
namespace K = ktape::backend;

namespace {

struct Use {
  std::string error;
  std::function<void(const Tensor&)> run;
};

const double nan_number = std::numeric_limits<double>::quiet_NaN();

/// Calls each use with (1, number, 0), of shape (3,) and the dtype.
void check_refusal(const std::vector<Use>& uses, double number, const char* dtype,
                   const std::string& received) {
  const Tensor classes = K::constant({1., number, 0.}, {.dtype = dtype});
  for (const Use& use : uses) {
    CAPTURE(use.error);
    CAPTURE(number);
    CHECK_NOTHROW(use.run(K::constant({1., 1., 0.}, {.dtype = dtype})));
    CHECK_THROWS_WITH_AS(use.run(classes), (use.error + received).c_str(), ValueError);
  }
}

void check_all(const std::vector<Use>& uses) {
  check_refusal(uses, nan_number, "float32", "nan");
  check_refusal(uses, 0.5, "float64", "0.5");
  check_refusal(uses, -0.25, "float32", "-0.25");
  check_refusal(uses, std::numeric_limits<double>::infinity(), "float64", "inf");
}

/// Scores of three samples for two classes.
Tensor scores() { return K::constant({{0.2f, 0.8f}, {0.6f, 0.4f}, {0.9f, 0.1f}}); }

}  // namespace

TEST_CASE("targets of losses and metrics are whole") {
  const auto iou = nn::MeanIoU({.num_classes = 2});
  const Tensor right = K::constant({1., 1., 0.});
  check_all({
      {"[sparse_categorical_crossentropy] a target must be a class in [0, 2): received target=",
       [](const Tensor& y) { nn::losses::sparse_categorical_crossentropy(y, scores()); }},
      {"[sparse_categorical_crossentropy] a target must be a class in [0, 2): received target=",
       [](const Tensor& y) {
         nn::losses::sparse_categorical_crossentropy(y, scores(), {.from_logits = true});
       }},
      {"[sparse_categorical_crossentropy] a target must be a whole number: received target=",
       [](const Tensor& y) {
         nn::losses::sparse_categorical_crossentropy(y, scores(), {.ignore_class = 0});
       }},
      {"[circle] a target must be a whole number: received target=",
       [](const Tensor& y) { nn::losses::circle(y, scores()); }},
      {"[ctc] a target must be a whole number: received target=",
       [](const Tensor& y) {
         nn::losses::ctc(K::reshape(y, {1, 3}), K::zeros({1, 5, 3}));
       }},
      {"[sparse_categorical_accuracy] a target must be a whole number: received target=",
       [](const Tensor& y) { nn::SparseCategoricalAccuracy()(y, scores()); }},
      {"[sparse_categorical_accuracy] a target must be a whole number: received target=",
       [](const Tensor& y) { nn::Metric("accuracy")(y, scores()); }},
      {"[sparse_top_k_categorical_accuracy] a target must be a whole number: received target=",
       [](const Tensor& y) { nn::SparseTopKCategoricalAccuracy({.k = 1})(y, scores()); }},
      {"[MeanIoU] a target must be a whole number: received target=",
       [=](const Tensor& y) { iou(y, right); }},
      {"[MeanIoU] a prediction must be a whole number: received prediction=",
       [=](const Tensor& y) { iou(right, y); }},
      {"[BinaryIoU] a target must be a whole number: received target=",
       [=](const Tensor& y) { nn::BinaryIoU()(y, right); }},
  });
}

TEST_CASE("class numbers of layers, data and weights of classes are whole") {
  const nn::IntegerLookup lookup({.vocabulary = std::vector<std::int64_t>{0, 1}});
  const nn::StringLookup strings({.vocabulary = std::vector<std::string>{"a", "b"}});
  nn::Sequential model({nn::Input({2}), nn::Dense(2)});
  model.compile({.optimizer = "sgd", .loss = "sparse_categorical_crossentropy"});
  check_all({
      {"[to_categorical] a class must be a whole number: received class=",
       [](const Tensor& y) { data::to_categorical(y); }},
      {"[e] an index must be a whole number: received index=",
       [](const Tensor& y) { nn::Embedding(4, 2, {.name = "e"})(y); }},
      {"[c] a category must be a whole number: received category=",
       [](const Tensor& y) { nn::CategoryEncoding(4, {.name = "c"})(y); }},
      {"[integer_lookup] a number must be a whole number: received number=",
       [=](const Tensor& y) { lookup(y); }},
      {"[integer_lookup] a number must be a whole number: received number=",
       [](const Tensor& y) { nn::IntegerLookup({.name = "integer_lookup"}).adapt(y); }},
      {"[string_lookup] a place must be a whole number: received place=",
       [=](const Tensor& y) { strings.strings(y); }},
      {"[fit] a target must be a whole number: received target=",
       [=](const Tensor& y) mutable {
         model.fit(K::zeros({3, 2}), y, {.verbose = 0, .class_weight = {{0, 1.}, {1, 2.}}});
       }},
  });
}

TEST_CASE("class numbers of recorded calls are checked when values come") {
  nn::Sequential model({nn::Input({3}), nn::Embedding(4, 2, {.name = "e"})});
  CHECK(model(K::constant({{1., 2., 3.}})).shape() == Shape{1, 3, 2});
  CHECK_THROWS_WITH_AS(model(K::constant({{1., nan_number, 3.}})),
                       doctest::Contains("[e] an index must be a whole number: received index=nan"),
                       ValueError);
  const Tensor y = K::placeholder({None});
  const auto accuracy = K::function({y}, {nn::metrics::sparse_categorical_accuracy(y, scores())});
  CHECK_THROWS_WITH_AS(accuracy({K::constant({1., 0., 1.5})}),
                       doctest::Contains("a target must be a whole number: received target=1.5"), ValueError);
}

TEST_CASE("lengths and labels of K's CTC are whole") {
  const Tensor y_pred = K::softmax(K::zeros({1, 5, 3})), length = K::constant({{3.}}),
               steps = K::constant({{5.}}), labels = K::constant({{0., 1., 0.}});
  CHECK_NOTHROW(K::ctc_batch_cost(labels, y_pred, steps, length));
  CHECK_THROWS_WITH_AS(K::ctc_batch_cost(K::constant({{0., nan_number, 0.}}), y_pred, steps, length),
                       "[ctc_batch_cost] a label must be a whole number: received label=nan", ValueError);
  CHECK_THROWS_WITH_AS(K::ctc_batch_cost(labels, y_pred, K::constant({{nan_number}}), length),
                       "[ctc_batch_cost] an input_length must be a whole number: received input_length=nan",
                       ValueError);
}
