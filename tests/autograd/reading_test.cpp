#include <ktape/autograd/reading.hpp>
#include <ktape/ktape.hpp>

#include <atomic>
#include <filesystem>
#include <thread>

#include "../hdf5.hpp"
#include "../ops/check.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::assign_all, ktape::ReadingScope, ktape::Tensor, ktape::TypeError, ktape::ValueError,
    ktape::Variable;

namespace {

/// Calls `f` on threads until `stop` is called.
class Repeating {
 public:
  template <class F>
  Repeating(int threads, F f) {
    for (int i = 0; i < threads; ++i)
      threads_.emplace_back([this, f] {
        while (!stopped_) f();
      });
  }
  void stop() {
    stopped_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  ~Repeating() { stop(); }

 private:
  std::atomic<bool> stopped_{false};
  std::vector<std::thread> threads_;
};

/// Two sets of weights of a model, all 1 or all 2, and the sum of each set's result.
struct Sets {
  explicit Sets(const nn::Model& model) {
    for (const float number : {1.F, 2.F}) {
      auto& values = sets.emplace_back();
      for (const Tensor& weight : model.get_weights())
        values.push_back(K::full(weight.shape(), number, weight.dtype()));
    }
  }
  std::vector<std::vector<Tensor>> sets;
};

nn::Model chain(bool planned) {
  const Tensor in = nn::Input({4});
  Tensor y = in;
  for (int i = 0; i < 6; ++i) {
    y = nn::Dense(4, {.use_bias = i % 2 == 0})(y) * 0.25F;
    if (!planned) y = nn::Lambda([](const Tensor& x) { return K::cumsum(x, 1) * 1.F; })(y);
  }
  return nn::Model(in, y);
}

void check_whole(const nn::Model& model, const std::function<Tensor(const Tensor&)>& predict,
                 const std::function<void(int)>& change, int changes) {
  const Sets two(model);
  const Tensor x = K::ones({2, 4});
  std::vector<float> expected;
  for (const auto& set : two.sets) {
    model.set_weights(set);
    expected.push_back(K::sum(predict(x)).item<float>());
  }
  REQUIRE(expected[0] != expected[1]);
  std::atomic<int> torn{0}, done{0};
  Repeating readers(4, [&] {
    try {
      const float sum = K::sum(predict(x)).item<float>();
      if (sum != expected[0] && sum != expected[1]) ++torn;
    } catch (const ktape::Error&) {
      ++torn;
    }
    ++done;
  });
  for (int i = 0; i < changes || done < 100; ++i) change(i % 2);
  readers.stop();
  CHECK(torn == 0);
}

}  // namespace

TEST_CASE("a scope reads the values of its begin, other threads the new ones") {
  const Variable a = K::variable({1.F, 2.F}), b = K::variable(3.F);
  {
    const ReadingScope scope;
    std::thread([&] {
      assign_all({{a, K::constant({4., 5.})}, {b, K::constant(6.)}});
      CHECK(values(a) == Values{4, 5});
      const ReadingScope later;
      CHECK(values(a) == Values{4, 5});
      CHECK(b.item() == 6);
      assign_all({{b, K::constant(7.)}});
      CHECK(b.item() == 7);
      CHECK(a.item(0) == 4);
    }).join();
    CHECK(values(a) == Values{1, 2});
    CHECK(b.item() == 3);
    {
      const ReadingScope inner;
      CHECK(b.item() == 3);
    }
    CHECK(a.item(0) == 1);
  }
  CHECK(values(a) == Values{4, 5});
  CHECK(b.item() == 7);
  const ReadingScope again;
  CHECK(a.item(0) == 4);
}

TEST_CASE("a thread sees its own changes at once, and the last change stays") {
  const Variable a = K::variable({1.F}), b = K::variable({2.F});
  {
    const ReadingScope scope;
    assign_all({{a, K::constant({3.})}});
    CHECK(a.item(0) == 3);
    std::thread([&] {
      const ReadingScope other;
      assign_all({{a, K::constant({4.})}, {b, K::constant({5.})}});
      CHECK(a.item(0) == 4);
    }).join();
    CHECK(a.item(0) == 3);
    CHECK(b.item(0) == 2);
    assign_all({{b, K::constant({6.})}});
    CHECK(b.item(0) == 6);
    CHECK(a.item(0) == 4);
  }
  CHECK(a.item(0) == 4);
  CHECK(b.item(0) == 6);
  K::update_add(a, K::constant({1.}));
  CHECK(a.item(0) == 5);
}

TEST_CASE("other changes of a variable follow after the scopes that read it") {
  const Variable a = K::variable({1.F}), free = K::variable({1.F});
  std::atomic<int> step{0};
  std::thread reader([&] {
    const ReadingScope scope;
    step = 1;
    while (step != 2) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(a.item(0) == 1);
  });
  while (step != 1) std::this_thread::yield();
  assign_all({{a, K::constant({2.})}});
  K::update(free, K::constant({3.}));  // waits for nothing
  step = 2;
  K::update_add(a, K::constant({10.}));
  reader.join();
  CHECK(a.item(0) == 12);
  CHECK(free.item(0) == 3);
}

TEST_CASE("assign_all changes nothing if one value does not fit") {
  const Variable a = K::variable({1.F}), b = K::variable({2.F});
  CHECK_THROWS_WITH_AS(assign_all({{a, K::constant({3.})}, {b, K::zeros({2})}}),
                       Contains("[assign] the new value must have the shape (1,) of"), ValueError);
  CHECK_THROWS_WITH_AS(assign_all({{a, K::constant({3.})}, {b, K::zeros({1}, {.dtype = "int32"})}}),
                       Contains("[assign] the new value must have the dtype float32 of"), TypeError);
  CHECK(a.item(0) == 1);
  CHECK(b.item(0) == 2);
}

TEST_CASE("predictions meet set_weights and load_weights: the old weights or the new, whole") {
  for (const bool planned : {true, false}) {
    CAPTURE(planned);
    const nn::Model model = chain(planned);
    const Sets two(model);
    const auto predict = [&](const Tensor& x) { return model.predict(x, {.verbose = 0})[0]; };
    const auto set = [&](int i) { model.set_weights(two.sets[static_cast<std::size_t>(i)]); };
    check_whole(model, predict, set, 2000);
    check_whole(
        model, [&](const Tensor& x) { return model(x); }, set, 2000);
    check_whole(
        model, [&](const Tensor& x) { return model.predict_on_batch(x)[0]; }, set, 2000);
    // Several batches of one call have one set.
    check_whole(
        model,
        [&](const Tensor& x) {
          const Tensor y = model.predict(K::concatenate({x, x, x, x}, 0), {.batch_size = 2, .verbose = 0});
          return K::mean(y, 0) * 2.F;
        },
        set, 500);
    const std::string folder = std::filesystem::temp_directory_path() / "ktape_reading_test";
    std::filesystem::create_directories(folder);
    const char* const names[] = {"/0.npz", "/1.npz"};
    for (const int i : {0, 1}) set(i), model.save_weights(folder + names[i]);
    check_whole(
        model, predict, [&](int i) { model.load_weights(folder + names[i]); }, 200);
    std::filesystem::remove_all(folder);
  }
}

TEST_CASE("predictions of mixed models and readers of weights meet set_weights") {
  const nn::Model model = [] {
    const Tensor in = nn::Input({4});
    Tensor y = in;
    for (int i = 0; i < 4; ++i) y = nn::Dense(4, {.dtype = "mixed_bfloat16"})(y) * 0.125F;
    return nn::Model(in, y);
  }();
  const Sets two(model);
  const auto set = [&](int i) { model.set_weights(two.sets[static_cast<std::size_t>(i)]); };
  std::atomic<int> torn{0};
  Repeating readers(1, [&] {
    float least = 2, most = 1;
    for (const Tensor& weight : model.get_weights()) {
      least = std::min(least, K::min(weight).item<float>());
      most = std::max(most, K::max(weight).item<float>());
    }
    if (least != most) ++torn;
  });
  set(0);
  torn = 0;
  check_whole(
      model, [&](const Tensor& x) { return K::cast(model.predict(x, {.verbose = 0})[0], "float32"); }, set,
      1000);
  readers.stop();
  CHECK(torn <= 1);  // before the first set
}
