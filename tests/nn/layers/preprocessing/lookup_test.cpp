#include "../../../close.hpp"
#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor;
using Words = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;

TEST_CASE("strings become their places in a vocabulary, unknown strings the first place") {
  const nn::StringLookup layer({.vocabulary = {"a", "b", "c", "d"}});
  CHECK(layer.get_vocabulary() == Words{"[UNK]", "a", "b", "c", "d"});
  CHECK(layer.get_vocabulary(false) == Words{"a", "b", "c", "d"});
  CHECK(layer.vocabulary_size() == 5);
  const Tensor places = layer({{"a", "c", "d"}, {"d", "z", "b"}});
  CHECK(places.shape() == Shape{2, 3});
  CHECK(places.dtype() == "int64");
  CHECK(values(places) == Values{1, 3, 4, 4, 0, 2});
  CHECK(values(layer(Words{"c"})) == Values{3});
  CHECK(layer("d").shape() == Shape{});
  CHECK(nn::StringLookup({.vocabulary = {"[UNK]", "a"}}).get_vocabulary() == Words{"[UNK]", "a"});
}

TEST_CASE("masks are 0, and several unknown tokens share several places") {
  const nn::StringLookup masked({.mask_token = "", .vocabulary = {"", "[UNK]", "a"}});
  CHECK(masked.get_vocabulary() == Words{"", "[UNK]", "a"});
  CHECK(values(masked({"", "x", "a"})) == Values{0, 1, 2});
  const nn::StringLookup shared({.num_oov_indices = 3, .vocabulary = {"a"}});
  CHECK(values(shared({"a"})) == Values{3});
  for (const double place : values(shared({"x", "y", "z", "w"}))) {
    CHECK(place >= 0);
    CHECK(place < 3);
  }
  const nn::IntegerLookup numbers({.num_oov_indices = 3, .mask_token = 0, .vocabulary = {42}});
  CHECK(values(numbers(ints({42, 0, 7, 8, -1}))) == Values{4, 0, 2, 3, 3});
}

TEST_CASE("places become tokens again") {
  const nn::StringLookup layer({.vocabulary = {"a", "b"}, .invert = true});
  CHECK(layer.strings(ints({{1, 2}, {0, 9}})) == Words{"a", "b", "[UNK]", "[UNK]"});
  const nn::IntegerLookup numbers({.mask_token = 0, .vocabulary = {12, 36}, .invert = true});
  CHECK(values(numbers(ints({{2, 3}, {0, 1}}))) == Values{12, 36, 0, -1});
  CHECK_THROWS_WITH_AS(layer({"a"}), doctest::Contains("places become tokens by strings()"),
                       ktape::TypeError);
}

TEST_CASE("a vocabulary is learned by descending count, then in descending order") {
  const nn::StringLookup layer({.max_tokens = 4});
  layer.adapt({{"b", "a", "c"}, {"d", "a", "[UNK]"}});
  CHECK(layer.get_vocabulary() == Words{"[UNK]", "a", "d", "c"});
  layer.reset_state();
  layer.update_state({"x", "y", "y"});
  layer.update_state({"x", "z"});
  layer.finalize_state();
  CHECK(layer.get_vocabulary() == Words{"[UNK]", "y", "x", "z"});
  const nn::StringLookup again{nn::Layer::from_value(layer.to_value())};
  CHECK(again.get_vocabulary() == layer.get_vocabulary());
  again.adapt({"q"});  // a vocabulary may be learned again
  CHECK(again.get_vocabulary() == Words{"[UNK]", "q"});

  const nn::IntegerLookup numbers;
  numbers.adapt(ints({{12, 1138, 42}, {42, 1000, 36}}));
  CHECK(numbers.get_vocabulary() == Integers{-1, 42, 1138, 1000, 36, 12});
}

TEST_CASE("tokens become vectors: marks, counts, and weights that grow with rarity") {
  const auto made = [](const char* mode) {
    return nn::StringLookup({.vocabulary = {"a", "b"}, .output_mode = mode});
  };
  CHECK(values(made("one_hot")({"b", "z"})) == Values{0, 0, 1, 1, 0, 0});
  CHECK(values(made("multi_hot")({{"a", "a", "b"}, {"z"}})) == Values{0, 1, 1, 1, 0, 0});
  CHECK(values(made("count")({{"a", "a", "b"}, {"z"}})) == Values{0, 2, 1, 1, 0, 0});
  CHECK(made("count")({"a", "b"}).shape() == Shape{3});
  CHECK(made("count")({"a"}).dtype() == "float32");
  const nn::StringLookup masked({.mask_token = "-", .vocabulary = {"a"}, .output_mode = "count"});
  CHECK(values(masked({{"a", "-"}, {"-", "-"}})) == Values{0, 1, 0, 0});
  const nn::StringLookup padded(
      {.max_tokens = 5, .vocabulary = {"a"}, .output_mode = "count", .pad_to_max_tokens = true});
  CHECK(values(padded({{"a"}})) == Values{0, 1, 0, 0, 0});

  const nn::StringLookup given(
      {.vocabulary = {"a", "b"}, .idf_weights = {{0.25, 0.75}}, .output_mode = "tf_idf", .dtype = "float64"});
  CHECK(values(given({{"b", "z", "b"}})) == Values{0.5, 0, 1.5});
  const nn::StringLookup learned({.output_mode = "tf_idf", .dtype = "float64"});
  learned.adapt({{"a", "b"}, {"a", "a"}, {"b", "c"}});
  CHECK(learned.get_vocabulary() == Words{"[UNK]", "a", "b", "c"});
  const double two = std::log(1 + 3. / 3), one = std::log(1 + 3. / 2), mean = (2 * two + one) / 3;
  const Values got = values(learned({{"a", "c", "c", "x"}}));
  const Values want{mean, two, 0, 2 * one};
  CHECK(close(got, want));
  const nn::StringLookup again{nn::Layer::from_value(nn::from_json(nn::to_json(learned.to_value())))};
  CHECK(values(again({{"a", "c", "c", "x"}})) == got);
}

