#include <ktape/nn/data/formats/cifar.hpp>

#include "../../../ops/check.hpp"
#include "../files.hpp"

namespace data = ktape::data;
using doctest::Contains;
using ktape::IOError, ktape::Shape, ktape::ValueError;

namespace {

/// Returns a file of two images with this many labels each.
std::string cifar(int labels) {
  std::string bytes;
  for (int i = 0; i < 2; ++i) {
    bytes += std::string(static_cast<std::size_t>(labels), static_cast<char>(i + 3));
    for (int c = 0; c < 3; ++c) bytes += std::string(1024, static_cast<char>(10 * i + c));
  }
  return bytes;
}

}  // namespace

TEST_CASE("load_cifar: images channels last, and labels") {
  const Files files;
  const data::Element ten = data::load_cifar10(files.write("test_batch.bin", cifar(1)));
  CHECK(ten[0].shape() == Shape{2, 32, 32, 3});
  CHECK(ten[0].item<int>(1, 31, 31, 2) == 12);
  CHECK(values(ten[1]) == Values{3, 4});
  CHECK(data::load_cifar10(files.folder(), "test")[0].shape() == Shape{2, 32, 32, 3});
  CHECK_THROWS_WITH_AS(data::load_cifar10(files.folder()), Contains("data_batch_1.bin"), IOError);
  for (int i = 1; i <= 5; ++i) files.write("data_batch_" + std::to_string(i) + ".bin", cifar(1));
  CHECK(data::load_cifar10(files.folder())[0].shape() == Shape{10, 32, 32, 3});

  std::string hundred = cifar(2);
  hundred[1] = 99;
  const data::Element all = data::load_cifar100(files.write("train.bin", deflated(hundred, true)));
  CHECK(values(all[1]) == Values{99, 4});
  CHECK(values(all[2]) == Values{3, 4});

  CHECK_THROWS_WITH_AS(data::load_cifar10(files.write("x", cifar(2))), Contains("whole number of images"),
                       IOError);
  CHECK_THROWS_WITH_AS(data::load_cifar10(files.write("x", "")), Contains("whole number of images"), IOError);
  std::string wrong = cifar(1);
  wrong[3073] = 10;
  CHECK_THROWS_WITH_AS(data::load_cifar10(files.write("x", wrong)),
                       Contains("the label 10 of image 1 must be below 10"), IOError);
  CHECK_THROWS_WITH_AS(data::load_cifar10("x", "all"), Contains("'train' or 'test'"), ValueError);
  CHECK_THROWS_AS(data::load_cifar10(files.write("x", cifar(1).substr(1))), IOError);
}
