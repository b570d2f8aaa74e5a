#include "../../../hdf5.hpp"

#include <ktape/nn/data/formats/idx.hpp>

#include <cstdlib>

#include "../../../ops/check.hpp"
#include "../files.hpp"

namespace data = ktape::data;
using doctest::Contains;
using ktape::IOError, ktape::Shape, ktape::Tensor, ktape::ValueError;

namespace {

std::string idx(char type, const std::vector<std::uint32_t>& shape, const std::string& numbers) {
  std::string bytes{'\0', '\0', type, static_cast<char>(shape.size())};
  for (std::uint32_t extent : shape) bytes += big(extent);
  return bytes + numbers;
}

const std::string images = idx(8, {2, 2, 3}, "abcdefghijkl"), labels = idx(8, {2}, "\x01\x07");

}  // namespace

TEST_CASE("load_idx: shape, type and numbers, plain or compressed") {
  const Files files;
  for (const std::string& bytes : {images, deflated(images, true)}) {
    const Tensor x = data::load_idx(files.write("images", bytes));
    CHECK(x.shape() == Shape{2, 2, 3});
    CHECK(x.dtype() == "uint8");
    CHECK(x.item<int>(1, 0, 2) == 'i');
  }
  const Tensor shorts =
      data::load_idx(files.write("x", idx(0x0b, {2}, big(std::int16_t{-2}) + big(std::int16_t{300}))));
  CHECK(shorts.dtype() == "int16");
  CHECK(values(shorts) == Values{-2, 300});
  const Tensor reals = data::load_idx(files.write("x", idx(0x0d, {1}, big(0x3fc00000u))));
  CHECK(values(reals) == Values{1.5});
  CHECK(data::load_idx(files.write("x", idx(0x0e, {0, 5}, ""))).shape() == Shape{0, 5});
}

TEST_CASE("load_idx: files that are not IDX files, or truncated") {
  const Files files;
  const auto error = [&](const std::string& bytes, const char* text) {
    CHECK_THROWS_WITH_AS(data::load_idx(files.write("x", bytes)), Contains(text), IOError);
  };
  error("1,2,3\n", "must be an IDX file");
  error(idx(0x0a, {1}, "a"), "type 10");
  error(idx(8, {}, ""), "1 to 8 dimensions");
  error(idx(8, std::vector<std::uint32_t>(9, 1), "a"), "1 to 8 dimensions");
  error(idx(8, {1}, "ab"), "bytes follow the numbers");
  error(idx(8, {0xffffffff, 0xffffffff, 0xffffffff}, "a"), "must fit into memory");
  error(idx(8, {0xffffffff}, "a"), "cannot follow");
  error(deflated(idx(8, {0xffffffff}, "a"), true), "cannot follow");
  CHECK_THROWS_WITH_AS(data::load_idx("none"),
                       "[load_idx] the file must be readable: received none (No such file or directory)",
                       IOError);
  CHECK_THROWS_WITH_AS(data::load_idx(files.folder()), Contains("(a directory)"), IOError);
  check_damage("plain.idx", images, data::load_idx);
  check_damage("packed.idx.gz", deflated(images, true), data::load_idx);
}

TEST_CASE("load_mnist: images and labels of a folder") {
  const Files files;
  files.write("train-images-idx3-ubyte.gz", deflated(images, true));
  files.write("train-labels.idx1-ubyte", labels);
  const data::Element train = data::load_mnist(files.folder());
  CHECK(train[0].shape() == Shape{2, 2, 3});
  CHECK(values(train[1]) == Values{1, 7});
  CHECK_THROWS_WITH_AS(data::load_mnist(files.folder(), "test"), Contains("t10k-images-idx3-ubyte.gz"),
                       IOError);
  CHECK_THROWS_WITH_AS(data::load_mnist(files.folder(), "other"), Contains("'train' or 'test'"), ValueError);
  files.write("train-labels.idx1-ubyte", idx(8, {3}, "abc"));
  CHECK_THROWS_WITH_AS(data::load_mnist(files.folder()), Contains("one label for each image"), IOError);
}

// KTAPE_DATA names a folder with the files of MNIST's test set.
TEST_CASE("load_mnist: the published files" * needs_hdf5) {
  const char* folder = std::getenv("KTAPE_DATA");
  if (!folder || !std::filesystem::exists(std::filesystem::path(folder) / "t10k-images-idx3-ubyte.gz")) {
    MESSAGE("skipped: KTAPE_DATA names no folder with t10k-images-idx3-ubyte.gz");
    return;
  }
  const data::Element test = data::load_mnist(folder, "test");
  CHECK(test[0].shape() == Shape{10000, 28, 28});
  CHECK(test[1].shape() == Shape{10000});
  CHECK(test[1].item<int>(0) == 7);
  CHECK(test[0].item<int>(0, 7, 6) == 84);
}
