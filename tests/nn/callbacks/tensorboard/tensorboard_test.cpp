#include "../../../close.hpp"
#include "../../../ops/check.hpp"
#include "../../data/files.hpp"
#include "../scripted.hpp"

#include <ktape/nn/callbacks/tensorboard/internal/event_file.hpp>
#include <ktape/nn/data/formats/images.hpp>

#include <cstring>
#include <map>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace fs = std::filesystem;
using doctest::Contains;
using ktape::Shape, ktape::Tensor, ktape::ValueError;

namespace {

// --- A reader of event files that knows nothing of the writer's -------------------------------------------

/// Bit by bit, as the definition has it.
std::uint32_t slow_crc(const std::string& bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const unsigned char c : bytes) {
    crc ^= c;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) ? (crc >> 1) ^ 0x82f63b78 : crc >> 1;
  }
  return ~crc;
}

template <class T>
T number(const std::string& bytes, std::size_t at = 0) {
  T out;
  REQUIRE(at + sizeof(T) <= bytes.size());
  std::memcpy(&out, bytes.data() + at, sizeof(T));
  return out;
}

/// The records of a file, whose checksums are right.
std::vector<std::string> records(const std::string& file) {
  const auto masked = [](const std::string& bytes) {
    const std::uint32_t crc = slow_crc(bytes);
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8;
  };
  std::vector<std::string> out;
  for (std::size_t at = 0; at < file.size();) {
    const auto length = number<std::uint64_t>(file, at);
    REQUIRE(number<std::uint32_t>(file, at + 8) == masked(file.substr(at, 8)));
    REQUIRE(length <= file.size() - at - 16);
    out.push_back(file.substr(at + 12, length));
    REQUIRE(number<std::uint32_t>(file, at + 12 + length) == masked(out.back()));
    at += 16 + length;
  }
  return out;
}

/// The fields of a message by their numbers: bytes, of which numbers have 8.
using Fields = std::multimap<std::uint64_t, std::string>;
Fields fields(const std::string& message) {
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      REQUIRE(at < message.size());
      REQUIRE(shift < 64);
      const auto byte = static_cast<unsigned char>(message[at++]);
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  Fields out;
  while (at < message.size()) {
    const std::uint64_t key = varint();
    REQUIRE((key % 8 == 0 || key % 8 == 1 || key % 8 == 2));
    if (key % 8 == 0) {
      out.emplace(key / 8, little(varint()));
      continue;
    }
    const std::uint64_t length = key % 8 == 1 ? 8 : varint();
    REQUIRE(length <= message.size() - at);
    out.emplace(key / 8, message.substr(at, length));
    at += length;
  }
  return out;
}
std::string field(const std::string& message, std::uint64_t number) {
  const Fields all = fields(message);
  const auto found = all.find(number);
  return found == all.end() ? "" : found->second;
}
std::int64_t integer(const std::string& message, std::uint64_t field_number) {
  const std::string bytes = field(message, field_number);
  return bytes.empty() ? 0 : number<std::int64_t>(bytes);
}

struct Summary {
  std::string tag, plugin;
  std::int64_t step = 0, dtype = 0;
  Shape shape = {};
  std::string content = {};
  std::vector<std::string> texts = {};
};

std::string event_file(const std::string& folder) {
  std::string found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    CHECK(found.empty());
    found = entry.path().string();
    CHECK(entry.path().filename().string().starts_with("events.out.tfevents."));
  }
  return found;
}

std::vector<Summary> summaries(const std::string& file) {
  std::vector<Summary> out;
  const std::vector<std::string> events = records(content(file));
  REQUIRE(!events.empty());
  CHECK(field(events[0], 3) == "brain.Event:2");
  double last = 0;
  for (const std::string& event : events) {
    const auto time = number<double>(field(event, 1));
    CHECK(time >= last);
    CHECK(time > 1.6e9);
    last = time;
    if (field(event, 5).empty()) continue;
    const std::string value = field(field(event, 5), 1), tensor = field(value, 8),
                      data = field(field(value, 9), 1);
    Summary summary{field(value, 1), field(data, 1), integer(event, 2), integer(tensor, 1)};
    for (const auto& [number, dimension] : fields(field(tensor, 2)))
      summary.shape.push_back(integer(dimension, 1));
    summary.content = field(tensor, 4);
    for (const auto& [number, text] : fields(tensor))
      if (number == 8) summary.texts.push_back(text);
    out.push_back(std::move(summary));
  }
  return out;
}

