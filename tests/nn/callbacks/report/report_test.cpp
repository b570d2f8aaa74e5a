#include <ktape/ktape.hpp>

#include "../../../ops/check.hpp"
#include "pages.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::IOError, ktape::Tensor, ktape::ValueError;

TEST_CASE("a report is one page with the numbers, curves, model and predictions of a training") {
  const Tensor x =
      K::constant({{0.8f, 0.1f, 0.1f}, {0.2f, 0.7f, 0.1f}, {0.1f, 0.9f, 0.f}, {0.3f, 0.3f, 0.4f}});
  const std::string page = report_of(same({.name = "reader"}), still(), x, ints({0, 1, 2, 2}),
                                     {.title = "Animals", .class_names = {"cat", "dog", "emu"}});
  CHECK(page.starts_with("<!doctype html>"));
  for (const char* text : {"<title>Animals</title>", "Trained for 2 epochs", "name=\"viewport\"",
                           ">val_accuracy, 0.75 in training<", "3 of 4", ">accuracy<", ">learning_rate<",
                           ">reader<", "identity (Dense)", "9 (36.00 B)", ">sparse_categorical_crossentropy<",
                           ">SGD<", ">emu predicted as dog: 1<", "Most confident mistakes",
                           ">dog</span> 90.0\u00a0%<br>is emu<", ">cat</span> 80.0\u00a0%</figcaption>"})
    CHECK_MESSAGE(contains(page, text), std::string(text));
  CHECK(count(page, "<figure>") == 1 + 4);
  CHECK_FALSE(contains(page, "http-equiv"));
  CHECK_FALSE(contains(page, "<script"));
  CHECK(count(page, "http") == count(page, "xmlns=\"http://www.w3.org/2000/svg\""));  // nothing to be fetched
  CHECK_FALSE(contains(page, "<link"));
}

TEST_CASE("the page exists during the training, and reloads itself") {
  const Files files;
  const std::string path = files.folder() + "/report.html";
  std::string early;
  const nn::Report report(path);
  const nn::LambdaCallback look({.on_epoch_begin = [&](int, const nn::Logs&) { early = page_in(path); }});
  nn::Sequential model({nn::Dense(1)});
  model.compile({.loss = "mse"});
  model.fit(K::ones({4, 2}), K::ones({4, 1}), {.epochs = 3, .verbose = 0, .callbacks = {report, look}});
  CHECK(contains(early, "http-equiv=\"refresh\""));
  CHECK(contains(early, "Training: epoch 1 of 3"));
  const std::string page = page_in(path);
  CHECK(contains(page, "Trained for 3 epochs"));
  CHECK_FALSE(contains(page, "Predictions"));  // there are no validation data
  // Another training begins another page.
  model.fit(K::ones({4, 2}), K::ones({4, 1}), {.epochs = 1, .verbose = 0, .callbacks = {report}});
  CHECK(contains(page_in(path), "Trained for 1 epoch,"));
}

TEST_CASE("a training that was ended early, and one that diverged") {
  const Files files;
  const std::string path = files.folder() + "/report.html";
  nn::Sequential model({nn::Dense(1)});
  model.compile({.optimizer = nn::SGD(1e30), .loss = "mse"});
  model.fit(K::ones({64, 2}), K::zeros({64, 1}),
            {.epochs = 9, .verbose = 0, .callbacks = {nn::TerminateOnNaN(), nn::Report(path)}});
  const std::string page = page_in(path);
  CHECK(contains(page, "Ended after epoch 1 of 9"));
  CHECK(contains(page, "1 of 1 numbers is not finite"));
}

TEST_CASE("a resumed training reports all of its epochs") {
  const Files files;
  const std::string path = files.folder() + "/report.html", backup = files.folder() + "/backup";
  const Tensor x = K::ones({8, 2}), y = K::ones({8, 1});
  const auto run = [&](const nn::Callback& last) {
    nn::Sequential model({nn::Dense(1)});
    model.compile({.loss = "mse"});
    model.fit(
        x, y,
        {.epochs = 4, .verbose = 0, .callbacks = {nn::Report(path), nn::BackupAndRestore(backup), last}});
  };
  const nn::LambdaCallback breaks({.on_epoch_begin = [](int epoch, const nn::Logs&) {
    if (epoch == 2) throw std::runtime_error("power cut");
  }});
  CHECK_THROWS_WITH(run(breaks), "power cut");
  run(nn::TerminateOnNaN());
  const std::string page = page_in(path);
  CHECK(contains(page, "Trained for 4 epochs"));
  CHECK(contains(page, "<tr><td>1</td>"));
}

TEST_CASE("reports that cannot be written are errors") {
  CHECK_THROWS_WITH_AS(nn::Report("report.pdf"),
                       "[Report] the name of the file must end in .html or .htm: received 'report.pdf'",
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::Report("a.html", {.samples = -1}),
                       "[Report] samples must be at least 0: received samples=-1", ValueError);
  const Files files;
  const std::string file = files.write("file", "");
  nn::Sequential model({nn::Input({2}), nn::Dense(3)});
  model.compile({.loss = "mse"});
  const auto fit = [&](const nn::Report& report) {
    model.fit(K::ones({4, 2}), K::ones({4, 3}), {.verbose = 0, .callbacks = {report}});
  };
  CHECK_THROWS_WITH_AS(fit(nn::Report(file + "/report.html")),
                       Contains("[Report] the folder must be writable"), IOError);
  CHECK_THROWS_WITH_AS(fit(nn::Report(files.folder() + "/a.html", {.class_names = {"a", "b"}})),
                       "[Report] class_names must name each class of an output: received 2 names for outputs "
                       "of shape (None, 3)",
                       ValueError);
}
