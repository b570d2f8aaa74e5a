#include <ktape/nn/training/internal/loop.hpp>

#include "../../captured_stderr.hpp"
#include "../line.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;

namespace {

/// A callback that records the events it receives.
struct SeenImpl : nn::CallbackImpl {
  std::vector<std::string>& seen;
  std::string name;
  bool last, writes;
  int count = 0;
  SeenImpl(std::vector<std::string>& seen, std::string name, bool last = false, bool writes = false)
      : seen(seen), name(std::move(name)), last(last), writes(writes) {}
  std::string class_name() const override { return "Seen"; }
  bool comes_last() const override { return last; }
  bool writes_files() const override { return writes; }
  void on_test_begin(const nn::Logs&) override { seen.push_back(name + " begin"); }
  void on_test_batch_begin(std::int64_t batch, const nn::Logs&) override {
    seen.push_back(name + " batch " + std::to_string(batch));
  }
  void on_test_batch_end(std::int64_t, const nn::Logs& logs) override {
    seen.push_back(name + (logs.contains("loss") ? " loss" : " nothing"));
  }
  void on_test_end(const nn::Logs&) override { seen.push_back(name + " end"); }
  void report(nn::Logs& logs) override { logs.set(name, ++count); }
  void state(nn::Archive& state) override { state("count", count); }
};
using Seen = nn::CallbackOf<SeenImpl>;
using Events = std::vector<std::string>;

constexpr nn::RunParameters quiet{.verbose = 0};

}  // namespace

TEST_CASE("callbacks receive events in order; some callbacks come last") {
  Events seen;
  const nn::CallbackList list(linear_model(), {Seen(seen, "a", true), Seen(seen, "b"), Seen(seen, "c")},
                              quiet);
  list.tell(&nn::CallbackImpl::on_test_begin, nn::Logs());
  CHECK(seen == Events{"b begin", "c begin", "a begin"});
  nn::Logs logs{{"loss", 1}};
  list.report(logs);
  CHECK(logs == nn::Logs{{"loss", 1}, {"b", 1}, {"c", 1}, {"a", 1}});
}

TEST_CASE("a process that is not the first leaves out callbacks that write files") {
  Events seen;
  const std::vector<nn::Callback> callbacks{Seen(seen, "writer", false, true), Seen(seen, "reader")};
  const nn::CallbackList other(linear_model(), callbacks, {.verbose = 1, .first = false});
  other.tell(&nn::CallbackImpl::on_test_begin, nn::Logs());
  CHECK(seen == Events{"reader begin"});
}

TEST_CASE(
    "states of callbacks are named by class and number; a callback without a saved state starts from the "
    "beginning") {
  Events seen;
  nn::Logs logs;
  const Seen a(seen, "a"), b(seen, "b");
  const nn::CallbackList list(linear_model(), {a, b}, quiet);
  list.report(logs), list.report(logs);
  nn::Archive archive;
  list.state(archive);
  REQUIRE(archive.entries().size() == 2);
  CHECK(archive.entries()[0].first == "Seen_0/count");
  CHECK(archive.entries()[1].first == "Seen_1/count");

  const Seen c(seen, "c"), d(seen, "d"), e(seen, "e");
  nn::Archive kept(archive.entries());
  nn::CallbackList(linear_model(), {c, d, e}, quiet).state(kept);
  CHECK(c->count == 2);
  CHECK(d->count == 2);
  CHECK(e->count == 0);
}

TEST_CASE("data that end too early are a warning") {
  std::string text;
  {
    const CapturedStderr captured;
    const nn::CallbackList list(linear_model(), {}, {.verbose = 1});
    list.warn_of_end("evaluate", "steps", 5, 1);
    list.warn_of_end("fit", "steps_per_epoch", 5, 3);
    text = captured.text();
  }
  CHECK(text.find("[evaluate] your input ran out of data: received steps=5, but only 1 batch; make sure") !=
        std::string::npos);
  CHECK(text.find("[fit] your input ran out of data: received steps_per_epoch=5, but only 3 batches; ") !=
        std::string::npos);
}

TEST_CASE("arrays must have samples, and datasets refuse options for arrays") {
  nn::expect_samples("fit", nn::ArrayAdapter("fit", {.x = {K::ones({1, 2})}, .y = {}}, 32));
  CHECK_THROWS_WITH_AS(
      nn::expect_samples("fit", nn::ArrayAdapter("fit", {.x = {K::ones({0, 2})}, .y = {}}, 32)),
      "[fit] there must be samples: received arrays of none", ValueError);
  nn::expect_dataset_options("fit", {});
  CHECK_THROWS_WITH_AS(
      nn::expect_dataset_options("fit", 8),
      Contains("[fit] batch_size must go with arrays, for the elements of a dataset are batches: "
               "received batch_size=8 and a dataset"),
      ValueError);
  CHECK_THROWS_WITH_AS(nn::expect_dataset_options("fit", {}, {K::ones({3})}),
                       Contains("[fit] sample_weight must go with arrays"), ValueError);
}

TEST_CASE("an evaluation runs over all or some batches, calls callbacks, and records nothing") {
  const Line line;
  const nn::Sequential model = linear_model();
  model.build({ktape::None, 2});
  Events seen;
  const nn::CallbackList list(model, {Seen(seen, "c")}, quiet);
  nn::ArrayAdapter source("evaluate", {.x = {line.x}, .y = {line.y}}, 40);
  const nn::Logs all = nn::test_epoch(model.impl(), source, {"evaluate", "steps", {}}, list);
  CHECK(seen == Events{"c begin", "c batch 0", "c loss", "c batch 1", "c loss", "c end"});
  CHECK(all["loss"] == doctest::Approx(K::mean(K::square(line.y)).item<double>()));
  CHECK(ktape::tape().size() == 0);
  const nn::Logs first = nn::test_epoch(model.impl(), source, {"evaluate", "steps", 1}, list);
  CHECK(first["loss"] == doctest::Approx(K::mean(K::square(line.y[{ktape::Slice(0, 40)}])).item<double>()));
  CHECK(nn::test_epoch(model.impl(), source, {"evaluate", "steps", 3}, list) == all);
}
