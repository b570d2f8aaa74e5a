#include "../../ops/check.hpp"
#include "torch_bytes.hpp"
#include "torch_files.hpp"

#include <ktape/ktape.hpp>

#include <fstream>
#include <iterator>
#include <limits>
#include <map>

namespace data = ktape::data;
using doctest::Contains;
using ktape::IOError;
using ktape::Shape;
using ktape::Tensor;

namespace {

std::map<std::string, Tensor> loaded(const std::string& name) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [key, tensor] : data::load_torch(torch_files() + '/' + name)) tensors.emplace(key, tensor);
  return tensors;
}

}  // namespace

TEST_CASE("load_torch reads the tensors of a state_dict") {
  if (torch_files().empty()) return;
  for (const char* file : {"state.pt", "protocol4.pt", "protocol5.pt"}) {
    CAPTURE(file);
    const auto named = data::load_torch(torch_files() + '/' + file);
    REQUIRE(named.size() == 7);
    CHECK(named[0].first == "fc.weight");  // in the order of the file
    const auto tensors = loaded(file);
    CHECK(tensors.at("fc.weight").shape() == Shape{2, 3});
    CHECK(values(tensors.at("fc.weight")) == Values{0, 1, 2, 3, 4, 5});
    CHECK(values(tensors.at("fc.bias")) == Values{10, 11});
    CHECK(values(tensors.at("view.transposed")) == Values{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
    CHECK(values(tensors.at("view.part")) == Values{5, 6, 9, 10});
    CHECK(values(tensors.at("view.expanded")) == Values{2, 3, 2, 3, 2, 3});
    CHECK(tensors.at("scalar").shape() == Shape());
    CHECK(values(tensors.at("scalar")) == Values{-5});
    CHECK(tensors.at("scalar").dtype() == "int64");
    CHECK(tensors.at("empty").shape() == Shape{0, 3});
  }
}

TEST_CASE("load_torch keeps dtypes in both byte orders") {
  if (torch_files().empty()) return;
  for (const char* file : {"dtypes.pt", "big.pt"}) {
    CAPTURE(file);
    const auto tensors = loaded(file);
    const std::map<std::string, std::pair<std::string, Values>> wanted{
        {"half", {"float16", {0.5, -2}}},    {"double", {"float64", {1e-300, 3}}},
        {"bfloat16", {"bfloat16", {1, -2}}}, {"int32", {"int32", {-7, 8}}},
        {"int16", {"int16", {-7, 8}}},       {"int8", {"int8", {-7, 8}}},
        {"uint8", {"uint8", {7, 255}}},      {"bool", {"bool", {1, 0}}}};
    REQUIRE(tensors.size() == wanted.size());
    for (const auto& one : wanted) {
      const auto& name = one.first;
      const auto& facts = one.second;
      CAPTURE(name);
      CHECK(tensors.at(name).dtype() == facts.first);
      CHECK(values(ktape::backend::cast(tensors.at(name), "float64")) == facts.second);
    }
  }
}

TEST_CASE("load_torch joins the keys of nested containers") {
  if (torch_files().empty()) return;
  const auto tensors = loaded("nested.pt");
  CHECK(tensors.size() == 4);
  CHECK(values(tensors.at("model.w")) == Values{0, 1});
  CHECK(values(tensors.at("optimizer.state.0.m")) == Values{5, 6});
  CHECK(values(tensors.at("list.0")) == Values{0});
  CHECK(values(tensors.at("list.1.0")) == Values{1});
  CHECK(values(loaded("one.pt").at("")) == Values{0, 1, 2, 3});
}

TEST_CASE("load_torch reads a checkpoint: models, moments and options, halves in views of one storage") {
  if (torch_files().empty()) return;
  const auto tensors = loaded("checkpoint.pt");
  CHECK(tensors.size() == 6);
  const Tensor embed = tensors.at("model.embed.weight");
  CHECK(embed.dtype() == "float16");
  CHECK(embed.shape() == Shape{4, 3});
  CHECK(values(ktape::backend::cast(embed, "float64")) ==
        Values{0.5, 0.75, 1, 2, 2.25, 2.5, 3.5, 3.75, 4, 5, 5.25, 5.5});
  CHECK(values(ktape::backend::cast(tensors.at("model.head.weight"), "float64")) ==
        values(ktape::backend::cast(embed, "float64")));
  const Tensor variance = tensors.at("model.norm.running_var");  // bfloat16, columns first
  CHECK(variance.dtype() == "bfloat16");
  CHECK(values(variance) == Values{1, -1.5, 2, std::numeric_limits<double>::infinity()});
  CHECK(tensors.at("model.norm.num_batches_tracked").item<std::int64_t>() == std::int64_t{1} << 40);
  CHECK(tensors.at("optimizer.state.0.step").shape() == Shape());
  CHECK(values(tensors.at("optimizer.state.0.exp_avg")) == Values{0, 1, 2, 3});
}

TEST_CASE("load_torch refuses other files, and executes nothing") {
  if (torch_files().empty()) return;
  for (const auto& one : std::map<std::string, std::string>{
           {"evil.pt", "system', which is never run"},
           {"eval.pt", "asks for '__builtin__.eval', which is never run"},
           {"exec.pt", "asks for '__builtin__.exec', which is never run"},
           {"process.pt", "Popen', which is never run"},
           {"sparse.pt", "asks for 'torch._utils._rebuild_sparse_tensor'"},
           {"inst.pt", "the opcode 83"},
           {"long.pt", "more than 64 bits"},
           {"bits.pt", "more than 64 bits"},
           {"memo.pt", "the memo of the pickle has more than a million values"},
           {"copies.pt", "the stack of the pickle has more than a million values"},
           {"marks.pt", "more than a million marks"},
           {"itself.pt", "nested more deeply than 100"},
           {"tar.pt", "before 0.2"},
           {"complex.pt", "torch.ComplexFloatStorage"},
           {"beyond.pt", "beyond its storage"},
           {"negative.pt", "beyond its storage"},
           {"huge.pt", "64 MB"},
           {"overflow.pt", "beyond its storage"},
           {"script.pt", "TorchScript"},
           {"laughs.pt", "nested too often"},
           {"deep.pt", "nested more deeply than 100"},
           {"older.pt", "before 1.6"},
           {"plain.pt", "zip"},
           {"missing.pt", "missing.pt"}}) {
    const auto& file = one.first;
    const auto& reason = one.second;
    CAPTURE(file);
    CHECK_THROWS_WITH_AS(loaded(file), Contains(reason.c_str()), IOError);
    CHECK_THROWS_WITH_AS(loaded(file), Contains(file.c_str()), IOError);
  }
  CHECK(!std::filesystem::exists("executed"));
}

TEST_CASE("load_torch survives damage") {
  if (torch_files().empty()) return;
  std::ifstream file(torch_files() + "/state.pt", std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  const Files files;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const char flip : {'\x01', '\xff'}) {
      std::string other = bytes;
      other[i] = static_cast<char>(other[i] ^ flip);
      try {
        data::load_torch(files.write("damaged.pt", other));
      } catch (const IOError& error) {
        CHECK(std::string(error.what()).find("damaged.pt") != std::string::npos);
      }
    }
}

TEST_CASE("load_torch reads a small file, and reports each cut") {
  check_damage("model.pt", torch_file(), [](const std::string& path) { data::load_torch(path); });
  const Files files;
  const auto tensors = data::load_torch(files.write("model.pt", torch_file()));
  REQUIRE(tensors.size() == 1);
  CHECK(tensors[0].second.shape() == Shape{2, 3});
  CHECK(values(tensors[0].second) == Values{0.5, 1.5, 2.5, 3.5, 4.5, 5.5});
}

TEST_CASE("load_torch reads a small checkpoint, and reports each cut") {
  check_damage("model.pt", torch_checkpoint(), [](const std::string& path) { data::load_torch(path); });
  const Files files;
  const auto tensors = data::load_torch(files.write("model.pt", torch_checkpoint()));
  REQUIRE(tensors.size() == 3);
  CHECK(tensors[0].first == "model.a");
  CHECK(values(tensors[0].second) == Values{1.5, 4.5, 2.5, 5.5, 3.5, 6.5});
  CHECK(values(tensors[1].second) == Values{0.5});
  CHECK(tensors[2].first == "optimizer.state.0");
  CHECK(tensors[2].second.dtype() == "float16");
}
