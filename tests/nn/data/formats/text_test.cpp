#include <ktape/nn/data/formats/text.hpp>

#include "../../../ops/check.hpp"

namespace data = ktape::data;
using doctest::Contains;
using ktape::ValueError;

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
