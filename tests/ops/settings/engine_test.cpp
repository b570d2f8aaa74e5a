#include <doctest/doctest.h>
#include <ktape/ktape.hpp>
#include <ktape/ops/kernels/engine/lru_cache.hpp>
#include <ktape/ops/settings/engine.hpp>
#include <ktape/ops/settings/internal/config_file.hpp>

#include "../check.hpp"

#include <dlfcn.h>
#include <thread>

using namespace ktape;
using op_helpers::EngineScope;
namespace K = ktape::backend;

namespace {

using doctest::Contains;

std::string path_of(const std::string& engine) { return KTAPE_TEST_ENGINES "/lib" + engine + ".so"; }

std::string error_of(const std::string& library) {
  try {
    kernels::load_engine_library(library);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("backend() names the engine in use") {
  for (const std::string& name : K::engines()) {
    const EngineScope scope(name);
    CHECK(K::backend() == name);
  }
  const EngineScope scope(path_of("halves"));
  CHECK(K::backend() == "halves");
}

TEST_CASE("an engine library replaces the kernels that it has") {
  const Tensor x = K::constant({{0.f, 0.f, 0.f, 0.f}}), y = K::zeros({1, 4}, {.dtype = "float64"});
  CHECK(values(K::softmax(x)) == Values{0.25, 0.25, 0.25, 0.25});
  const EngineScope scope(path_of("halves"));
  CHECK(values(K::softmax(x)) == Values{0.5, 0.5, 0.5, 0.5});
  CHECK(values(K::softmax(y)) == Values{0.25, 0.25, 0.25, 0.25});
  CHECK(values(K::dot(K::ones({20, 30}), K::ones({30, 1})))[7] == 30);
}

TEST_CASE("the example engine counts calls") {
  const Tensor image = K::ones({1, 6, 6, 1});
  const Variable kernel = K::ones({3, 3, 1, 2});
  const EngineScope scope(KTAPE_COUNTING_ENGINE);
  CHECK(K::backend() == "counting");
  const auto calls = reinterpret_cast<long (*)(const char*)>(
      dlsym(dlopen(KTAPE_COUNTING_ENGINE, RTLD_NOW), "counting_engine_calls"));
  REQUIRE(static_cast<bool>(calls));
  const long before = calls("convolution"), before_kernel = calls("convolution_backward_kernel"),
             before_data = calls("convolution_backward_data");
  const Tensor y = K::conv2d(image, kernel);
  CHECK(values(y)[0] == 9);
  K::gradients(K::sum(y), {kernel});
  CHECK(calls("convolution") == before + 1);
  CHECK(calls("convolution_backward_kernel") == before_kernel + 1);
  CHECK(calls("convolution_backward_data") == before_data);
}

TEST_CASE("one error lists everything that is wrong with an engine") {
  const std::string error = error_of(path_of("broken"));
  CAPTURE(error);
  for (const char* part :
       {"must list every kernel", "libbroken.so", "\"matmul\" has version 2 where 1 is needed",
        "\"convolution_backward_kernel\" has version 0 where 2 is needed",
        "\"convolution\" is listed 2 times", "\"pooling\" is missing", "\"pooling_backward\" is missing",
        "\"softmax_backward\" is missing", "\"maxpool\" is unknown", "an entry without a name is unknown"})
    CHECK_MESSAGE(error.find(part) != std::string::npos, part);
  CHECK(error.find("\"softmax\" is missing") == std::string::npos);
  CHECK_THROWS_WITH_AS(EngineScope{path_of("old")}, Contains("the engine has version 0 where 1 is needed"),
                       ValueError);
}

TEST_CASE("a file that cannot be loaded, or is no engine, is a clear error") {
  CHECK_THROWS_WITH_AS(EngineScope{"./no_such_engine.so"}, Contains("received './no_such_engine.so' ("),
                       IOError);
  CHECK_THROWS_WITH_AS(EngineScope{"libm.so.6"},
                       "[backend] an engine library must export ktape_get_engine: received 'libm.so.6'",
                       ValueError);
  const std::string before = K::backend();
  CHECK_THROWS_AS(EngineScope{path_of("broken")}, ValueError);
  CHECK(K::backend() == before);
}

TEST_CASE("the cache keeps the items that were used last") {
  kernels::LruCache<int, int> cache(2);
  int made = 0;
  const auto get = [&](int key) { return *cache.get(key, [&] { return ++made, key * 10; }); };
  CHECK(get(1) == 10);
  CHECK(get(2) == 20);
  CHECK(get(1) == 10);
  CHECK(get(3) == 30);
  CHECK(made == 3);
  CHECK(get(1) == 10);
  CHECK(made == 3);
  CHECK(get(2) == 20);
  CHECK(made == 4);
  CHECK(cache.size() == 2);
}

TEST_CASE("convolutions run on several threads at once, and inside of parallel regions") {
  const Tensor image = K::random_normal({4, 12, 12, 32}), filters = K::random_normal({3, 3, 32, 64});
  const auto gradients = [&] {
    const Variable x = image, kernel = filters;
    return K::gradients(K::sum(K::square(K::conv2d(x, kernel))), {x, kernel});
  };
  const std::vector<Tensor> want = gradients();
  const auto disagreement = [&] {
    const std::vector<Tensor> got = gradients();
    std::string wrong;
    for (std::size_t i = 0; i < want.size(); ++i)
      wrong += close(got[i], want[i], {.atol = 1e-4 * K::max(K::abs(want[i])).item()}).wrong;
    return wrong;
  };
  std::vector<std::string> found(4);
  std::vector<std::thread> threads;
  for (std::string& wrong : found) threads.emplace_back([&] { wrong = disagreement() + disagreement(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& wrong : found) CHECK(wrong == "");

  std::vector<std::string> inside(2);
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 2; ++i) inside[i] = disagreement();
  for (const std::string& wrong : inside) CHECK(wrong == "");
}
