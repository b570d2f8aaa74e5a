#include <ktape/ktape.hpp>

#include "../../../ops/check.hpp"
#include "../../data/files.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using doctest::Contains;
using ktape::IOError, ktape::Tensor, ktape::ValueError;

namespace {

std::string read(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}
bool contains(const std::string& text, const std::string& part) { return count(text, part) > 0; }

/// A layer that returns its input times a number that can be learned: what it predicts is known.
nn::Sequential same(const nn::ModelOptions& options = {}) {
  return nn::Sequential(
      {nn::Rescaling(1.0),
       nn::Dense(3, {.use_bias = false, .kernel_initializer = "identity", .name = "identity"})},
      options);
}

/// Trains on nothing new, and reports.
std::string report_of(const nn::Model& model, const nn::CompileOptions& compiled, const Tensor& x,
                      const Tensor& y, const nn::ReportOptions& options = {}) {
  const Files files;
  const std::string path = files.folder() + "/run/report.html";
  model.compile(compiled);
  model.fit(x, y,
            {.epochs = 2, .verbose = 0, .callbacks = {nn::Report(path, options)}, .validation_data = {x, y}});
  return read(path);
}

/// Learns nothing.
nn::CompileOptions still() {
  return {.optimizer = nn::SGD(0.0), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}};
}

}  // namespace

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

TEST_CASE("inputs that are images are shown") {
  nn::Sequential model({nn::Flatten(), nn::Dense(2, {.activation = "softmax"})});
  const Tensor y = ints({0, 1, 1});
  CHECK(count(report_of(model, still(), K::random_uniform({3, 8, 8, 3}), y, {.samples = 2}), "<img alt=") >=
        2);
  nn::Sequential gray({nn::Flatten(), nn::Dense(2, {.activation = "softmax"})});
  CHECK(contains(report_of(gray, still(), K::random_uniform({3, 8, 8}), y), "src=\"data:image/png;base64,"));
  nn::Sequential none({nn::Flatten(), nn::Dense(2, {.activation = "softmax"})});
  CHECK_FALSE(contains(report_of(none, still(), K::random_uniform({3, 8, 5}), y), "<img"));
}

TEST_CASE("classes are those of one-hot targets, of logits, and of one score, too") {
  const Tensor scores = K::constant({{2.f, 0.f, 0.f}, {0.f, 0.f, 3.f}});
  const std::string logits = report_of(
      same(), {.optimizer = nn::SGD(0.0), .loss = nn::CategoricalCrossentropy({.from_logits = true})}, scores,
      K::one_hot(ints({0, 1}), 3));
  CHECK(contains(logits, ">0</span> 78.7\u00a0%<"));          // e^2 / (e^2 + 2)
  CHECK(contains(logits, ">2</span> 90.9\u00a0%<br>is 1<"));  // e^3 / (e^3 + 2)
  nn::Sequential binary({nn::Rescaling(1.0)});
  const std::string page =
      report_of(binary, {.loss = "binary_crossentropy"}, K::constant({{0.9f}, {0.2f}, {0.6f}}),
                K::constant({{1.f}, {0.f}, {0.f}}));
  CHECK(contains(page, "2 of 3"));
  CHECK(contains(page, ">1</span> 60.0\u00a0%<br>is 0<"));
}

TEST_CASE("numbers are shown against their targets") {
  nn::Sequential model({nn::Rescaling(2.0)});
  const std::string page =
      report_of(model, {.loss = "mse"}, K::constant({{1.f}, {2.f}}), K::constant({{2.5f}, {3.5f}}));
  CHECK(contains(page, "Predictions against targets"));
  CHECK(contains(page, ">2.5, 2<"));
  CHECK_FALSE(contains(page, "Confusion"));
}

TEST_CASE("the report shows predictions of each output") {
  const Tensor in = nn::Input({3});
  const nn::Model model(
      in, {nn::Dense(1, {.name = "size"})(in), nn::Dense(3, {.activation = "softmax", .name = "kind"})(in)});
  model.compile({.optimizer = "sgd", .loss = {"mse", "sparse_categorical_crossentropy"}});
  const Files files;
  const Tensor x = K::random_uniform({20, 3});
  model.fit(x, {K::sum(x, 1, true), ints(std::vector<int>(20, 1))},
            {.validation_split = 0.5, .verbose = 0, .callbacks = {nn::Report(files.folder() + "/two.html")}});
  const std::string page = read(files.folder() + "/two.html");
  CHECK(contains(page, "<h2>Predictions: size</h2>"));
  CHECK(contains(page, "<h2>Predictions: kind</h2>"));
  CHECK(contains(page, "size: mean_squared_error") == false);
}

