#include "../../close.hpp"
#include "../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;
using ktape::data::Dataset, ktape::data::Element;
using Names = std::vector<std::string>;

// Models that are given their data by name.
namespace {

/// Inputs "title" and "body", outputs "priority" and "department", with fixed initial weights.
nn::Model tickets() {
  const Tensor title = nn::Input({3}, {.name = "title"}), body = nn::Input({4}, {.name = "body"});
  const Tensor x = nn::Concatenate()({title, body});
  const auto head = [&](int units, const char* name) {
    return nn::Dense(units, {.kernel_initializer = nn::GlorotUniform({.seed = 1}), .name = name})(x);
  };
  const nn::Model model({title, body}, {head(1, "priority"), head(2, "department")}, {.name = "tickets"});
  model.compile({.optimizer = nn::SGD(0.1),
                 .loss = {{"priority", "mse"}, {"department", "mae"}},
                 .metrics = {{"priority", {"mae"}}}});
  return model;
}

void check_same(const nn::Logs& got, const nn::Logs& want) {
  REQUIRE(got.size() == want.size());
  for (const auto& [given_name, value] : want) {
    const auto& name = given_name;
    CAPTURE(name);
    CHECK(got.at(name) == doctest::Approx(value));
  }
}

/// Returns the weights after a training of two epochs.
template <class... Arguments>
std::vector<double> trained(nn::FitOptions options, const Arguments&... arguments) {
  const nn::Model model = tickets();
  options.epochs = 2, options.verbose = 0, options.shuffle = false;
  model.fit(arguments..., options);
  std::vector<double> all;
  for (const Tensor& weight : model.get_weights())
    for (const double value : values(weight)) all.push_back(value);
  return all;
}

struct Data {
  const Tensor t = normal({8, 3}, 1, "float32"), b = normal({8, 4}, 2, "float32"),
               p = normal({8, 1}, 3, "float32"), d = normal({8, 2}, 4, "float32");
  const Tensor w = K::constant({0.f, 1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f});
  const nn::NamedTensors x_named{{"body", b}, {"title", t}}, y_named{{"department", d}, {"priority", p}};
  const nn::NamedTensors x_listed{t, b}, y_listed{p, d};
};

}  // namespace

TEST_CASE_FIXTURE(Data, "inputs, targets and weights may come by name, in any order") {
  const nn::Model model = tickets();
  check_same(
      model.evaluate({{"body", b}, {"title", t}}, {{"department", d}, {"priority", p}}, {.verbose = 0}),
      model.evaluate({t, b}, {p, d}, {.verbose = 0}));
  const nn::Prediction named = model.predict({{"body", b}, {"title", t}}, {.verbose = 0}),
                       listed = model.predict({t, b}, {.verbose = 0});
  for (std::size_t i : {0, 1}) CHECK(values(named.outputs()[i]) == values(listed.outputs()[i]));
  CHECK(values(model.predict_on_batch({{"body", b}, {"title", t}})[1]) == values(listed.outputs()[1]));
  // A plan may have made the prediction.
  CHECK(close(model.apply({{"body", b}, {"title", t}})[0], listed.outputs()[0], {.rtol = 1e-5}));
  const nn::Model priority(model.inputs(), model.outputs()[0]);
  CHECK(values(priority({{"body", b}, {"title", t}})) == values(priority({t, b})));
  CHECK(values(priority(x_named)) == values(priority(x_listed)));
  check_same(model.test_on_batch({{"body", b}, {"title", t}}, {{"department", d}, {"priority", p}}),
             model.test_on_batch({t, b}, {p, d}));
  CHECK(trained({}, x_named, y_named) == trained({}, x_listed, y_listed));
  check_same(tickets().train_on_batch({{"body", b}, {"title", t}}, {{"department", d}, {"priority", p}}),
             tickets().train_on_batch({t, b}, {p, d}));
}

TEST_CASE_FIXTURE(Data, "weights by name go with some of the outputs") {
  const Tensor ones = K::ones({8});
  CHECK(trained({.sample_weight = {{"department", w}}}, x_named, y_named) ==
        trained({.sample_weight = {ones, w}}, x_listed, y_listed));
  const nn::Model model = tickets();
  check_same(model.evaluate({t, b}, {p, d}, {.verbose = 0, .sample_weight = {{"priority", w}}}),
             model.evaluate({t, b}, {p, d}, {.verbose = 0, .sample_weight = {w, ones}}));
  check_same(model.test_on_batch({t, b}, {p, d}, {.sample_weight = {{"priority", w}}}),
             model.test_on_batch({t, b}, {p, d}, {.sample_weight = {w, ones}}));
}

