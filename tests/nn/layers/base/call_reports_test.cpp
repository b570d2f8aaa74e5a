#include "../../../ops/check.hpp"

#include <ktape/nn/layers/base/call_reports.hpp>
#include <ktape/nn/layers/core/core.hpp>
#include <ktape/nn/layers/core/input.hpp>

#include <optional>
#include <thread>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor;
using nn::CallReports;

namespace {

/// Runs f in a thread that has no reports yet.
template <class F>
void in_new_thread(F f) {
  std::thread(f).join();
}

}  // namespace

TEST_CASE("reports of one call are collected, and dropped by a report of the next call") {
  in_new_thread([] {
    const nn::Dense layer(1), other(1);
    CHECK_FALSE(CallReports::any());
    CallReports::begin(layer.shared(), 1).losses.push_back(K::constant(2.f));
    CallReports::begin(layer.shared(), 1).losses.push_back(K::constant(3.f));
    CallReports::begin(layer.shared(), 1).metrics.emplace_back("level", K::constant(4.f));
    CHECK(CallReports::any());
    REQUIRE(CallReports::of(layer.impl()).losses.size() == 2);
    CHECK(CallReports::of(layer.impl()).losses[1].item() == 3);
    CHECK(CallReports::of(layer.impl()).metrics[0].first == "level");
    CHECK(CallReports::of(other.impl()).losses.empty());

    CallReports::begin(layer.shared(), 2).losses.push_back(K::constant(5.f));
    REQUIRE(CallReports::of(layer.impl()).losses.size() == 1);
    CHECK(CallReports::of(layer.impl()).losses[0].item() == 5);
    CHECK(CallReports::of(layer.impl()).metrics.empty());
  });
}

TEST_CASE("reports are forgotten layer by layer") {
  in_new_thread([] {
    const nn::Dense a(1), b(1);
    CallReports::begin(a.shared(), 1).losses.push_back(K::constant(1.f));
    CallReports::begin(b.shared(), 1).losses.push_back(K::constant(2.f));
    CallReports::forget(a.impl());
    CHECK(CallReports::of(a.impl()).losses.empty());
    CHECK(CallReports::of(b.impl()).losses.size() == 1);
    CHECK(CallReports::any());
    CallReports::forget(b.impl());
    CHECK_FALSE(CallReports::any());
    CallReports::forget(b.impl());
  });
}

TEST_CASE("each thread has separate reports") {
  const nn::Dense layer(1);
  in_new_thread([&] {
    CallReports::begin(layer.shared(), 1).losses.push_back(K::constant(1.f));
    in_new_thread([&] {
      CHECK_FALSE(CallReports::any());
      CHECK(CallReports::of(layer.impl()).losses.empty());
    });
    CHECK(CallReports::of(layer.impl()).losses.size() == 1);
  });
}

TEST_CASE("reports end with their layer") {
  in_new_thread([] {
    std::weak_ptr<nn::LayerImpl> reporting, reported;
    {
      const nn::Dense layer(1), held(1);
      reporting = layer.shared(), reported = held.shared();
      CallReports::begin(layer.shared(), 1).losses.push_back(held(nn::Input({2})));
    }
    CHECK(reporting.expired());
    CHECK(reported.expired());
    CHECK_FALSE(CallReports::any());
  });
}

TEST_CASE("reports of a layer that ended on another thread are dropped with the next report") {
  in_new_thread([] {
    std::weak_ptr<nn::LayerImpl> reported;
    std::optional<nn::Dense> layer(1);
    {
      const nn::Dense held(1);
      reported = held.shared();
      CallReports::begin(layer->shared(), 1).losses.push_back(held(nn::Input({2})));
    }
    in_new_thread([&] { layer.reset(); });
    CHECK_FALSE(reported.expired());
    const nn::Dense next(1);
    CallReports::begin(next.shared(), 2);
    CHECK(reported.expired());
  });
}

TEST_CASE("a report may hold the last handle of another layer with reports") {
  in_new_thread([] {
    const nn::Dense outer(1);
    {
      const nn::Dense inner(1);
      CallReports::begin(inner.shared(), 1).losses.push_back(K::constant(1.f));
      CallReports::begin(outer.shared(), 1).losses.push_back(inner(nn::Input({2})));
    }
    CallReports::forget(outer.impl());
    CHECK(CallReports::of(outer.impl()).losses.empty());
  });
}
