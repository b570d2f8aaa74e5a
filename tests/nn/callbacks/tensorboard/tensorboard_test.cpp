#include <ktape/nn/data/formats/images.hpp>

#include "../../../ops/check.hpp"
#include "events.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace fs = std::filesystem;
using doctest::Contains;
using ktape::Shape, ktape::Tensor, ktape::ValueError;
using Texts = std::vector<std::string>;

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

TEST_CASE("TensorBoard writes the architecture of models with a config") {
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