TEST_CASE("numbers are looked up in models") {
  const nn::IntegerLookup layer({.vocabulary = {3, 5}, .output_mode = "multi_hot"});
  const Tensor in = nn::Input({2}, {.dtype = "int64"});
  const Tensor out = layer(in);
  CHECK(out.shape() == Shape{None, 3});
  CHECK(out.dtype() == "float32");
  const nn::Model model(in, nn::Dense(2)(out));
  CHECK(model(ints({{3, 7}, {5, 5}}, "int64")).shape() == Shape{2, 2});
  const Tensor places = nn::IntegerLookup({.vocabulary = {3, 5}})(in);
  CHECK(places.shape() == Shape{None, 2});
  CHECK(places.dtype() == "int64");
}

TEST_CASE("a vocabulary may come from a file, and from the configs that Keras writes") {
  const std::string path = "lookup_test_vocabulary.txt";
  std::ofstream(path) << "a\nb\n";
  CHECK(nn::StringLookup({.vocabulary = path}).get_vocabulary() == Words{"[UNK]", "a", "b"});
  CHECK_THROWS_WITH_AS(nn::IntegerLookup({.vocabulary = path}),
                       doctest::Contains("a line must hold a whole number: received \"a\""),
                       ktape::ValueError);
  std::remove(path.c_str());
  CHECK_THROWS_AS(nn::StringLookup({.vocabulary = path}), ktape::IOError);
  const nn::Layer layer = nn::Layer::from_value(nn::from_json(
      R"({"class_name": "StringLookup", "config": {"name": "s", "trainable": true, "dtype": "string",
          "invert": false, "max_tokens": null, "num_oov_indices": 1, "oov_token": "[UNK]", "mask_token": null,
          "output_mode": "int", "sparse": false, "pad_to_max_tokens": false, "idf_weights": null,
          "vocabulary": ["a", "b"], "vocabulary_size": 3, "encoding": "utf-8"}})"));
  CHECK(values(nn::StringLookup(layer)({"b"})) == Values{2});
  CHECK_THROWS_WITH_AS(nn::IntegerLookup{layer}, doctest::Contains("the layer must be a IntegerLookup"),
                       ktape::ValueError);
}

TEST_CASE("lookups refuse bad arguments") {
  using Error = ktape::ValueError;
  using nn::StringLookup;
  CHECK_THROWS_WITH_AS(StringLookup({.vocabulary = {"a", "a"}}),
                       doctest::Contains("each token once: received \"a\" twice"), Error);
  CHECK_THROWS_WITH_AS(StringLookup({.mask_token = "m", .vocabulary = {"a", "m"}}),
                       doctest::Contains("in this order: [\"m\",\"[UNK]\"]: received \"m\" among the tokens"),
                       Error);
  CHECK_THROWS_WITH_AS(StringLookup({.max_tokens = 2, .vocabulary = {"a", "b"}}),
                       doctest::Contains("at most max_tokens places: received 3, max_tokens=2"), Error);
  CHECK_THROWS_WITH_AS(StringLookup({.max_tokens = 1}), doctest::Contains("max_tokens must be at least 2"),
                       Error);
  CHECK_THROWS_WITH_AS(StringLookup({.pad_to_max_tokens = true}),
                       doctest::Contains("max_tokens must be given"), Error);
  CHECK_THROWS_WITH_AS(StringLookup({.invert = true, .output_mode = "count"}),
                       doctest::Contains("output_mode must be \"int\" with invert"), Error);
  CHECK_THROWS_WITH_AS(StringLookup({.vocabulary = {"a"}, .output_mode = "tf_idf"}),
                       doctest::Contains("idf_weights must be given"), Error);
  CHECK_THROWS_WITH_AS(StringLookup({.vocabulary = {"a"}, .idf_weights = {{1, 2}}, .output_mode = "tf_idf"}),
                       doctest::Contains("received 2 for 1"), Error);
  CHECK_THROWS_WITH_AS(
      StringLookup({.num_oov_indices = 0, .vocabulary = {"a"}, .name = "s"})({"z"}),
      doctest::Contains("[s] tokens must be in the vocabulary when num_oov_indices=0: received \"z\""),
      Error);
  const StringLookup layer({.vocabulary = {"a"}, .name = "s"});
  CHECK_THROWS_WITH_AS(layer({{"a"}, {"a", "b"}}), doctest::Contains("[s] the rows must have one length"),
                       Error);
  CHECK_THROWS_WITH_AS(layer.adapt({"a"}), doctest::Contains("[s] adapt is for a layer without a vocabulary"),
                       Error);
  CHECK_THROWS_WITH_AS(layer.set_vocabulary({}), doctest::Contains("must hold tokens: received none"), Error);
  CHECK_THROWS_WITH_AS(StringLookup({.output_mode = "count", .name = "s"})({"a"}),
                       doctest::Contains("[s] a vocabulary must be given, or learned by adapt"), Error);
  CHECK_THROWS_WITH_AS(nn::StringArray({nn::StringArray("a"), nn::StringArray{"b"}}),
                       doctest::Contains("strings must be a list, or rows of one depth"), Error);
}
