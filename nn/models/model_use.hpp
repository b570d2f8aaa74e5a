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

/// The threads that use a model. Several threads may predict at once. Evaluations, which share metrics, take
/// turns. During training no other thread may use the model.
class ModelUse {
 public:
  enum class Kind { Prediction, Evaluation, Training };

  /// A scope in which this thread runs the model. A scope within another scope of its thread, as in
  /// callbacks, is always allowed. Throws ValueError, naming the operation, while another thread trains the
  /// model, and for a training while another thread uses the model.
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
