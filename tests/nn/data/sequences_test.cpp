#include <ktape/nn/data/formats/text.hpp>
#include <ktape/nn/data/sequences.hpp>
#include <ktape/nn/data/split.hpp>
#include <ktape/ops/config.hpp>

#include <algorithm>
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

TEST_CASE("train_test_split deals out rows") {
  const Tensor x = counted({10, 2}), y = counted({10});
  const auto split = data::train_test_split({x, y}, {.test_size = 0.25, .seed = 1});
  CHECK(split.train[0].shape() == Shape{7, 2});
  CHECK(split.test[1].shape() == Shape{3});
  Values all = values(split.train[1]);
  for (double i : values(split.test[1])) all.push_back(i);
  CHECK(all != values(y));
  std::sort(all.begin(), all.end());
  CHECK(all == values(y));
  CHECK(split.train[0].item<double>(4, 0) == 2 * split.train[1].item<double>(4));
  CHECK(values(data::train_test_split({x, y}, {.test_size = 0.25, .seed = 1}).test[1]) ==
        values(split.test[1]));
  CHECK(values(data::train_test_split(y, {.test_size = 2, .shuffle = false}).test[0]) == Values{8, 9});
  for (double bad : {0.0, -0.1, 0.95, 1.5, 10.0, HUGE_VAL, double(NAN)})
    CHECK_THROWS_WITH_AS(data::train_test_split({x, y}, {.test_size = bad}), Contains("test_size"),
                         ValueError);
  CHECK_THROWS_WITH_AS(data::train_test_split({x, counted({9})}), Contains("as many rows"), ValueError);
}

TEST_CASE("text becomes words, and words become numbers") {
  CHECK(data::text_to_word_sequence("Hello, world!\n") == std::vector<std::string>{"hello", "world"});
  CHECK(data::text_to_word_sequence("A-b", {.filters = "", .lower = false}) ==
        std::vector<std::string>{"A-b"});
  CHECK(data::text_to_word_sequence("a::b", {.filters = "", .split = "::"}) ==
        std::vector<std::string>{"a", "b"});
  CHECK_THROWS_WITH_AS(data::text_to_word_sequence("a", {.split = ""}), Contains("split"), ValueError);

  data::Tokenizer words({.num_words = 4, .oov_token = "<unk>"});
  words.fit({"the cat sat", "the dog sat down"});
  CHECK(words.index_of("the") == 2);
  CHECK(words.index_of("sat") == 3);
  CHECK_FALSE(words.index_of("bird"));
  CHECK(words.texts_to_sequences({"The bird sat"})[0] == data::Tokenizer::Sequence{2, 1, 3});
  CHECK(words.sequences_to_texts({{2, 1, 3, 4, -1}})[0] == "the <unk> sat <unk> <unk>");
  words.fit({"down down down"});  // goes on counting
  CHECK(words.index_of("down") == 2);
  CHECK(words.document_count() == 3);

  data::Tokenizer letters({.char_level = true});
  letters.fit({"n\xc3\xa4he"});
  CHECK(letters.index_of("\xc3\xa4") == 2);  // one character, two bytes
  CHECK_THROWS_WITH_AS(data::Tokenizer({.num_words = 0}), Contains("num_words"), ValueError);
  CHECK_THROWS_WITH_AS(words.texts_to_matrix({"a"}, "some"), Contains("mode must be"), ValueError);
  CHECK_THROWS_WITH_AS(data::Tokenizer().texts_to_matrix({"a"}), Contains("call fit()"), ValueError);
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

TEST_CASE("a Tokenizer becomes JSON in Keras's layout, and is made again of it") {
  data::Tokenizer words({.num_words = 4, .oov_token = "<unk>"});
  words.fit({"the cat sat", "the dog sat on the cat"});
  const std::string json = words.to_json();
  CHECK(json.starts_with("{\"class_name\":\"Tokenizer\",\"config\":{\"num_words\":4,\"filters\":"));
  for (const char* part : {"\"document_count\":2", "\"word_index\":\"{\\\"<unk>\\\":1,\\\"the\\\":2",
                           "\"word_counts\":\"{\\\"the\\\":3,", "\"word_docs\":\"{\\\"the\\\":2,",
                           "\"index_docs\":\"{\\\"2\\\":2,", "\"index_word\":\"{\\\"1\\\":\\\"<unk>\\\""})
    CHECK_MESSAGE(json.find(part) != std::string::npos, std::string(part));

  data::Tokenizer again = data::tokenizer_from_json(json);
  CHECK(again.to_json() == json);
  const std::vector<std::string> texts{"the cat sat on a mat"};
  CHECK(again.texts_to_sequences(texts) == words.texts_to_sequences(texts));
  CHECK(values(again.texts_to_matrix(texts, "tfidf")) == values(words.texts_to_matrix(texts, "tfidf")));
  again.fit({"mat mat mat mat"});  // goes on counting
  CHECK(again.index_of("mat") == 2);
}

TEST_CASE("tokenizer_from_json reads what Keras writes, and refuses other texts") {
  const auto keras = [](const std::string& index) {
    return R"({"class_name": "Tokenizer", "config": {"num_words": null, "filters": ".,", "lower": true, "split": " ",
      "char_level": false, "oov_token": null, "document_count": 1, "word_counts": "{\"b\": 1, \"a\": 2}",
      "word_docs": "{\"a\": 1, \"b\": 1}", "index_docs": "{\"1\": 1, \"2\": 1}",
      "index_word": "{\"1\": \"a\", \"2\": \"b\"}", "word_index": ")" +
           index + "\"}}";
  };
  const data::Tokenizer words = data::tokenizer_from_json(keras(R"({\"a\": 1, \"b\": 2})"));
  CHECK(words.texts_to_sequences({"B, a. c"}) == std::vector<data::Tokenizer::Sequence>{{2, 1}});
  CHECK(words.word_counts() == data::Tokenizer::Counts{{"b", 1}, {"a", 2}});
  for (const char* index : {R"({\"a\": 1, \"b\": 1})", R"({\"a\": 1, \"b\": 3})", R"({\"a\": 0, \"b\": 1})"})
    CHECK_THROWS_WITH_AS(data::tokenizer_from_json(keras(index)),
                         Contains("[tokenizer_from_json] word_index must number the words from 1 to 2"),
                         ValueError);
  CHECK_THROWS_AS(data::tokenizer_from_json(keras(R"({\"a\": -1})")), ValueError);
  CHECK_THROWS_AS(data::tokenizer_from_json("{}"), ValueError);
  CHECK_THROWS_AS(data::tokenizer_from_json("[1]"), ktape::TypeError);
  CHECK_THROWS_AS(data::tokenizer_from_json("no"), ValueError);
}
