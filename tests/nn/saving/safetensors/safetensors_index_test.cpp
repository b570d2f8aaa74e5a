#include <ktape/ktape.hpp>
#include <ktape/nn/saving/safetensors/safetensors.hpp>

#include "../../../ops/check.hpp"
#include "../../data/files.hpp"

namespace nn = ktape::nn;
using doctest::Contains;
using ktape::IOError;

TEST_CASE("load_safetensors: Hugging Face's index of several files") {
  const Files files;
  nn::save_safetensors(files.folder() + "/model-00001-of-00002.safetensors",
                       {{"b", ints({1, 2})}, {"a", ints({3})}});
  nn::save_safetensors(files.folder() + "/model-00002-of-00002.safetensors", {{"c", ints({4})}});
  const auto load = [&](const std::string& map) {
    return nn::load_safetensors(files.write(
        "model.safetensors.index.json", R"({"metadata": {"total_size": 4}, "weight_map": {)" + map + "}}"));
  };
  const std::string first =
                        R"("a": "model-00001-of-00002.safetensors", "b": "model-00001-of-00002.safetensors")",
                    second = R"(, "c": "model-00002-of-00002.safetensors")";
  const auto tensors = load(first + second);
  REQUIRE(tensors.size() == 3);
  CHECK(tensors[0].first == "b");
  CHECK(tensors[1].first == "a");
  CHECK(tensors[2].first == "c");
  CHECK(values(tensors[2].second) == Values{4});
  CHECK(load("").empty());
  load(first + second);
  const auto some = nn::load_safetensors(files.folder() + "/model.safetensors.index.json", {"c", "a"});
  REQUIRE(some.size() == 2);
  CHECK(some[0].first == "c");
  CHECK(values(some[1].second) == Values{3});

  const auto check_error = [&](const std::string& map, const char* reason) {
    CHECK_THROWS_WITH_AS(load(map), Contains(reason), IOError);
  };
  check_error(R"("c": "model-00001-of-00002.safetensors")",
              "is in model-00001-of-00002.safetensors, and not in");
  check_error(first + second + R"(, "d": "model-00002-of-00002.safetensors")",
              "model-00002-of-00002.safetensors has 1 tensors, and 2 in the index)");
  check_error(R"("a": "../a.safetensors")", "the file of 'a' must be in the folder of the index");
  check_error(R"("a": "none.safetensors")", "none.safetensors");
  check_error(R"("a": 1)", "weight_map.a");
}

TEST_CASE("load_weights: a model takes its weights from several files") {
  const Files files;
  const nn::Sequential model({nn::Input({2}), nn::Dense(3, {.name = "d"})}),
      other({nn::Input({2}), nn::Dense(3, {.name = "d"})});
  nn::save_safetensors(files.folder() + "/1.safetensors", {{"d/kernel", model.get_weights()[0]}});
  nn::save_safetensors(files.folder() + "/2.safetensors", {{"d/bias", model.get_weights()[1]}});
  other.load_weights(
      files.write("model.safetensors.index.json",
                  R"({"weight_map": {"d/kernel": "1.safetensors", "d/bias": "2.safetensors"}})"));
  CHECK(values(other.get_weights()[0]) == values(model.get_weights()[0]));
}