TEST_CASE_FIXTURE(Data, "weights of classes go with one output by name, times its weights of samples") {
  const Tensor classes = ints({0, 1, 1, 0, 1, 0, 0, 1}, "int64");
  const Tensor of_classes = K::constant({1.f, 5.f, 5.f, 1.f, 5.f, 1.f, 1.f, 5.f}), ones = K::ones({8});
  const auto logs = [&](const nn::OnBatchOptions& options) {
    const nn::Model model = tickets();
    model.compile({.optimizer = "sgd",
                   .loss = {{"priority", "mse"}, {"department", "sparse_categorical_crossentropy"}}});
    return model.train_on_batch({t, b}, {p, classes}, options);
  };
  check_same(logs({.class_weight = {{"department", {{1, 5}}}}}), logs({.sample_weight = {ones, of_classes}}));
  check_same(logs({.sample_weight = w, .class_weight = {{"department", {{1, 5}}}}}),
             logs({.sample_weight = {w, w * of_classes}}));
  check_same(logs({.sample_weight = {{"priority", w}}, .class_weight = {{"department", {{1, 5}}}}}),
             logs({.sample_weight = {w, of_classes}}));
  CHECK_THROWS_WITH_AS(
      logs({.class_weight = {{"departement", {{1, 5}}}}}),
      Contains("[train_on_batch] class_weight must name outputs of 'tickets', 'priority' and "
               "'department': received 'departement'"),
      ValueError);
  CHECK_THROWS_WITH_AS(
      logs({.class_weight = {{1, 5}}}),
      Contains("class_weight must go with targets of one output, or name outputs: received targets "
               "of 2"),
      ValueError);
}

TEST_CASE_FIXTURE(Data, "validation data, and the samples that are split off, keep their names") {
  const auto history = [&](const nn::NamedTensors& x, const nn::NamedTensors& y, nn::FitOptions options) {
    options.verbose = 0, options.shuffle = false;
    return tickets().fit(x, y, options);
  };
  const nn::History split = history(x_named, y_named, {.validation_split = 0.25}),
                    split_listed = history(x_listed, y_listed, {.validation_split = 0.25});
  CHECK(split["val_loss"] == split_listed["val_loss"]);
  CHECK(split["val_priority_mae"] == split_listed["val_priority_mae"]);
  const nn::History validated =
      history(x_named, y_named,
              {.validation_data = {
                   {{"title", t}, {"body", b}}, {{"priority", p}, {"department", d}}, {{"priority", w}}}});
  const nn::History listed =
      history(x_listed, y_listed, {.validation_data = {{t, b}, {p, d}, {w, K::ones({8})}}});
  CHECK(validated["val_loss"] == listed["val_loss"]);
}

TEST_CASE_FIXTURE(Data, "an output without a loss needs no targets") {
  const nn::Model model = tickets();
  model.compile({.optimizer = "sgd", .loss = {{"department", "mse"}}});
  const nn::Logs named = model.evaluate({t, b}, {{"department", d}}, {.verbose = 0});
  CHECK(named["loss"] == model.evaluate({t, b}, d, {.verbose = 0})["loss"]);
  const nn::Logs weighed =
      model.evaluate({t, b}, {{"department", d}}, {.verbose = 0, .sample_weight = {{"department", w}}});
  CHECK(weighed["loss"] == model.evaluate({t, b}, d, {.verbose = 0, .sample_weight = w})["loss"]);
}

TEST_CASE_FIXTURE(
    Data,
    "names that a model does not have, and those that are missing, are errors that tell the known ones") {
  const nn::Model model = tickets();
  CHECK_THROWS_WITH_AS(model.predict({{"title", t}, {"text", b}}, {.verbose = 0}),
                       "[predict] x must name inputs of 'tickets', 'title' and 'body': received 'text'",
                       ValueError);
  CHECK_THROWS_WITH_AS(
      model.predict({{"title", t}}, {.verbose = 0}),
      "[predict] x must have each of the inputs 'title' and 'body' of 'tickets': received none for 'body'",
      ValueError);
  CHECK_THROWS_WITH_AS(
      model.fit({t, b}, {{"priority", p}, {"urgency", d}}),
      "[fit] y must name outputs of 'tickets', 'priority' and 'department': received 'urgency'", ValueError);
  CHECK_THROWS_WITH_AS(model.fit({t, b}, {{"priority", p}}),
                       "[fit] y must have targets for each output of 'tickets' that has a loss: received "
                       "none for 'department'",
                       ValueError);
  CHECK_THROWS_WITH_AS(model.evaluate({t, b}, {p, d}, {.sample_weight = {{"title", w}}}),
                       Contains("[evaluate] sample_weight must name outputs of 'tickets'"), ValueError);
  CHECK_THROWS_WITH_AS((model({{"title", t}, {"text", b}})), Contains("[call] x must name inputs"),
                       ValueError);
  CHECK_THROWS_WITH_AS(model.predict({t}, {.verbose = 0}),
                       Contains("one array for each of the inputs 'title' and 'body'"), ValueError);
  const nn::Sequential chain({nn::Dense(1)}, {.name = "chain"});
  CHECK_THROWS_WITH_AS(
      chain.predict({{"x", t}}, {.verbose = 0}),
      "[predict] x by name must go with a model whose inputs have names, as those of a functional "
      "model, or of a class that overrides input_names: received 'x' for 'chain'",
      ValueError);
}

