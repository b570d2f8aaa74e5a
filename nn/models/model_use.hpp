#pragma once
#include <condition_variable>
#include <mutex>
#include <vector>

namespace ktape {
struct ThreadState;
}

/// The threads that use a model. Internal: sources only.
namespace ktape::nn {

class ModelImpl;

/// The uses of one model by threads. Several threads may predict at once. Evaluations, which share metrics,
/// take turns. Training has the model for its thread alone.
class ModelUse {
 public:
  enum class Kind { Prediction, Evaluation, Training };

  /// A run of the model on this thread while it lives. Runs within runs of one thread, as in callbacks, are
  /// free. Throws ValueError, naming the operation, where another thread trains the model, and for a training
  /// where another thread uses the model.
  class Run {
   public:
    Run(ModelImpl& model, const char* op, Kind kind);
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    ModelImpl& model_;
    Kind kind_;
  };

 private:
  struct User {
    const ThreadState* thread;
    Kind kind;
    bool operator==(const User&) const = default;
  };
  void mark_training(ModelImpl& model) const;

  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<User> users_;
};

}  // namespace ktape::nn
