#include <ktape/nn/data/sequences.hpp>
#include <ktape/ops/settings/config.hpp>

#include <cmath>

#include "../../close.hpp"
#include "../../ops/check.hpp"

// Values of other implementations: tests/golden_nn/utils.json.

namespace K = ktape::backend;
namespace data = ktape::data;
using doctest::Contains;
using ktape::Shape, ktape::Tensor, ktape::ValueError, ktape::TypeError;

TEST_CASE("to_categorical: classes become vectors") {
  const Tensor x = data::to_categorical(ints({0, 2, 1}));
  CHECK(x.dtype() == K::floatx());
  CHECK(values(x) == Values{1, 0, 0, 0, 0, 1, 0, 1, 0});
  CHECK(data::to_categorical(doubles({1.0, 0.0}), 3).shape() == Shape{2, 3});
  CHECK(data::to_categorical(ints(2)).shape() == Shape{3});
  CHECK(data::to_categorical(counted({2, 1}, "int32"), 2).shape() == Shape{2, 2});
  CHECK_THROWS_WITH_AS(data::to_categorical(ints({0, 3}), 3),
                       "[to_categorical] classes must be in [0, 3): received 3", ValueError);
  CHECK_THROWS_WITH_AS(data::to_categorical(ints({0, -1})), Contains("received -1"), ValueError);
  CHECK_THROWS_WITH_AS(data::to_categorical(ints({0}), -1), Contains("num_classes must be at least 0"),
                       ValueError);
}

TEST_CASE("normalize: rows of length 1, by any order") {
  const Tensor x = doubles({{3., 4.}, {0., 0.}});
  CHECK(values(data::normalize(x)) == Values{0.6, 0.8, 0, 0});
  CHECK(values(data::normalize(x, -1, 1)) == Values{3 / 7., 4 / 7., 0, 0});
  CHECK(values(data::normalize(x, -1, HUGE_VAL)) == Values{0.75, 1, 0, 0});
  CHECK(values(data::normalize(x, 0)) == Values{1, 1, 0, 0});
  const double third = std::cbrt(27 + 64.);
  CHECK(close(values(data::normalize(x, -1, 3))[0], 3 / third, {.rtol = 1e-5}));
  CHECK(data::normalize(ints({3, 4})).dtype() == "float32");
  CHECK_THROWS_WITH_AS(data::normalize(x, 2), Contains("[normalize]"), ValueError);
  CHECK_THROWS_WITH_AS(data::normalize(x, -1, 0), Contains("order must be above 0"), ValueError);
}

TEST_CASE("pad_sequences: rows of one length") {
  const Tensor x = data::pad_sequences({{1, 2, 3}, {4}});
  CHECK(x.dtype() == "int32");
  CHECK(values(x) == Values{1, 2, 3, 0, 0, 4});
  CHECK(values(data::pad_sequences({{1, 2, 3}, {4}}, {.maxlen = 2, .padding = "post"})) ==
        Values{2, 3, 4, 0});
  const std::vector<std::vector<double>> reals{{0.5, 1.5}, {}};
  CHECK(values(data::pad_sequences(reals, {.dtype = "float32", .value = 0.25})) ==
        Values{0.5, 1.5, 0.25, 0.25});
  CHECK(data::pad_sequences(std::vector<std::vector<int>>()).shape() == Shape{0, 0});
  CHECK(data::pad_sequences({{1, 2}}, {.maxlen = 0}).shape() == Shape{1, 0});
  CHECK_THROWS_WITH_AS(data::pad_sequences({{1}}, {.padding = "left"}),
                       "[pad_sequences] padding must be 'pre' or 'post': received padding='left'",
                       ValueError);
  CHECK_THROWS_WITH_AS(data::pad_sequences({{1}}, {.truncating = ""}), Contains("truncating"), ValueError);
  CHECK_THROWS_WITH_AS(data::pad_sequences({{1}}, {.maxlen = -1}), Contains("maxlen"), ValueError);
  CHECK_THROWS_AS(data::pad_sequences({{1}}, {.value = 0.5}), TypeError);
}

TEST_CASE("timeseries_from_array: windows and their targets") {
  const Tensor x = counted({10, 2}), y = counted({10});
  const data::Dataset windows = data::timeseries_from_array(x, y, {.sequence_length = 3, .batch_size = 4});
  CHECK(windows.cardinality() == 2);
  const data::Element first = *windows.begin();
  CHECK(first[0].shape() == Shape{4, 3, 2});
  CHECK(first[0].item(3, 2, 1) == 11.f);
  CHECK(values(first[1]) == Values{0, 1, 2, 3});
  const data::Dataset single =
      data::timeseries_from_array(y, Tensor(), {.sequence_length = 10, .batch_size = {}});
  CHECK(values((*single.begin())[0]) == values(y));
  CHECK(single.cardinality() == 1);

  const data::Dataset shuffled =
      data::timeseries_from_array(y, y, {.sequence_length = 2, .batch_size = 9, .shuffle = true, .seed = 1});
  Values targets = values((*shuffled.begin())[1]);
  CHECK(targets != Values{0, 1, 2, 3, 4, 5, 6, 7, 8});
  std::sort(targets.begin(), targets.end());
  CHECK(targets == Values{0, 1, 2, 3, 4, 5, 6, 7, 8});

  const auto error = [&](const data::TimeseriesOptions& options, const char* text) {
    CHECK_THROWS_WITH_AS(data::timeseries_from_array(x, y, options), Contains(text), ValueError);
  };
  error({}, "sequence_length must be from 1 to 10: received sequence_length=0");
  error({.sequence_length = 11}, "sequence_length");
  error({.sequence_length = 5, .sampling_rate = 4}, "a window must fit");
  error({.sequence_length = 2, .batch_size = 0}, "batch_size");
  error({.sequence_length = 2, .start_index = 10}, "start_index");
  error({.sequence_length = 2, .start_index = 4, .end_index = 4}, "end_index");
  error({.sequence_length = 3, .start_index = 4, .end_index = 6}, "a window must fit");
}

TEST_CASE("TimeseriesGenerator: the steps before each target") {
  const Tensor x = counted({8});
  const data::Element batch = *data::TimeseriesGenerator(x, x, 3, {.stride = 2, .batch_size = 2}).begin();
  CHECK(values(batch[0]) == Values{0, 1, 2, 2, 3, 4});
  CHECK(values(batch[1]) == Values{3, 5});
  CHECK_THROWS_WITH_AS(data::TimeseriesGenerator(x, counted({7}), 3), Contains("received 8 and 7"),
                       ValueError);
  CHECK_THROWS_WITH_AS(data::TimeseriesGenerator(x, x, 8), Contains("a window must fit"), ValueError);
}

TEST_CASE("timeseries_from_array without targets gives windows alone") {
  const Tensor x = counted({10});
  const auto windows = data::timeseries_from_array(x, {.sequence_length = 4, .sequence_stride = 3});
  const auto named = data::timeseries_dataset_from_array(x, {.sequence_length = 4, .sequence_stride = 3});
  for (const auto& dataset : {windows, named}) {
    const data::Element batch = *dataset.begin();
    CHECK(batch.size() == 1);
    CHECK(values(batch[0]) == Values{0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9});
  }
}
