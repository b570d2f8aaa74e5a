#include "../../../../hdf5.hpp"

#include <ktape/nn/callbacks/tensorboard/internal/event_file.hpp>

#include "../../../../close.hpp"
#include "../../../../ops/check.hpp"
#include "../events.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Shape, ktape::Tensor;

TEST_CASE("an event file holds a record for each summary, as soon as it is written") {
  const Files files;
  nn::EventFile events(files.folder() + "/logs");
  events.scalar("loss", 0.5, 3);
  events.images("digits", K::ones({5, 2, 4, 1}), 7);
  const std::vector<Summary> all = summaries(event_file(files.folder() + "/logs"));
  REQUIRE(all.size() == 2);
  CHECK(all[0].tag == "loss");
  CHECK(all[0].plugin == "scalars");
  CHECK(all[0].step == 3);
  CHECK(number<float>(all[0].content) == 0.5f);
  CHECK(all[1].plugin == "images");
  CHECK(all[1].step == 7);
  REQUIRE(all[1].texts.size() == 2 + 3);  // width, height and the first three images
  CHECK(all[1].texts[0] == "4");
  CHECK(all[1].texts[1] == "2");
  CHECK(all[1].texts[4].starts_with("\x89PNG"));
  const std::string file = files.write("file", "");
  CHECK_THROWS_WITH_AS(nn::EventFile(file + "/logs"),
                       doctest::Contains("[TensorBoard] the folder must be writable: received"),
                       ktape::IOError);
}

TEST_CASE("crc32c is the checksum of RFC 3720") {
  CHECK(nn::crc32c("") == 0);
  CHECK(nn::crc32c("123456789") == 0xe3069283);
  CHECK(nn::crc32c(std::string(32, '\xff')) == 0x62a8ab43);  // RFC 3720
}

TEST_CASE("histogram_of counts numbers in ranges of one width") {
  const Tensor counts = nn::histogram_of(K::arange(0, 60));
  CHECK(counts.shape() == Shape{30, 3});
  for (int i = 0; i < 30; ++i) {
    CHECK(close(counts.item<double>(i, 0), 59.0 / 30 * i, {.rtol = 1e-5, .atol = 1e-5}));
    CHECK(close(counts.item<double>(i, 1), 59.0 / 30 * (i + 1), {.rtol = 1e-5, .atol = 1e-5}));
    CHECK(counts.item<double>(i, 2) == 2);
  }
  CHECK(counts.item<double>(29, 1) == 59);
  CHECK(values(nn::histogram_of(K::constant({3.f, 3.f}))) == Values{2.5, 3.5, 2});
  CHECK(nn::histogram_of(K::zeros({0})).shape() == Shape{0, 3});
  CHECK(values(nn::histogram_of(K::constant({NAN, 1.f, INFINITY}))) == Values{0.5, 1.5, 1});
  const Tensor wide = nn::histogram_of(doubles({-1e308, 1e308, 0}));  // whose difference is infinite
  CHECK(wide.item<double>(0, 2) == 1);
  CHECK(wide.item<double>(15, 2) == 1);
  CHECK(wide.item<double>(29, 2) == 1);
}

/// TensorBoard's own library for protocol buffers reads the same: python3-protobuf of Debian, which knows the
/// messages from the script.
TEST_CASE("TensorBoard: Python reads the events" * needs_hdf5) {
  if (std::system("/usr/bin/python3 -c 'import google.protobuf' > /dev/null 2>&1") != 0) {
    MESSAGE("skipped: there is no python3-protobuf");
    return;
  }
  const Files files;
  {
    nn::EventFile events(files.folder());
    events.scalar("epoch_loss", 0.5, 3);
    events.histogram("kernel", K::arange(0, 60), 4);
    events.model("keras", "{\"a\": 1}", 0);
  }
  const std::string command = "/usr/bin/python3 tests/nn/callbacks/tensorboard/read_events.py '" +
                              event_file(files.folder()) + "' > '" + files.folder() + "/out.txt' 2>&1";
  const int status = std::system(command.c_str());
  CHECK_MESSAGE(status == 0, content(files.folder() + "/out.txt"));
  CHECK(content(files.folder() + "/out.txt") ==
        "brain.Event:2 ktape\n"
        "epoch_loss 3 scalars b'' float32 [] 0.5\n"
        "kernel 4 histograms b'' float64 [30, 3] 60.0\n"
        "keras 0 graph_keras_model b'1' text [] {\"a\": 1}\n");
}
