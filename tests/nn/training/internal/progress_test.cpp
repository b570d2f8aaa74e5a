#include "../../../ops/check.hpp"
#include "../../captured_stderr.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/core/text.hpp>
#include <ktape/nn/training/internal/progress.hpp>
#include <thread>

namespace nn = ktape::nn;

TEST_CASE("progress: a line for each epoch, or a bar that moves") {
  const nn::Logs logs{{"loss", 0.25}, {"tiny", 1e-5}};
  std::ostringstream plain;
  nn::ProgressImpl lines(plain, false);
  lines.set_parameters({2, 4, 1});
  lines.on_train_begin({});
  lines.on_epoch_begin(0, {});
  for (int batch = 0; batch < 4; ++batch) lines.on_train_batch_end(batch, logs);
  lines.on_epoch_end(0, logs);
  CHECK(plain.str().starts_with("Epoch 1/2\n4/4 - 0s - "));
  CHECK(plain.str().ends_with("/step - loss: 0.2500 - tiny: 1.0000e-05\n"));

  std::ostringstream terminal;
  nn::ProgressImpl bar(terminal, true);
  bar.set_parameters({1, 2, 1});
  bar.on_epoch_begin(0, {});
  bar.on_train_batch_end(0, logs);
  bar.on_train_batch_end(1, logs);
  bar.on_epoch_end(0, logs);
  CHECK(terminal.str().find("\r2/2 ━━━━━━━━━━━━━━━━━━━━ 0s ") != std::string::npos);
}

TEST_CASE(
    "progress: on a narrow terminal the bar, then the text, becomes shorter, so that a line stays one") {
  const nn::Logs logs{{"loss", 0.25}, {"sparse_categorical_accuracy", 0.5}};
  const auto drawn = [&](int (*columns)()) {
    std::ostringstream out;
    nn::ProgressImpl bar(out, true, columns);
    bar.set_parameters({1, 2, 1});
    bar.on_epoch_begin(0, {});
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    bar.on_train_batch_end(0, logs);
    return out.str().substr(out.str().find('\r') + 1);
  };
  const std::string wide = drawn([] { return 100; }), middle = drawn([] { return 80; }),
                    narrow = drawn([] { return 40; });
  CHECK(wide.starts_with("1/2 ━━━━━━━━━━╌╌╌╌╌╌╌╌╌╌ 0s "));
  CHECK(wide.ends_with(" - loss: 0.2500 - sparse_categorical_accuracy: 0.5000"));
  CHECK(middle.starts_with("1/2 ━"));
  CHECK(middle.ends_with(" - loss: 0.2500 - sparse_categorical_accuracy: 0.5000"));
  CHECK(narrow.starts_with("1/2 ━━━╌╌╌ 0s "));
  CHECK(narrow.ends_with("…"));
  CHECK(nn::text_width(middle) == 79);
  CHECK(nn::text_width(narrow) == 39);
}

TEST_CASE("progress: on a narrow terminal the last line is broken between its numbers, and loses none") {
  const nn::Logs logs{{"loss", 0.25}, {"sparse_categorical_accuracy", 0.5}, {"val_loss", 0.75}};
  for (const auto columns :
       {+[] { return 50; }, +[] { return 80; }, +[] { return 120; }, +[] { return 200; }}) {
    std::ostringstream out;
    nn::ProgressImpl bar(out, true, columns);
    bar.set_parameters({1, 2, 1});
    bar.on_epoch_begin(0, {});
    bar.on_epoch_end(0, logs);
    std::istringstream lines(out.str().substr(out.str().rfind('\r') + 1));
    std::string joined;
    for (std::string line; std::getline(lines, line);) {
      CHECK(nn::text_width(line) < static_cast<std::size_t>(columns()));
      joined += line;
    }
    CAPTURE(joined);
    for (const char* part :
         {" - loss: 0.2500", " - sparse_categorical_accuracy: 0.5000", " - val_loss: 0.7500"})
      CHECK(joined.find(part) != std::string::npos);
  }
}
