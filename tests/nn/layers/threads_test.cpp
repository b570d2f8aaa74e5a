#include "../../in_threads.hpp"

#include <ktape/ktape.hpp>

#include <atomic>
#include <set>

#include "../../close.hpp"
#include "../../ops/check.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor, ktape::ValueError;

namespace {

constexpr int threads = 8;

/// Returns its input, and reports the sum.
struct ReportImpl : nn::LayerImpl {
  explicit ReportImpl(const nn::LayerOptions& options = {}) : LayerImpl("Report", options) {}
  Tensor call(const Tensor& x) override {
    add_loss(K::sum(x));
    add_metric(K::sum(x), "sum");
    return x;
  }
};
using Report = nn::LayerOf<ReportImpl>;

/// Two layers, which call each other's parts only when they are called themselves.
struct LateImpl : nn::ModelImpl {
  nn::Dense shared, own{3};
  explicit LateImpl(const nn::Dense& shared) : ModelImpl("Late"), shared(shared) {}
  Tensor call(const Tensor& x) override { return own(shared(x)); }
};
using Late = nn::ModelOf<LateImpl>;

/// A layer with weights whose call refuses negative inputs.
struct PositiveImpl : nn::ModelImpl {
  nn::Dense dense{2, {.kernel_initializer = "ones"}};
  PositiveImpl() : ModelImpl("Positive") {}
  Tensor call(const Tensor& x) override {
    const Tensor y = dense(x);
    if (K::min(x).item() < 0) ktape::fail("[Positive] x must be positive: received a negative number");
    return y;
  }
};
using Positive = nn::ModelOf<PositiveImpl>;

Tensor filled(double value, const ktape::Shape& shape = {2, 4}) { return K::ones(shape) * value; }

}  // namespace

TEST_CASE("each thread has the losses of the calls that it made") {
  const nn::Sequential model({Report(), nn::Dense(2, {.activity_regularizer = "l2"}), Report()});
  in_threads(threads, [&](int i) {
    for (int call = 0; call < 20; ++call) {
      const Tensor x = filled(i + call);
      const Tensor y = model(x);
      const std::vector<Tensor> losses = model.losses();
      REQUIRE(losses.size() == 3);
      CHECK(losses[0].item() == 8 * (i + call));
      CHECK(close(losses[2], K::sum(y)));
    }
  });
  CHECK(model.losses().empty());  // this thread has not called the model
}

TEST_CASE("losses are those of the last call, which may have added none") {
  struct SometimesImpl : nn::LayerImpl {
    SometimesImpl() : LayerImpl("Sometimes") {}
    Tensor call(const Tensor& x, const nn::CallArguments& arguments) override {
      if (training(arguments)) add_loss(K::sum(x));
      return x;
    }
  };
  const nn::Sequential model({nn::LayerOf<SometimesImpl>()});
  model(filled(1), {.training = true});
  CHECK(model.losses().size() == 1);
  model(filled(1), {.training = false});
  CHECK(model.losses().empty());
}

TEST_CASE("losses end with their layer, and with their thread") {
  const std::size_t before = ktape::tape().size();
  {
    const Report report;
    report(ktape::Variable(filled(1)).value() * 2);
    CHECK(report.losses().size() == 1);
    CHECK(ktape::tape().size() > before);
  }
  CHECK(ktape::tape().size() == before);
  const std::int64_t live = ktape::memory_stats().live_bytes;
  const auto report = std::make_unique<Report>();
  std::thread([&] { (*report)(filled(1)); }).join();
  CHECK(ktape::memory_stats().live_bytes == live);
}

TEST_CASE("the first calls of threads build a layer once") {
  for (int round = 0; round < 10; ++round) {
    const nn::Dense shared(4);
    const Late one(shared), other(shared);
    const nn::Sequential chain({one, nn::Dense(2), nn::LayerNormalization()});
    const Tensor x = filled(0.5);
    std::vector<Tensor> results(threads);
    in_threads(threads, [&](int i) { results[i] = i % 2 == 0 ? chain(x) : other(x); });
    CHECK(chain.weights().size() == 8);
    CHECK(other.weights().size() == 4);
    for (int i = 0; i < threads; ++i) CHECK(close(results[i], i % 2 == 0 ? chain(x) : other(x)));
  }
}

TEST_CASE("threads build by build() and by calls") {
  const nn::LSTM layer(3);
  in_threads(threads, [&](int i) {
    if (i % 2 == 0) layer.build({ktape::None, 5, 4});
    else layer(filled(1, {2, 5, 4}));
    CHECK(layer.built());
    CHECK(layer.count_params() == 4 * 3 * (4 + 3 + 1));
  });
}

TEST_CASE("a first call that fails takes nothing from the threads that call after it") {
  for (int round = 0; round < 10; ++round) {
    const Positive model;
    std::atomic<int> failed = 0;
    in_threads(threads, [&](int i) {
      try {
        const Tensor y = model(filled(i % 2 == 0 ? 1 : -1));
        CHECK(y.item(0, 0) == 4);
      } catch (const ValueError&) {
        ++failed;
      }
    });
    CHECK(failed == threads / 2);
    CHECK(model.weights().size() == 2);
  }
}

TEST_CASE("layers that a call makes or calls first become part of the caller, whichever thread is first") {
  struct MakerImpl : nn::LayerImpl {
    nn::Dense rare{2};
    MakerImpl() : LayerImpl("Maker") {}
    Tensor call(const Tensor& x) override {
      const Tensor y = nn::Dense(3)(x);
      return x[{0, 0}].item() > 4 ? rare(y) : y;
    }
  };
  const nn::LayerOf<MakerImpl> layer;
  in_threads(threads, [&](int i) {
    for (int call = 0; call < 10; ++call) {
      layer(filled(i));
      CHECK(layer.weights().size() >= 2);
    }
  });
  layer(filled(0));
  CHECK(layer.weights().size() == 4);
}

TEST_CASE("layers with a seed give each call its own numbers, in whatever order threads call") {
  const nn::Dropout dropout(0.5, {.seed = 1});
  std::vector<std::vector<Values>> drawn(threads);
  in_threads(threads, [&](int i) {
    for (int call = 0; call < 5; ++call)
      drawn[i].push_back(values(dropout(filled(1, {8, 16}), {.training = true})));
  });
  std::set<Values> different;
  for (const auto& calls : drawn) different.insert(calls.begin(), calls.end());
  CHECK(different.size() == threads * 5);
}

TEST_CASE("a stateful layer keeps the state of one of the threads' calls") {
  const nn::LSTM layer(2, {.stateful = true});
  layer(filled(1, {2, 3, 4}));
  in_threads(threads, [&](int i) {
    for (int call = 0; call < 10; ++call) {
      layer(filled(i, {2, 3, 4}));
      CHECK(nn::RecurrentLayer(layer).states().size() == 2);
    }
  });
}

TEST_CASE("threads make graphs of one layer, and let go of them") {
  const nn::Dense layer(3);
  const Tensor first = layer(nn::Input({4}));
  in_threads(threads, [&](int) {
    for (int round = 0; round < 20; ++round) {
      const Tensor in = nn::Input({4});
      const nn::Model model(in, layer(in));
      CHECK(layer.output_at(0).shape() == ktape::Shape({ktape::None, 3}));
      CHECK(model(filled(1)).shape() == ktape::Shape({2, 3}));
    }
  });
  CHECK_THROWS_AS(layer.output_at(1), ValueError);
}
