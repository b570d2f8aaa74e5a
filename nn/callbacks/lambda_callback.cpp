#include <ktape/nn/callbacks/lambda_callback.hpp>

namespace ktape::nn {
namespace {

struct LambdaCallbackImpl final : CallbackImpl {
  LambdaCallbackOptions f;
  explicit LambdaCallbackImpl(LambdaCallbackOptions f) : f(std::move(f)) {}

  std::string class_name() const override { return "LambdaCallback"; }
  void on_epoch_begin(int epoch, const Logs& logs) override { tell(f.on_epoch_begin, epoch, logs); }
  void on_epoch_end(int epoch, const Logs& logs) override { tell(f.on_epoch_end, epoch, logs); }

  void on_train_begin(const Logs& logs) override { tell(f.on_train_begin, logs); }
  void on_train_end(const Logs& logs) override { tell(f.on_train_end, logs); }
  void on_train_batch_begin(std::int64_t i, const Logs& logs) override {
    tell(f.on_train_batch_begin, i, logs);
  }
  void on_train_batch_end(std::int64_t i, const Logs& logs) override { tell(f.on_train_batch_end, i, logs); }

  void on_test_begin(const Logs& logs) override { tell(f.on_test_begin, logs); }
  void on_test_end(const Logs& logs) override { tell(f.on_test_end, logs); }
  void on_test_batch_begin(std::int64_t i, const Logs& logs) override {
    tell(f.on_test_batch_begin, i, logs);
  }
  void on_test_batch_end(std::int64_t i, const Logs& logs) override { tell(f.on_test_batch_end, i, logs); }

  void on_predict_begin(const Logs& logs) override { tell(f.on_predict_begin, logs); }
  void on_predict_end(const Logs& logs) override { tell(f.on_predict_end, logs); }
  void on_predict_batch_begin(std::int64_t i, const Logs& logs) override {
    tell(f.on_predict_batch_begin, i, logs);
  }
  void on_predict_batch_end(std::int64_t i, const Logs& logs) override {
    tell(f.on_predict_batch_end, i, logs);
  }

  template <class F, class... Arguments>
  static void tell(const F& f, const Arguments&... arguments) {
    if (f) f(arguments...);
  }
};

}  // namespace

LambdaCallback::LambdaCallback(const LambdaCallbackOptions& options)
    : Callback(std::make_shared<LambdaCallbackImpl>(options)) {}

}  // namespace ktape::nn
