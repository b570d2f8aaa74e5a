#pragma once
#include <cstdint>

namespace ktape::backend {

/// The state of the global generator, which determines all later numbers. Internal: sources only.
struct RandomState {
  std::uint64_t seed = 0, drawn = 0;
};
RandomState random_state();
void set_random_state(const RandomState& state);

/// In such a scope, draws of this thread without a seed come from a generator of the scope's own, which
/// starts with the key, and not from the global one. With a salt, streams of given seeds are others, too.
/// Internal: sources only.
class RandomScope {
 public:
  explicit RandomScope(std::uint64_t key, std::uint64_t salt = 0);
  ~RandomScope();
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

  /// The key of the next stream.
  std::uint64_t draw();
  /// The seed that stands for a given one.
  std::uint64_t salted(std::uint64_t seed) const { return seed ^ salt_ * 0xd1b54a32d192ed03; }
  /// The innermost scope of this thread; null without one.
  static RandomScope* current();

 private:
  std::uint64_t key_, salt_, drawn_ = 0;
  RandomScope* outer_;
};

}  // namespace ktape::backend
