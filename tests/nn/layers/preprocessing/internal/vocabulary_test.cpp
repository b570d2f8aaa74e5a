#include <ktape/nn/layers/preprocessing/internal/vocabulary.hpp>

#include <cmath>

#include "../../../../close.hpp"
#include "../../../../ops/check.hpp"
#include "../../../data/files.hpp"

using doctest::Contains;
using ktape::Tensor, ktape::TypeError, ktape::ValueError;
using namespace ktape::nn;
using Words = std::vector<std::string>;
using Numbers = std::vector<std::int64_t>;

namespace {

using Settings = VocabularySettings<std::string>;

Settings settings(const Settings& given = {}) {
  Settings all = given;
  all.layer = "Lookup", all.oov_token = "?";
  return all;
}
Vocabulary<std::string> words(const Words& tokens, const Settings& given = {}) {
  return {settings(given), tokens, {}};
}
Vocabulary<std::string> no_words(const Settings& given = {}) {
  return {settings(given), Tokens<std::string>(Value()), {}};
}

/// The hash FNV-1a, whose value for "a" is published.
std::uint64_t fnv1a(const std::string& text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

}  // namespace

TEST_CASE("places: the mask token, tokens for unknown ones, then the tokens") {
  const auto all = words({"a", "b"}, {.num_oov_indices = 2, .mask_token = "-"});
  CHECK(all.list(true) == Words{"-", "?", "?", "a", "b"});
  CHECK(all.list(false) == Words{"a", "b"});
  CHECK(all.size() == 5);
  CHECK(all.place("-", "x") == 0);
  CHECK(all.place("a", "x") == 3);
  CHECK(all.place("b", "x") == 4);
  CHECK(all.token(0) == "-");
  CHECK(all.token(4) == "b");
  for (const std::int64_t place : {1, 2, 5, -1, 1 << 30}) CHECK(all.token(place) == "?");
}

TEST_CASE("an unknown string is placed by its hash, an unknown number by its remainder") {
  CHECK(fnv1a("a") == 0xaf63dc4c8601ec8cu);
  const auto all = words({"known"}, {.num_oov_indices = 5, .mask_token = ""});
  for (const char* token : {"a", "b", "\xc3\xa9", "a long token"})
    CHECK(all.place(token, "x") == 1 + static_cast<std::int64_t>(fnv1a(token) % 5));
  const Vocabulary<std::int64_t> numbers({.layer = "Lookup", .num_oov_indices = 3, .oov_token = -1},
                                         Numbers{42}, {});
  CHECK(numbers.place(7, "x") == 1);
  CHECK(numbers.place(-1, "x") == 2);
  CHECK(numbers.place(INT64_MIN, "x") == 1);  // -2^63 = -3 * ... - 2
  CHECK(numbers.place(42, "x") == 3);
}

TEST_CASE("without places for unknown tokens, an unknown token is an error") {
  const auto all = words({"a"}, {.num_oov_indices = 0});
  CHECK(all.place("a", "x") == 0);
  CHECK_THROWS_WITH_AS(all.place("b", "look"),
                       "[look] tokens must be in the vocabulary when num_oov_indices=0: received \"b\"",
                       ValueError);
}

TEST_CASE("in the vector modes the mask token has no place") {
  const auto all = words({"a"}, {.mask_token = "-", .mode = OutputMode::Count});
  CHECK(all.list(true) == Words{"?", "a"});
  CHECK(all.place("-", "x") == -1);
  CHECK(values(all.encoded(ints({{1, 0, 1, -1}}, "int64"), "float32", "x")) == Values{1, 2});
}

TEST_CASE("a vocabulary is learned by count, then in descending order, up to max_tokens") {
  auto all = no_words({.max_tokens = 4, .mask_token = "-"});
  CHECK(all.empty());
  all.count({"b", "a", "-"});
  all.count({"c", "b", "?"});
  all.learn();
  CHECK(all.list(true) == Words{"-", "?", "b", "c"});
  all.count({"z"});
  all.learn();
  CHECK(all.list(false) == Words{"z"});
  CHECK(all.place("b", "x") == 1);
  all.count({"y"});
  all.forget();
  all.learn();
  CHECK(all.list(false) == Words{"z"});
}

TEST_CASE("idf weights are log(1 + documents / (1 + documents with the token))") {
  auto all = no_words({.mode = OutputMode::TfIdf});
  all.count({"a", "a", "b"});
  all.count({"a"});
  all.count({});
  all.learn();
  const double a = std::log1p(3. / 3), b = std::log1p(3. / 2);
  REQUIRE(all.idf_weights());
  CHECK(close(*all.idf_weights(), Values{(a + b) / 2, a, b}, {.ulps = 2}));
  const Tensor row = all.encoded(ints({{1, 1, 2, 0}}, "int64"), "float64", "x");
  CHECK(close(row, doubles({{(a + b) / 2, 2 * a, b}}), {.ulps = 2}));
}

TEST_CASE("given weights are for the tokens, with or without the special tokens") {
  const Settings weighted{.mode = OutputMode::TfIdf};
  const Vocabulary<std::string> without(settings(weighted), Words{"a", "b"}, Values{1, 3});
  CHECK(*without.idf_weights() == Values{2, 1, 3});
  const Vocabulary<std::string> with(settings(weighted), Words{"?", "a", "b"}, Values{9, 1, 3});
  CHECK(*with.idf_weights() == Values{9, 1, 3});
  CHECK(with.list(false) == Words{"a", "b"});
}

TEST_CASE("vectors are as long as the vocabulary, or as max_tokens") {
  CHECK(words({"a", "b"}).depth("x") == 3);
  CHECK(no_words({.max_tokens = 7, .pad_to_max_tokens = true}).depth("x") == 7);
  CHECK_THROWS_WITH_AS(no_words().depth("look"),
                       "[look] a vocabulary must be given, or learned by adapt, before a call: received none",
                       ValueError);
}

TEST_CASE("settings that contradict each other are errors") {
  const auto check = [](const Settings& given, const char* text) {
    CHECK_THROWS_WITH_AS(no_words(given), text, ValueError);
  };
  check({.max_tokens = 1}, "[Lookup] max_tokens must be at least 2: received max_tokens=1");
  check({.pad_to_max_tokens = true},
        "[Lookup] max_tokens must be given with pad_to_max_tokens: received none");
  check({.num_oov_indices = -1},
        "[Lookup] num_oov_indices must be in [0, 2147483647]: received num_oov_indices=-1");
  check({.num_oov_indices = (1 << 20) + 1, .mode = OutputMode::TfIdf},
        "[Lookup] num_oov_indices must be in [0, 1048576] with output_mode=\"tf_idf\": received "
        "num_oov_indices=1048577");
  check({.max_tokens = 2, .mask_token = "-"},
        "[Lookup] max_tokens must leave a place for tokens: received max_tokens=2, num_oov_indices=1");
  check({.invert = true, .mode = OutputMode::OneHot},
        "[Lookup] output_mode must be \"int\" with invert: received output_mode=\"one_hot\"");
  CHECK_THROWS_WITH_AS(Vocabulary<std::string>(settings(), Tokens<std::string>(Value()), Values{1}),
                       "[Lookup] idf_weights are for a vocabulary: received no vocabulary", ValueError);
}

TEST_CASE("a bad vocabulary is an error and leaves the vocabulary unchanged") {
  auto all = words({"a", "b"}, {.max_tokens = 5, .mask_token = "-"});
  const auto check = [&](const Words& tokens, const char* text) {
    CHECK_THROWS_WITH_AS(all.set(tokens, {}), text, ValueError);
    CHECK(all.list(false) == Words{"a", "b"});
  };
  check({}, "[Lookup] a vocabulary must hold tokens: received none");
  check({"x", "x"}, "[Lookup] a vocabulary must hold each token once: received \"x\" twice");
  check({"x", "-"},
        "[Lookup] the special tokens must be left out, or be in front in this order: [\"-\",\"?\"]: received "
        "\"-\" among the tokens");
  check({"p", "q", "r", "s"},
        "[Lookup] a vocabulary must have at most max_tokens places: received 6, max_tokens=5");
  CHECK_THROWS_WITH_AS(all.set({"x"}, Values{1}), Contains("received output_mode=\"int\""), ValueError);
}

TEST_CASE("tokens are read from the lines of a file, also with line ends of Windows") {
  const Files files;
  const std::string path = files.write("tokens.txt", "a\r\nb c\n\nd");
  CHECK(Tokens<std::string>(path).list() == Words{"a", "b c", "", "d"});
  CHECK(Tokens<std::int64_t>(files.write("numbers.txt", "12\n-3\r\n")).list() == Numbers{12, -3});
  const std::string bad = files.write("bad.txt", "12\n3x\n");
  CHECK_THROWS_WITH_AS(
      Tokens<std::int64_t>{bad},
      ("[vocabulary] a line must hold a whole number: received \"3x\" in \"" + bad + '"').c_str(),
      ValueError);
  CHECK_THROWS_AS(Tokens<std::string>(files.folder() + "/missing"), ktape::IOError);
}

TEST_CASE("tokens of a config are a list or null") {
  CHECK_FALSE(Tokens<std::string>(Value()).given());
  CHECK(Tokens<std::int64_t>(Value(Value::List{1, 2})).list() == Numbers{1, 2});
  CHECK_THROWS_WITH_AS(Tokens<std::int64_t>(Value(Value::List{"a"})), Contains("[vocabulary] vocabulary"),
                       TypeError);
}

TEST_CASE("strings are a single string, a list, or rows of equal depth") {
  const StringArray one("a"), list{"a", "b"}, rows{{"a", "b"}, {"c"}};
  CHECK(one.rank() == 0);
  CHECK(list.rank() == 1);
  CHECK(rows.rank() == 2);
  CHECK(list.each_alone() == std::vector<Words>{{"a"}, {"b"}});
  CHECK(rows.each_alone() == std::vector<Words>{{"a", "b"}, {"c"}});
  CHECK_THROWS_WITH_AS(StringArray({StringArray("a"), StringArray{"b"}}),
                       "[StringArray] strings must be a list, or rows of one depth: received another nesting",
                       ValueError);
}
