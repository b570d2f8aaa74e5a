#include <ktape/ktape.hpp>
#include "../../ops/check.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor;

TEST_CASE("LambdaCallback is called for training, evaluation and prediction") {
  std::vector<std::string> heard;
  const auto hear = [&](const char* name) {
    return [&heard, name](const nn::Logs&) { heard.emplace_back(name); };
  };
  const auto hear_batch = [&](const char* name) {
    return [&heard, name](std::int64_t batch, const nn::Logs&) {
      heard.push_back(name + std::to_string(batch));
    };
  };
  const nn::LambdaCallback listener({.on_train_begin = hear("train"),
                                     .on_train_end = hear("/train"),
                                     .on_train_batch_begin = hear_batch("batch"),
                                     .on_train_batch_end = hear_batch("/batch"),
                                     .on_test_begin = hear("test"),
                                     .on_test_end = hear("/test"),
                                     .on_test_batch_begin = hear_batch("tests"),
                                     .on_test_batch_end = hear_batch("/tests"),
                                     .on_predict_begin = hear("predict"),
                                     .on_predict_end = hear("/predict"),
                                     .on_predict_batch_begin = hear_batch("predicts"),
                                     .on_predict_batch_end = hear_batch("/predicts")});
  const nn::Sequential model({nn::Input({1}), nn::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor x = K::ones({2, 1});
  model.fit(x, x, {.verbose = 0, .callbacks = {listener}, .validation_data = {x, x}});
  CHECK(std::exchange(heard, {}) == std::vector<std::string>{"train", "batch0", "/batch0", "test", "tests0",
                                                             "/tests0", "/test", "/train"});
  model.evaluate(x, x, {.verbose = 0, .callbacks = {listener}});
  CHECK(std::exchange(heard, {}) == std::vector<std::string>{"test", "tests0", "/tests0", "/test"});
  model.predict(x, {.batch_size = 1, .verbose = 0, .callbacks = {listener}});
  CHECK(heard == std::vector<std::string>{"predict", "predicts0", "/predicts0", "predicts1", "/predicts1",
                                          "/predict"});
}
