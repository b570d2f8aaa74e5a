#include <ktape/nn/saving/hdf5/hdf5.hpp>

#include "../../../ops/check.hpp"
#include "trees.hpp"

using doctest::Contains;
using namespace hdf5_trees;

TEST_CASE("an entry is a group or a dataset, found by its path") {
  Entry root;
  CHECK(root.is_group());
  Entry& vars = root.group("/layers/dense/vars");
  vars.members.emplace_back("0", Entry(K::ones({2, 3})));
  CHECK(&root.group("layers//dense").group("vars") == &vars);
  CHECK(root.members.size() == 1);
  CHECK_FALSE(root.find("layers/dense/vars/0")->is_group());
  CHECK(root.find("") == &root);
  CHECK(root.find("layers/dense/1") == nullptr);
  root.group("more").members.emplace_back("x", Entry(K::ones({4})));
  CHECK(root.elements() == 10);
  root.set_attribute("backend", "ktape");
  CHECK(std::get<std::string>(*root.attribute("backend")) == "ktape");
  CHECK(root.attribute("version") == nullptr);
}

TEST_CASE("what a file lacks is an error that names file and object") {
  const hdf5::File file{"load_weights", "w.h5", tree()};
  CHECK(values(file.tensor(file.at("layers/dense/vars/1"), "1")) == Values{2.5});
  CHECK_THROWS_WITH_AS(
      file.at("layers/conv"),
      "[load_weights] the file must be complete, as Keras writes it: received w.h5 (layers/conv: is missing)",
      IOError);
  CHECK_THROWS_WITH_AS(file.tensor(file.at("empty"), "empty"),
                       "[load_weights] weights must be arrays of numbers: received w.h5 (empty: a group)",
                       IOError);
  Entry texts;
  texts.fault = "it holds texts";
  CHECK_THROWS_WITH_AS(file.tensor(texts, "names"), Contains("(names: it holds texts)"), IOError);
}
