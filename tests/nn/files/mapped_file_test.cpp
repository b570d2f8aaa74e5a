#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"
#include "../data/files.hpp"

/// Mapped files by way of `map_safetensors`.
namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::IOError, ktape::Tensor;

namespace {

std::string file_of(const std::string& header, const std::string& data) {
  return little(static_cast<std::uint64_t>(header.size())) + header + data;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

using Tensors = std::vector<std::pair<std::string, Tensor>>;

}  // namespace

TEST_CASE("a mapped file gives the tensors that a read file gives, of every dtype and at any place") {
  const Files files;
  Tensors tensors;
  for (const char* dtype :
       {"float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"})
    tensors.emplace_back(dtype, counted({3, 7}, dtype));
  tensors.emplace_back("empty", counted({0, 4}, "float32"));
  tensors.emplace_back("number", counted({}, "float32"));
  const std::string path = files.folder() + "/t.safetensors";
  nn::save_safetensors(path, tensors);
  const auto read = nn::map_safetensors(path), mapped = nn::load_safetensors(path);
  REQUIRE(mapped.size() == read.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    CAPTURE(read[i].first);
    CHECK(mapped[i].first == read[i].first);
    CHECK(mapped[i].second.dtype() == read[i].second.dtype());
    CHECK(values(mapped[i].second) == values(read[i].second));
  }
  // A header whose length is no multiple of 4: the elements are not aligned, and are read.
  const std::string data = std::string("\0\0\x80\x3f\0\0\0\x40", 8);
  const std::string odd = files.write(
      "odd.safetensors", file_of(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}} )", data));
  CHECK(values(nn::map_safetensors(odd)[0].second) == Values{1, 2});
}

TEST_CASE("tensors of a mapped file outlive the file's name, and nothing writes to them") {
  const Files files;
  const std::string path = files.folder() + "/w.safetensors";
  const Tensor w = normal({64, 64}, 1, "float32"), b = normal({64}, 2, "float32");
  nn::save_safetensors(path, {{"w", w}, {"b", b}});
  std::vector<std::pair<std::string, Tensor>> mapped = nn::map_safetensors(path);
  nn::save_safetensors(path, {{"other", K::ones({3})}});  // replaces the file
  nn::Sequential model({nn::Dense(64, {.input_shape = {64}})}), other({nn::Dense(64, {.input_shape = {64}})});
  model.set_weights({mapped[0].second, mapped[1].second});
  other.set_weights({w, b});
  const Tensor x = normal({16, 64}, 3, "float32");
  for (const nn::Model& each : {nn::Model(model), nn::Model(other)}) {
    each.compile({.optimizer = "adam", .loss = "mse"});
    for (int step = 0; step < 3; ++step) each.train_on_batch(x, x);
  }
  for (int i = 0; i < 2; ++i) CHECK(values(model.get_weights()[i]) == values(other.get_weights()[i]));
  CHECK(values(mapped[0].second) == values(w));
  CHECK(values(mapped[1].second) == values(b));
  ktape::Variable v(mapped[0].second);
  K::update_add(v, w);
  CHECK(values(v) == values(w + w));
  CHECK(values(mapped[0].second) == values(w));
  const auto f = [](const Tensor& t) { return K::sum(K::exp(t * t - t) * 0.5f); };
  CHECK(f(std::move(mapped[0].second)).item<float>() == f(w).item<float>());
  mapped.clear();
}

TEST_CASE("a mapped file may end with a page") {
  const Files files;
  // 8 bytes of length, a header of 88 bytes and 4000 bytes fill a page.
  const std::string header = R"({"x":{"dtype":"F32","shape":[1000],"data_offsets":[0,4000]}})";
  const std::string path = files.write(
      "page.safetensors", file_of(header + std::string(88 - header.size(), ' '), std::string(4000, '\0')));
  REQUIRE(std::filesystem::file_size(path) == 4096);
  const Tensor x = nn::map_safetensors(path)[0].second;
  CHECK(K::sum(K::exp(x)).item<float>() == 1000);
  CHECK(K::sum(x + x).item<float>() == 0);
}

TEST_CASE("files with an index are mapped, too, and damaged files give the same errors") {
  const Files files;
  const std::string path = files.folder() + "/t.safetensors";
  nn::save_safetensors(path, {{"a", K::ones({2, 2})}});
  const std::string index =
      files.write("t.safetensors.index.json", R"({"metadata": {}, "weight_map": {"a": "t.safetensors"}})");
  CHECK(values(nn::map_safetensors(index)[0].second) == Values{1, 1, 1, 1});
  const std::string content = content_of(path);
  files.write("t.safetensors", content.substr(0, content.size() - 1));
  CHECK_THROWS_WITH_AS(nn::map_safetensors(path),
                       Contains("[map_safetensors] the file must be a safetensors file"), IOError);
  CHECK_THROWS_AS(nn::map_safetensors(files.folder() + "/none"), IOError);
}
