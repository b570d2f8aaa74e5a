#include <ktape/autograd/base/thread_state.hpp>
#include <ktape/nn/models/model_use.hpp>
#include <ktape/nn/training/trainer.hpp>

#include <algorithm>

namespace ktape::nn {

ModelUse::Run::Run(ModelImpl& model, const char* op, Kind kind) : model_(model), kind_(kind) {
  ModelUse& use = model.trainer().use;
  const ThreadState* const thread = &thread_state();
  const auto others = [&](auto... kinds) {
    return std::any_of(use.users_.begin(), use.users_.end(), [&](const User& user) {
      return user.thread != thread && (... || (user.kind == kinds));
    });
  };
  std::unique_lock lock(use.mutex_);
  const auto expect_no_training = [&] {
    if (others(Kind::Training))
      fail("[", op, "] '", model.name(), "' must not be used while another thread trains the model");
  };
  expect_no_training();
  if (kind == Kind::Training && others(Kind::Prediction, Kind::Evaluation))
    fail("[", op, "] '", model.name(), "' must not be trained while another thread uses the model");
  while (kind == Kind::Evaluation && others(Kind::Evaluation)) {
    use.ended_.wait(lock);
    expect_no_training();
  }
  use.users_.push_back({thread, kind});
  use.mark_training(model);
}

ModelUse::Run::~Run() {
  ModelUse& use = model_.trainer().use;
  {
    const std::lock_guard lock(use.mutex_);
    use.users_.erase(std::find(use.users_.begin(), use.users_.end(), User{&thread_state(), kind_}));
    use.mark_training(model_);
  }
  use.ended_.notify_all();
}

/// Records in the model the thread that trains the model, so that calls on other threads are refused.
void ModelUse::mark_training(ModelImpl& model) const {
  const auto trains = [](const User& user) { return user.kind == Kind::Training; };
  const auto found = std::find_if(users_.begin(), users_.end(), trains);
  model.trained_by_.store(found == users_.end() ? nullptr : found->thread, std::memory_order_relaxed);
}

}  // namespace ktape::nn