/// "tag step value" of the scalars.
std::vector<std::string> scalars(const std::string& folder) {
  std::vector<std::string> out;
  for (const Summary& summary : summaries(event_file(folder))) {
    if (summary.plugin != "scalars") continue;
    CHECK(summary.dtype == 1);
    CHECK(summary.shape.rank() == 0);
    std::ostringstream text;
    text << summary.tag << ' ' << summary.step << ' ' << number<float>(summary.content);
    out.push_back(text.str());
  }
  return out;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("TensorBoard: crc32c") {
  CHECK(nn::crc32c("") == 0);
  CHECK(nn::crc32c("123456789") == 0xe3069283);
  CHECK(nn::crc32c(std::string(32, '\xff')) == 0x62a8ab43);  // RFC 3720
}

TEST_CASE("TensorBoard writes the numbers of epochs for training and validation") {
  const Files files;
  nn::Sequential model({nn::Input({1}), nn::Dense(1, {.kernel_initializer = "zeros"})});
  model.compile({.optimizer = nn::SGD(0.5), .loss = "mse"});
  const Tensor x = K::ones({4, 1});
  const nn::History history = model.fit(x, x,
                                        {.batch_size = 2,
                                         .epochs = 2,
                                         .verbose = 0,
                                         .callbacks = {nn::TensorBoard(files.folder() + "/logs")},
                                         .validation_data = {x, 2.f * x}});
  const auto line = [](const std::string& name, double value) {
    std::ostringstream text;
    text << name << ' ' << static_cast<float>(value);
    return text.str();
  };
  CHECK(scalars(files.folder() + "/logs/train") ==
        Texts{line("epoch_loss 0", history["loss"][0]), "epoch_learning_rate 0 0.5",
              line("epoch_loss 1", history["loss"][1]), "epoch_learning_rate 1 0.5"});
  CHECK(scalars(files.folder() + "/logs/validation") ==
        Texts{line("evaluation_loss_vs_iterations 2", history["val_loss"][0]),
              line("epoch_loss 0", history["val_loss"][0]),
              line("evaluation_loss_vs_iterations 4", history["val_loss"][1]),
              line("epoch_loss 1", history["val_loss"][1])});
}

TEST_CASE("TensorBoard writes the numbers of batches") {
  const Files files;
  const std::vector<nn::Logs> logs{{{"loss", 3}}, {{"loss", 2}}, {{"loss", 1}}, {{"loss", 0}}};
  run(Scripted(logs), {nn::TensorBoard(files.folder() + "/all", {.update_freq = "batch"})});
  Texts batches;
  for (const std::string& text : scalars(files.folder() + "/all/train"))
    if (text.starts_with("batch_")) batches.push_back(text);
  CHECK(batches == Texts{"batch_loss 1 3", "batch_loss 2 2", "batch_loss 3 1", "batch_loss 4 0"});
  run(Scripted(logs),
      {nn::TensorBoard(files.folder() + "/some", {.write_steps_per_second = true, .update_freq = 3})});
  batches.clear();
  int rates = 0;
  for (const std::string& text : scalars(files.folder() + "/some/train")) {
    if (text.starts_with("batch_loss")) batches.push_back(text);
    rates += text.find("steps_per_second") != std::string::npos;
  }
  CHECK(batches == Texts{"batch_loss 3 1"});
  CHECK(rates == 4 + 1);
}

TEST_CASE("TensorBoard writes weights as histograms and images") {
  const Files files;
  nn::Sequential model(
      {nn::Input({2}), nn::Dense(3, {.kernel_initializer = nn::Constant(0.5), .name = "scores"})});
  model.compile({.optimizer = nn::SGD(0.0), .loss = "mse"});
  model.fit(K::ones({1, 2}), K::ones({1, 3}),
            {.epochs = 3,
             .verbose = 0,
             .callbacks = {nn::TensorBoard(files.folder(), {.histogram_freq = 2, .write_images = true})}});
  std::vector<std::string> names;
  for (const Summary& summary : summaries(event_file(files.folder() + "/train"))) {
    if (summary.plugin == "histograms") {
      CHECK(summary.dtype == 2);
      CHECK(summary.shape == Shape{1, 3});
      names.push_back(summary.tag + ' ' + std::to_string(summary.step));
      if (summary.tag != "scores/kernel/histogram") continue;
      CHECK(number<double>(summary.content) == 0);
      CHECK(number<double>(summary.content, 8) == 1);
      CHECK(number<double>(summary.content, 16) == 6);
    }
    if (summary.tag == "scores/kernel/image") {
      CHECK(summary.plugin == "images");
      CHECK(summary.dtype == 7);
      CHECK(summary.shape == Shape{3});
      REQUIRE(summary.texts.size() == 3);
      CHECK(summary.texts[0] == "3");
      CHECK(summary.texts[1] == "2");  // width, height
      const Tensor image =
          ktape::data::load_image(files.write("image.png", summary.texts[2]), {.color_mode = "grayscale"});
      CHECK(image.shape() == Shape{2, 3, 1});
      CHECK(values(image) == Values(6, 127));
    }
  }
  CHECK(names == Texts{"scores/kernel/histogram 0", "scores/bias/histogram 0", "scores/kernel/histogram 2",
                       "scores/bias/histogram 2"});
}

TEST_CASE("TensorBoard writes the architecture, where there is one") {
  const Files files;
  nn::Sequential model({nn::Input({1}), nn::Dense(1, {.name = "only"})});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor x = K::ones({1, 1});
  model.fit(x, x, {.verbose = 0, .callbacks = {nn::TensorBoard(files.folder())}});
  const std::vector<Summary> all = summaries(event_file(files.folder() + "/train"));
  REQUIRE(!all.empty());
  CHECK(all[0].tag == "keras");
  CHECK(all[0].plugin == "graph_keras_model");
  CHECK(all[0].dtype == 7);
  REQUIRE(all[0].texts.size() == 1);
  CHECK(nn::from_json(all[0].texts[0]).config().at("class_name").string() == "Sequential");
  model.fit(
      x, x,
      {.verbose = 0, .callbacks = {nn::TensorBoard(files.folder() + "/plain", {.write_graph = false})}});
  CHECK(scalars(files.folder() + "/plain/train").size() ==
        summaries(event_file(files.folder() + "/plain/train")).size());
}

TEST_CASE("TensorBoard: an evaluation alone") {
  const Files files;
  nn::Sequential model({nn::Input({1}), nn::Dense(1, {.kernel_initializer = "zeros"})});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.evaluate(K::ones({1, 1}), K::ones({1, 1}),
                 {.verbose = 0, .callbacks = {nn::TensorBoard(files.folder())}});
  CHECK(scalars(files.folder() + "/validation") == Texts{"evaluation_loss_vs_iterations 0 1"});
  CHECK(!fs::exists(files.folder() + "/train"));
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

TEST_CASE("TensorBoard: bad arguments and folders are errors") {
  CHECK_THROWS_WITH_AS(
      nn::TensorBoard("logs", {.histogram_freq = -1}),
      Contains("[TensorBoard] histogram_freq must be at least 0: received histogram_freq=-1"), ValueError);
  CHECK_THROWS_WITH_AS(
      nn::TensorBoard("logs", {.update_freq = "step"}),
      Contains("a frequency must be \"epoch\", \"batch\" or a number of batches, at least 1: "
               "received \"step\""),
      ValueError);
  CHECK_THROWS_WITH_AS(nn::TensorBoard("logs", {.update_freq = 0}), Contains("at least 1: received 0"),
                       ValueError);
}

/// TensorBoard's own library for protocol buffers reads the same: python3-protobuf of Debian, which knows the
/// messages from the script.
TEST_CASE("TensorBoard: Python reads the events") {
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