TEST_CASE_FIXTURE(Data, "elements of a dataset find their inputs, targets and weights by name") {
  const Dataset flat =
      Dataset::from_tensor_slices({{"department", d}, {"body", b}, {"priority", p}, {"title", t}}).batch(4);
  const std::vector<double> want = trained({.batch_size = 4}, x_listed, y_listed);
  CHECK(trained({}, flat) == want);
  CHECK(trained({}, Dataset::from_tensor_slices(x_named, y_named).batch(4)) == want);
  CHECK(trained({}, Dataset::from_tensor_slices(x_named, y_listed).batch(4)) == want);
  CHECK(trained({}, Dataset::zip({Dataset::from_tensor_slices(x_named), Dataset::from_tensor_slices(y_named)})
                        .batch(4)) == want);
  CHECK(trained({}, flat.map([](Element e) {
          e["title"] = e["title"] * 1.f;
          return e;
        })) == want);
  const std::vector<double> weighed =
      trained({.batch_size = 4, .sample_weight = {w, K::ones({8})}}, x_listed, y_listed);
  CHECK(trained({}, Dataset::from_tensor_slices(x_named, y_named, {{"priority", w}}).batch(4)) == weighed);
  const nn::Model model = tickets();
  CHECK(values(model.predict(flat, {.verbose = 0}).outputs()[1]) ==
        values(model.predict(x_listed, {.verbose = 0}).outputs()[1]));
  check_same(model.evaluate(flat, {.verbose = 0}), model.evaluate(x_listed, y_listed, {.verbose = 0}));
  CHECK(model.fit(flat, {.verbose = 0, .validation_data = flat}).contains("val_loss"));
  const Dataset wrong =
      Dataset::from_tensor_slices({{"title", t}, {"body", b}, {"priority", p}, {"urgency", d}}).batch(4);
  CHECK_THROWS_WITH_AS(
      model.fit(wrong, {.verbose = 0}),
      "[fit] elements must name inputs and outputs of 'tickets', 'title' and 'body' and 'priority' and "
      "'department': received 'urgency'",
      ValueError);
  const Dataset less =
      Dataset::from_tensor_slices({{"title", t}, {"priority", p}, {"department", d}}).batch(4);
  CHECK_THROWS_WITH_AS(model.fit(less, {.verbose = 0}), Contains("received none for 'body'"), ValueError);
}

TEST_CASE_FIXTURE(Data, "a batch tells the names, however the data came") {
  struct SeenImpl : nn::FunctionalImpl {
    using nn::FunctionalImpl::FunctionalImpl;
    std::vector<nn::Batch> seen;
    nn::Logs train_step(const nn::Batch& batch) override {
      seen.push_back(batch);
      return nn::FunctionalImpl::train_step(batch);
    }
  };
  const nn::Model like = tickets();
  const nn::ModelOf<SeenImpl> model(like.inputs(), like.outputs());
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.train_on_batch(x_listed, y_listed, {.sample_weight = {w, w}});
  model.train_on_batch(x_named, y_named);
  model.fit(Dataset::from_tensor_slices({t, b, p, d}).batch(8), {.verbose = 0});
  REQUIRE(model->seen.size() == 3);
  for (const nn::Batch& batch : model->seen) {
    CHECK(values(batch.x["body"]) == values(b));
    CHECK(values(batch.y["department"]) == values(d));
    CHECK(batch.x.names() == Names{"title", "body"});
    CHECK(batch.y.names() == Names{"priority", "department"});
  }
  CHECK(values(model->seen[0].sample_weight["department"]) == values(w));
}

