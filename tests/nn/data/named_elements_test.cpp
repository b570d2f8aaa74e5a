#include <ktape/nn/data/dataset.hpp>
#include <ktape/ops/operators.hpp>

#include "../../ops/check.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;
using ktape::data::Dataset, ktape::data::Element;
using Names = std::vector<std::string>;

namespace {

const Tensor titles = counted({6, 2}, "float32"), bodies = counted({6, 3}, "float32"),
             priorities = counted({6, 1});

Dataset named() { return Dataset::from_tensor_slices({{"title", titles}, {"body", bodies}}); }

/// Returns the names of all elements, which must be equal.
Names names_in(const Dataset& dataset) {
  std::optional<Names> names;
  for (const Element& element : dataset) {
    if (names) CHECK(element.names() == *names);
    names = element.names();
  }
  REQUIRE(names);
  return *names;
}

}  // namespace

TEST_CASE("the rows of named tensors have their names") {
  const Dataset rows = named();
  CHECK(names_in(rows) == Names{"title", "body"});
  CHECK(values((*rows.begin())["body"]) == Values{0, 1, 2});
  CHECK(names_in(Dataset::from_tensors({{"title", titles}})) == Names{"title"});
}

TEST_CASE("transformations that select, order and join elements keep their names") {
  const Names both{"title", "body"};
  const auto all = [](const Element&) { return true; };
  const std::vector<std::pair<const char*, Dataset>> datasets = {
      {"batch", named().batch(4)},
      {"batches of a stream", named().filter(all).batch(4)},
      {"padded_batch", named().padded_batch(4)},
      {"unbatch", named().batch(4).unbatch()},
      {"window", named().window(2)},
      {"shuffle", named().shuffle(4, {.seed = 1})},
      {"batches of shuffled rows", named().shuffle(4, {.seed = 1}).batch(2)},
      {"repeat", named().repeat(2).batch(5)},
      {"take", named().take(3)},
      {"skip", named().skip(3)},
      {"shard", named().shard(2, 1)},
      {"cache", named().cache()},
      {"prefetch", named().prefetch(2)},
      {"unique", named().unique()},
      {"take_while", named().take_while(all)},
      {"concatenate", named().concatenate(named()).batch(5)},
      {"interleave", Dataset::range(2).interleave([](const Element&) { return named(); })},
  };
  for (const auto& [given_name, dataset] : datasets) {
    const auto& name = given_name;
    CAPTURE(name);
    CHECK(names_in(dataset) == both);
    CHECK(names_in(dataset.map([](const Element& e) { return e; })) == both);
  }
}

TEST_CASE("map gives the names that its function gives") {
  const auto doubled = [](Element e) {
    e["title"] = e["title"] * 2.f;
    return e;
  };
  for (const int threads : {1, 2}) {
    const Dataset dataset = named().map(doubled, {.num_parallel_calls = threads});
    CHECK(names_in(dataset) == Names{"title", "body"});
    CHECK(values((*dataset.begin())["title"]) == Values{0, 2});
  }
  const Dataset swapped = named().map([](const Element& e) {
    return Element{{"text", e["body"]}, {"head", e["title"]}};
  });
  CHECK(names_in(swapped.batch(2)) == Names{"text", "head"});
  CHECK(names_in(named().map([](const Element& e) { return Element{e["body"]}; })) == Names{""});
  CHECK(names_in(named().map([](const Element& e) { return e["body"]; })) == Names{""});
}

TEST_CASE("zip and several arguments make parts of an element") {
  const Dataset y = Dataset::from_tensor_slices({{"priority", priorities}});
  const Dataset slices =
      Dataset::from_tensor_slices({{"title", titles}, {"body", bodies}}, {{"priority", priorities}});
  for (const Dataset& dataset :
       {Dataset::zip({named(), y}), Dataset::zip({named(), y}).batch(4), slices.batch(2)}) {
    const Element element = *dataset.begin();
    CHECK(element.names() == Names{"title", "body", "priority"});
    CHECK(element.part(0).names() == Names{"title", "body"});
    CHECK(element.part(1).names() == Names{"priority"});
  }
  const Dataset weighed = Dataset::from_tensor_slices({titles, bodies}, priorities, priorities).batch(2);
  CHECK((*weighed.begin()).parts() == std::vector<std::size_t>{2, 1, 1});
  CHECK(names_in(Dataset::zip({named()})) == Names{"title", "body"});
}

TEST_CASE("elements with different names cannot be joined") {
  const Dataset other = Dataset::from_tensor_slices({{"body", bodies}, {"title", titles}});
  const auto read = [](const Dataset& dataset) {
    for (const Element& element : dataset) CHECK(element.named());
  };
  const char* text =
      "elements must have the same names in the same order, 'title' and 'body': received 'body' and "
      "'title'";
  const Dataset mixed = named().concatenate(other);
  CHECK_THROWS_WITH_AS(read(mixed.batch(7)), Contains(text), ValueError);
  CHECK_THROWS_WITH_AS(read(mixed.filter([](const Element&) { return true; }).batch(7)), Contains(text),
                       ValueError);
  CHECK_THROWS_WITH_AS(read(mixed.padded_batch(7)), Contains(text), ValueError);
}