TEST_CASE("the page exists during the training, and reloads itself") {
  const Files files;
  const std::string path = files.folder() + "/report.html";
  std::string early;
  const nn::Report report(path);
  const nn::LambdaCallback look({.on_epoch_begin = [&](int, const nn::Logs&) { early = read(path); }});
  nn::Sequential model({nn::Dense(1)});
  model.compile({.loss = "mse"});
  model.fit(K::ones({4, 2}), K::ones({4, 1}), {.epochs = 3, .verbose = 0, .callbacks = {report, look}});
  CHECK(contains(early, "http-equiv=\"refresh\""));
  CHECK(contains(early, "Training: epoch 1 of 3"));
  const std::string page = read(path);
  CHECK(contains(page, "Trained for 3 epochs"));
  CHECK_FALSE(contains(page, "Predictions"));  // there are no validation data
  // Another training begins another page.
  model.fit(K::ones({4, 2}), K::ones({4, 1}), {.epochs = 1, .verbose = 0, .callbacks = {report}});
  CHECK(contains(read(path), "Trained for 1 epoch,"));
}

TEST_CASE("a training that was ended early, and one that diverged") {
  const Files files;
  const std::string path = files.folder() + "/report.html";
  nn::Sequential model({nn::Dense(1)});
  model.compile({.optimizer = nn::SGD(1e30), .loss = "mse"});
  model.fit(K::ones({64, 2}), K::zeros({64, 1}),
            {.epochs = 9, .verbose = 0, .callbacks = {nn::TerminateOnNaN(), nn::Report(path)}});
  const std::string page = read(path);
  CHECK(contains(page, "Ended after epoch 1 of 9"));
  CHECK(contains(page, "1 of 1 numbers is not finite"));
}

TEST_CASE("validation by a dataset, of some steps, in some of the epochs") {
  const Files files;
  const std::string path = files.folder() + "/report.html";
  const auto endless =
      data::Dataset::from_tensor_slices({K::random_uniform({10, 3}), ints(std::vector<int>(10, 1))})
          .batch(5)
          .repeat();
  const nn::Sequential model = same();
  model.compile(still());
  model.fit(endless, {.epochs = 3,
                      .verbose = 0,
                      .callbacks = {nn::Report(path)},
                      .validation_data = endless,
                      .steps_per_epoch = 2,
                      .validation_steps = 3,
                      .validation_freq = 2});
  const std::string page = read(path);
  CHECK(contains(page, "of 15"));
  CHECK(contains(page, ">validation: 2, "));
  CHECK_FALSE(contains(page, ">validation: 3, "));
}

TEST_CASE("names of the user are escaped") {
  nn::Sequential model({nn::Dense(1, {.name = "<b>"})}, {.name = "</title><script>"});
  model.compile({.loss = "mse",
                 .metrics = {nn::Metric("a&b", [](const Tensor&, const Tensor& p) { return K::mean(p); })}});
  const Files files;
  model.fit(K::ones({4, 2}), K::ones({4, 1}),
            {.verbose = 0, .callbacks = {nn::Report(files.folder() + "/a.htm")}});
  const std::string page = read(files.folder() + "/a.htm");
  CHECK(contains(page, "a&amp;b"));
  CHECK(contains(page, "&lt;b&gt; (Dense)"));
  CHECK_FALSE((contains(page, "<script") || contains(page, "<b> (")));
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
  const std::string page = read(path);
  CHECK(contains(page, "Trained for 4 epochs"));
  CHECK(contains(page, "<tr><td>1</td>"));
}

TEST_CASE("reports that cannot be written say so") {
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

TEST_CASE("a schedule is told line by line, not as JSON") {
  const Files files;
  const nn::Sequential model({nn::Input({2}), nn::Dense(1)});
  model.compile(
      {.optimizer = nn::SGD(nn::PiecewiseConstantDecay({10, 20}, {0.1, 0.01, 0.001})), .loss = "mse"});
  model.fit(K::ones({2, 2}), K::ones({2, 1}),
            {.verbose = 0, .callbacks = {nn::Report(files.folder() + "/r.html")}});
  const std::string page = read(files.folder() + "/r.html");
  CHECK(contains(page, ">PiecewiseConstantDecay\nboundaries: 10, 20\nvalues: 0.1, 0.01, 0.001<"));
  CHECK_FALSE(contains(page, "class_name"));
}

TEST_CASE("a deep model is drawn in columns, and a model in the model for itself") {
  const Files files;
  const nn::Sequential inner({nn::Input({2}), nn::Dense(2, {.name = "inside"})}, {.name = "inner"});
  nn::Sequential deep({nn::Input({2}), inner});
  for (int i = 0; i < 30; ++i) deep.add(nn::Dense(2));
  deep.compile({.optimizer = "sgd", .loss = "mse"});
  deep.fit(K::ones({2, 2}), K::ones({2, 2}),
           {.verbose = 0, .callbacks = {nn::Report(files.folder() + "/r.html")}});
  const std::string page = read(files.folder() + "/r.html");
  const std::size_t at = page.find("<div class=\"card columns\">");
  const std::string drawing = page.substr(at, page.find("</div>", at) - at);
  CHECK(count(drawing, "<svg") == 5);
  CHECK(count(drawing, "<rect x=") == 32);  // each box once: none is cut
  CHECK(count(page, "<div class=\"card columns\">") == 2);
  CHECK(contains(page, ">inside</text>"));
}
