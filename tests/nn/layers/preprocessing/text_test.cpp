#include "../../../close.hpp"
#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor;
using Words = std::vector<std::string>;

TEST_CASE("texts are lowered, stripped of punctuation, split at white space and looked up") {
  const nn::TextVectorization layer({.output_sequence_length = 4});
  layer.adapt({"foo bar", "bar baz", "baz bada boom"});
  CHECK(layer.get_vocabulary() == Words{"", "[UNK]", "baz", "bar", "foo", "boom", "bada"});
  CHECK(layer.vocabulary_size() == 7);
  const Tensor x = layer({{"foo qux bar"}, {"qux baz"}});
  CHECK(x.dtype() == "int64");
  CHECK(x.shape() == Shape{2, 4});
  CHECK(values(x) == Values{4, 1, 3, 0, 1, 2, 0, 0});
  CHECK(values(layer({"\tFoo,\n bar!  (b-a-z) it's", "a b c d e f"})) == Values{4, 3, 2, 1, 1, 1, 1, 1});
  CHECK(values(layer("bar")) == Values{3, 0, 0, 0});
}

TEST_CASE("rows are as long as the longest text without a given length") {
  const nn::TextVectorization layer({.vocabulary = {"earth", "wind", "and", "fire"}});
  CHECK(layer.get_vocabulary() == Words{"", "[UNK]", "earth", "wind", "and", "fire"});
  CHECK(values(layer({"earth wind and fire", "fire", ""})) == Values{2, 3, 4, 5, 5, 0, 0, 0, 0, 0, 0, 0});
  CHECK(layer("fire and").shape() == Shape{2});
}

TEST_CASE("texts are standardized and split by name, not at all, or by a function") {
  const auto tokens = [](nn::TextVectorizationOptions options, const char* text) {
    const nn::TextVectorization layer(options);
    layer.adapt({text});
    Words sorted = layer.get_vocabulary(false);
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  };
  CHECK(tokens({.standardize = None}, "A, b") == Words{"A,", "b"});
  CHECK(tokens({.standardize = "lower"}, "A, b") == Words{"a,", "b"});
  CHECK(tokens({.standardize = "strip_punctuation"}, "A!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ b") ==
        Words{"A", "b"});
  CHECK(tokens({.split = None}, "A b.") == Words{"a b"});
  // An umlaut, the euro sign, a clef, a broken byte: ASCII alone is lowered.
  CHECK(tokens({.split = "character"}, "B\xc3\x84\xe2\x82\xac\xf0\x9d\x84\x9e\xff") ==
        Words{"b", "\xc3\x84", "\xe2\x82\xac", "\xef\xbf\xbd", "\xf0\x9d\x84\x9e"});
  const auto commas = [](const std::string& text) {
    Words out;
    std::istringstream in(text);
    for (std::string token; std::getline(in, token, ',');) out.push_back(token);
    return out;
  };
  const auto doubled = [](const std::string& text) { return text + ',' + text + '2'; };
  CHECK(tokens({.standardize = doubled, .split = commas}, "x y") == Words{"x y", "x y2"});
}

TEST_CASE("without splitting, lists and rows are tokens") {
  const nn::TextVectorization layer({.split = None, .vocabulary = {"a b", "c"}});
  CHECK(layer({"A b", "c", "d"}).shape() == Shape{3});
  CHECK(values(layer({"A b", "c", "d"})) == Values{2, 3, 1});
  CHECK(values(layer({{"c", "a b"}, {"c", "c"}})) == Values{3, 2, 3, 3});
}

TEST_CASE("neighbours are joined to n-grams") {
  const auto vocabulary = [](nn::TextVectorizationOptions options) {
    const nn::TextVectorization layer(options);
    layer.adapt({"a b c"});
    return layer.get_vocabulary(false);
  };
  CHECK(vocabulary({.ngrams = 2}) == Words{"c", "b c", "b", "a b", "a"});
  CHECK(vocabulary({.ngrams = {{3}}}) == Words{"a b c"});
  CHECK(vocabulary({.ngrams = {{3, 1}}}) == Words{"c", "b", "a b c", "a"});
  const nn::TextVectorization layer({.ngrams = 2, .vocabulary = {"a", "a b", "b"}});
  CHECK(values(layer({"a b"})) == Values{2, 4, 3});  // those of one word come first
  CHECK(values(nn::TextVectorization(nn::Layer::from_value(layer.to_value()))({"a b"})) == Values{2, 4, 3});
}