TEST_CASE_FIXTURE(Data, "a named target goes with the mask of its output") {
  const Tensor words = nn::Input({4}, {.name = "words"});
  const Tensor tags = nn::Dense(1, {.kernel_initializer = "ones", .name = "tags"})(
      nn::Embedding(5, 2, {.embeddings_initializer = "ones", .mask_zero = true})(words));
  const nn::Model model(words, {tags, nn::Dense(1, {.name = "other"})(words)});
  model.compile({.optimizer = "sgd", .loss = {{"tags", "mae"}}});
  const Tensor x = K::constant({{1.f, 2.f, 0.f, 0.f}, {1.f, 1.f, 1.f, 0.f}}), y = K::zeros({2, 4, 1});
  CHECK(model.evaluate({{"words", x}}, {{"tags", y}}, {.verbose = 0})["loss"] == 2);
  const Tensor w = K::constant({{1.f, 0.f, 1.f, 1.f}, {0.f, 0.f, 1.f, 1.f}});
  CHECK(
      model.evaluate({{"words", x}}, {{"tags", y}}, {.verbose = 0, .sample_weight = {{"tags", w}}})["loss"] ==
      model.evaluate(x, y, {.verbose = 0, .sample_weight = w})["loss"]);
}

namespace {

struct SumImpl : nn::ModelImpl {
  nn::Dense left = add_layer(nn::Dense(1, {.kernel_initializer = "ones"}));
  nn::Dense right = add_layer(nn::Dense(1, {.kernel_initializer = "zeros"}));
  Tensor call(const std::vector<Tensor>& x) { return left(x[0]) + right(x[1]); }
};
struct NamedSumImpl : SumImpl {
  std::vector<std::string> input_names() const override { return {"title", "body"}; }
  std::vector<std::string> output_names() const override { return {"priority"}; }
};

template <class Impl>
nn::Model compiled() {
  const nn::ModelOf<Impl> model;
  model.compile({.optimizer = nn::SGD(0.1), .loss = "mse"});
  return model;
}

double loss_of(const nn::Model& model, const Dataset& dataset) {
  return model.fit(dataset, {.verbose = 0})["loss"][0];
}

}  // namespace

TEST_CASE_FIXTURE(Data, "a model class of several inputs trains on datasets") {
  const double want = compiled<SumImpl>().fit({t, b}, p, {.verbose = 0, .shuffle = false})["loss"][0];
  const Dataset parts = Dataset::from_tensor_slices({t, b}, p).batch(8),
                flat = Dataset::from_tensor_slices({t, b, p}).batch(8);
  CHECK(loss_of(compiled<SumImpl>(), parts) == want);
  CHECK(
      loss_of(compiled<SumImpl>(),
              Dataset::zip({Dataset::from_tensor_slices({t, b}), Dataset::from_tensor_slices(p)}).batch(8)) ==
      want);
  // The number of inputs is known for a model that is built or declares the names of its inputs.
  const nn::Model built = compiled<SumImpl>();
  built.apply({t, b});
  CHECK(loss_of(built, flat) == want);
  CHECK(loss_of(compiled<NamedSumImpl>(), flat) == want);
  const Dataset weighed = Dataset::from_tensor_slices({t, b, p, w}).batch(8);
  CHECK(loss_of(compiled<NamedSumImpl>(), weighed) ==
        compiled<SumImpl>().fit({t, b}, p, {.verbose = 0, .shuffle = false, .sample_weight = w})["loss"][0]);
  CHECK(loss_of(compiled<SumImpl>(), Dataset::from_tensor_slices({t, b}, p, w).batch(8)) ==
        loss_of(compiled<NamedSumImpl>(), weighed));
  const nn::Model model = compiled<SumImpl>();
  loss_of(model, parts);
  CHECK(values(model.predict(parts, {.verbose = 0})) == values(model.predict({t, b}, {.verbose = 0})));
  CHECK(values(model.predict(Dataset::from_tensor_slices({t, b}).batch(8), {.verbose = 0})) ==
        values(model.predict({t, b}, {.verbose = 0})));
  CHECK(model.evaluate(flat, {.verbose = 0})["loss"] == model.evaluate({t, b}, p, {.verbose = 0})["loss"]);
  CHECK_THROWS_WITH_AS(loss_of(compiled<SumImpl>(), flat),
                       Contains("the number of inputs among the 3 tensors of an element must be known"),
                       ValueError);
}

TEST_CASE_FIXTURE(Data, "a model class with names takes its data by them") {
  const double want = compiled<SumImpl>().fit({t, b}, p, {.verbose = 0, .shuffle = false})["loss"][0];
  CHECK(compiled<NamedSumImpl>().fit({{"body", b}, {"title", t}}, {{"priority", p}},
                                     {.verbose = 0})["loss"][0] == doctest::Approx(want));
  CHECK(loss_of(compiled<NamedSumImpl>(),
                Dataset::from_tensor_slices({{"priority", p}, {"body", b}, {"title", t}}).batch(8)) ==
        doctest::Approx(want));
  CHECK_THROWS_WITH_AS(compiled<SumImpl>().fit({{"body", b}, {"title", t}}, p, {.verbose = 0}),
                       Contains("[fit] x by name must go with a model whose inputs have names"), ValueError);
}
