#include <ktape/ktape.hpp>
#include <ktape/nn/callbacks/report/internal/report_page.hpp>

#include "../../../../ops/check.hpp"
#include "../pages.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor;

TEST_CASE("the page of a run without epochs has its title, its state and the model") {
  const nn::Sequential model({nn::Input({2}), nn::Dense(3, {.name = "scores"})}, {.name = "small"});
  model.compile({.optimizer = nn::SGD(0.5), .loss = "mse"});
  nn::Run run{
      .title = "Cats & dogs", .began = "1 May", .model = model, .parameters = {.epochs = 4, .steps = 9}};
  const std::string page = nn::report_page(run);
  for (const char* text : {"<title>Cats &amp; dogs</title>", "Training: epoch 1 of 4, begun 1 May<",
                           "http-equiv=\"refresh\"", "<h3>small</h3>", ">scores (Dense)<", ">9 (36.00 B)<",
                           "<tr><th>steps in an epoch</th><td class=value>9</td></tr>", "<h3>SGD</h3>",
                           "<tr><th>learning_rate</th><td class=value>0.5</td></tr>"})
    CHECK_MESSAGE(contains(page, text), std::string(text));
  CHECK_FALSE(contains(page, "<h2>Curves</h2>"));
  run.ended = true;
  CHECK(contains(nn::report_page(run), "Ended after epoch 0 of 4, begun 1 May<"));
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

TEST_CASE("names of the user are escaped") {
  nn::Sequential model({nn::Dense(1, {.name = "<b>"})}, {.name = "</title><script>"});
  model.compile({.loss = "mse",
                 .metrics = {nn::Metric("a&b", [](const Tensor&, const Tensor& p) { return K::mean(p); })}});
  const Files files;
  model.fit(K::ones({4, 2}), K::ones({4, 1}),
            {.verbose = 0, .callbacks = {nn::Report(files.folder() + "/a.htm")}});
  const std::string page = page_in(files.folder() + "/a.htm");
  CHECK(contains(page, "a&amp;b"));
  CHECK(contains(page, "&lt;b&gt; (Dense)"));
  CHECK_FALSE((contains(page, "<script") || contains(page, "<b> (")));
}

TEST_CASE("a schedule is shown line by line, not as JSON") {
  const Files files;
  const nn::Sequential model({nn::Input({2}), nn::Dense(1)});
  model.compile(
      {.optimizer = nn::SGD(nn::PiecewiseConstantDecay({10, 20}, {0.1, 0.01, 0.001})), .loss = "mse"});
  model.fit(K::ones({2, 2}), K::ones({2, 1}),
            {.verbose = 0, .callbacks = {nn::Report(files.folder() + "/r.html")}});
  const std::string page = page_in(files.folder() + "/r.html");
  CHECK(contains(page, ">PiecewiseConstantDecay\nboundaries: 10, 20\nvalues: 0.1, 0.01, 0.001<"));
  CHECK_FALSE(contains(page, "class_name"));
}

TEST_CASE("a deep model is drawn in columns, and an inner model separately") {
  const Files files;
  const nn::Sequential inner({nn::Input({2}), nn::Dense(2, {.name = "inside"})}, {.name = "inner"});
  nn::Sequential deep({nn::Input({2}), inner});
  for (int i = 0; i < 30; ++i) deep.add(nn::Dense(2));
  deep.compile({.optimizer = "sgd", .loss = "mse"});
  deep.fit(K::ones({2, 2}), K::ones({2, 2}),
           {.verbose = 0, .callbacks = {nn::Report(files.folder() + "/r.html")}});
  const std::string page = page_in(files.folder() + "/r.html");
  const std::size_t at = page.find("<div class=\"card columns\">");
  const std::string drawing = page.substr(at, page.find("</div>", at) - at);
  CHECK(count(drawing, "<svg") == 5);
  CHECK(count(drawing, "<rect x=") == 32);  // each box once: none is cut
  CHECK(count(page, "<div class=\"card columns\">") == 2);
  CHECK(contains(page, ">inside</text>"));
}