TEST_CASE("texts become vectors without a place for padding") {
  const auto made = [](const char* mode) {
    return nn::TextVectorization({.output_mode = mode, .vocabulary = {"earth", "wind"}});
  };
  CHECK(made("count").get_vocabulary() == Words{"[UNK]", "earth", "wind"});
  CHECK(values(made("count")({"wind wind earth", "and fire"})) == Values{0, 1, 2, 2, 0, 0});
  CHECK(values(made("multi_hot")({"wind wind earth", ""})) == Values{0, 1, 1, 0, 0, 0});
  CHECK(made("multi_hot")("wind").shape() == Shape{3});
  CHECK(made("count")({"wind"}).dtype() == "float32");
  const nn::TextVectorization padded(
      {.max_tokens = 5, .output_mode = "multi_hot", .pad_to_max_tokens = true});
  padded.adapt({"a b"});
  CHECK(padded({"b", "c"}).shape() == Shape{2, 5});

  const nn::TextVectorization weighed({.output_mode = "tf_idf", .dtype = "float64"});
  weighed.adapt({"the cat", "the dog the dog", "the owl"});
  CHECK(weighed.get_vocabulary() == Words{"[UNK]", "the", "dog", "owl", "cat"});
  const double all = std::log(1 + 3. / 4), one = std::log(1 + 3. / 2);
  const Values got = values(weighed({"the dog dog fox"}));
  const Values want{(all + 3 * one) / 4, all, 2 * one, 0, 0};
  CHECK(close(got, want));
}

TEST_CASE("a vocabulary learned in batches equals one learned at once, and stays in the config") {
  const nn::TextVectorization whole({.max_tokens = 5}), batches({.max_tokens = 5});
  whole.adapt({"a b c", "a b d", "a e"});
  batches.reset_state();
  batches.update_state({"a b c", "a b d"});
  batches.update_state({"a e"});
  batches.finalize_state();
  CHECK(whole.get_vocabulary() == Words{"", "[UNK]", "a", "b", "e"});
  CHECK(batches.get_vocabulary() == whole.get_vocabulary());
  const nn::TextVectorization again(nn::Layer::from_value(whole.to_value()));
  CHECK(again.get_vocabulary() == whole.get_vocabulary());
}

TEST_CASE("numbers of texts go into models") {
  const nn::TextVectorization layer({.output_sequence_length = 3, .vocabulary = {"good", "bad"}});
  const nn::Sequential model({nn::Embedding(layer.vocabulary_size(), 2), nn::Flatten(), nn::Dense(1)});
  CHECK(model(layer({"good", "very bad"})).shape() == Shape{2, 1});
}

TEST_CASE("text vectorization is made from the configs that Keras writes") {
  const nn::TextVectorization layer(nn::Layer::from_value(nn::from_json(
      R"({"class_name": "TextVectorization", "config": {"name": "t", "trainable": true,
          "dtype": {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"}},
          "max_tokens": 10, "standardize": "lower", "split": "whitespace", "ngrams": [1, 2],
          "output_mode": "int", "output_sequence_length": 3, "pad_to_max_tokens": false, "sparse": false,
          "ragged": false, "vocabulary": ["a", "b"], "idf_weights": null, "encoding": "utf-8",
          "vocabulary_size": 4}})")));
  CHECK(values(layer({"A b"})) == Values{2, 3, 1});
}

TEST_CASE("text vectorization refuses bad arguments") {
  using Error = ktape::ValueError;
  using nn::TextVectorization;
  CHECK_THROWS_WITH_AS(TextVectorization({.standardize = "lowr"}), doctest::Contains("did you mean 'lower'"),
                       Error);
  CHECK_THROWS_WITH_AS(
      TextVectorization({.split = "words"}),
      doctest::Contains("split must be 'whitespace' or 'character': received split=\"words\""), Error);
  for (const std::int64_t words : {std::int64_t{1} << 17, std::int64_t{1} << 40, INT64_MAX}) {
    CHECK_THROWS_WITH_AS(TextVectorization({.ngrams = words}),
                         doctest::Contains("ngrams must be at most 65536: received"), ktape::ValueError);
    CHECK_THROWS_WITH_AS(TextVectorization({.ngrams = {{1, words}}}),
                         doctest::Contains("ngrams must be at most 65536"), ktape::ValueError);
  }
  CHECK_THROWS_WITH_AS(TextVectorization({.ngrams = 0}), doctest::Contains("ngrams must be at least 1"),
                       Error);
  CHECK_THROWS_WITH_AS(TextVectorization({.output_mode = "one_hot"}),
                       doctest::Contains("output_mode must be 'int'"), Error);
  CHECK_THROWS_WITH_AS(TextVectorization({.output_mode = "count", .output_sequence_length = 3}),
                       doctest::Contains("output_sequence_length is for output_mode=\"int\""), Error);
  CHECK_THROWS_WITH_AS(TextVectorization({.ragged = true}),
                       doctest::Contains("outputs are dense: received ragged=true"), Error);
  const TextVectorization layer({.vocabulary = {"a"}, .name = "t"});
  CHECK_THROWS_WITH_AS(layer({{"a", "b"}}),
                       doctest::Contains("[t] texts must be a list, or rows of one: received a row of 2"),
                       Error);
  CHECK_THROWS_WITH_AS(layer.adapt({"a"}), doctest::Contains("[t] adapt is for a layer without a vocabulary"),
                       Error);
  CHECK_THROWS_WITH_AS(TextVectorization{nn::Layer(nn::Dense(1))},
                       doctest::Contains("the layer must be a TextVectorization"), Error);
}
