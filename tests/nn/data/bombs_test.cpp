#include <sys/stat.h>
#include <ktape/nn/data/formats/csv.hpp>
#include <ktape/nn/data/formats/idx.hpp>
#include <ktape/nn/data/formats/images.hpp>
#include <ktape/nn/data/formats/text.hpp>
#include <ktape/nn/files/npy.hpp>
#include <ktape/nn/layers/core/core.hpp>
#include <ktape/nn/layers/core/input.hpp>
#include <ktape/nn/models/sequential.hpp>
#include <ktape/ops/reductions.hpp>

#include "../../memory.hpp"
#include "files.hpp"

namespace data = ktape::data;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::IOError, ktape::Shape, ktape::Tensor;

namespace {

const std::string zero(1, '\0');

/// Returns an array of some megabytes of zeros as an entry of an archive.
Packed zeros(const std::string& name, std::size_t megabytes) {
  const std::string shape = '(' + std::to_string(megabytes) + ", 1048576)";
  return packed(name, bomb(megabytes, zero, npy_array("|u1", shape, "")));
}

/// Checks that loading throws this error, and takes at most a fixed amount of memory.
template <class Load>
void check_refused(const std::string& path, Load load, const std::string& text) {
  constexpr std::int64_t most =
      240;  // megabytes: a text that may inflate to 64 of them is copied while it grows
  CAPTURE(path);
  CHECK_THROWS_WITH_AS(load(path), Contains(text.c_str()), IOError);
  CHECK_THROWS_WITH_AS(load(path), Contains(path.c_str()), IOError);
  CHECK(peak_growth([&] { load(path); }) < most);
}

}  // namespace

TEST_CASE("compressed files: a few kilobytes do not become hundreds of megabytes") {
  const Files files;
  constexpr std::size_t many = 400;
  const std::string idx = std::string("\0\0\x08\2", 4) + big(400u) + big(1u << 20);
  const std::string short_idx = std::string("\0\0\x08\1", 4) + big(4u);
  const auto file = [&](const std::string& name, std::string_view text, std::string_view before = "") {
    return files.write(name, gzip(bomb(many, text, before)));
  };
  const std::string rule = "compressed data must not inflate beyond the limit";
  check_refused(
      file("numbers.csv.gz", "1\n"), [](const auto& path) { data::load_csv(path); },
      rule + ": received " + files.folder() + "/numbers.csv.gz (more than 67108864 bytes of ");
  check_refused(
      file("one_field.csv.gz", "1"), [](const auto& path) { data::load_csv(path); }, rule);
  check_refused(
      file("text.gz", "a"), [](const auto& path) { data::load_text(path); }, rule);
  check_refused(
      file("line.gz", "a"), [](const auto& path) { data::load_text_lines(path); }, rule);
  check_refused(
      file("idx.gz", zero, idx), [](const auto& path) { data::load_idx(path); },
      "419430400 bytes cannot follow");
  check_refused(
      file("short.gz", zero, short_idx), [](const auto& path) { data::load_idx(path); },
      "bytes follow the numbers");
  check_refused(
      file("x.npy.gz", zero, npy_array("|u1", "(400, 1048576)", "")),
      [](const auto& path) { data::load_npy(path); }, "419430400 bytes cannot follow");
  check_refused(
      files.write("gray.png", png_bomb(20000)), [](const auto& path) { data::load_image(path); },
      rule + ": received " + files.folder() + "/gray.png (20000 x 20000 pixels, more than 67108864");
}

TEST_CASE(
    "load_npz: what all arrays of an archive inflate to is bounded, and the first that goes beyond named") {
  const Files files;
  const auto load = [](const auto& path) { data::load_npz(path); };
  check_refused(files.write("one.npz", zip({zeros("big.npy", 400)})), load,
                "compressed data must not inflate beyond the limit: received " + files.folder() +
                    "/one.npz (entry big.npy: to 4194304");
  std::vector<Packed> many;
  for (int i = 0; i < 20; ++i) many.push_back(zeros('a' + std::to_string(i) + ".npy", 20));
  check_refused(files.write("many.npz", zip(many)), load, "entry a3.npy: to 8388");
}

TEST_CASE("compressed files: zeros inflate freely up to 64 MB, numbers as they are always") {
  const Files files;
  const auto arrays = data::load_npz(files.write("zeros.npz", zip({zeros("z.npy", 40), zeros("y.npy", 20)})));
  CHECK(arrays[0].second.shape() == Shape{40, 1 << 20});
  CHECK(arrays[1].second.shape() == Shape{20, 1 << 20});
  CHECK(data::load_text(files.write("a.gz", gzip(bomb(60, "a")))).size() == 60 << 20);
}

TEST_CASE("load_weights: a model's own size may always inflate") {
  const Files files;
  const nn::Sequential model({nn::Input({4608}), nn::Dense(4608, {.use_bias = false, .name = "zeros"})});
  const std::string path = files.write(
      "w.npz", zip({packed("zeros/kernel.npy", bomb(81, zero, npy_array("<f4", "(4608, 4608)", "")))}));
  CHECK_THROWS_WITH_AS(data::load_npz(path), Contains("must not inflate beyond the limit"), IOError);
  model.load_weights(path);
  CHECK(ktape::backend::max(model.get_weights()[0]).item<float>() == 0);
}

TEST_CASE("files: devices, pipes and folders are refused, and not waited for") {
  const Files files;
  const std::string pipe = files.folder() + "/pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"/dev/zero", "/dev/zero (a device)"}, {pipe, pipe + " (a pipe)"}, {files.folder(), "(a directory)"}};
  for (const auto& [path, reason] : refused) {
    const std::string rule = "the file must be a regular one: received ";
    const auto check = [&, &path = path, &reason = reason](const char* op, auto load) {
      CAPTURE(op);
      CHECK_THROWS_WITH_AS(load(path), Contains(reason.c_str()), IOError);
      CHECK_THROWS_WITH_AS(load(path), Contains(('[' + std::string(op) + "] " + rule).c_str()), IOError);
    };
    check("load_csv", [](const auto& p) { data::load_csv(p); });
    check("load_idx", [](const auto& p) { data::load_idx(p); });
    check("load_npy", [](const auto& p) { data::load_npy(p); });
    check("load_npz", [](const auto& p) { data::load_npz(p); });
    check("load_image", [](const auto& p) { data::load_image(p); });
    check("load_text", [](const auto& p) { data::load_text(p); });
    check("load_text_lines", [](const auto& p) { data::load_text_lines(p); });
  }
}
