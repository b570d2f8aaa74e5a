#pragma once
#include <cstdint>

namespace ktape::backend {

/// The state of the global generator, which determines all later numbers. Internal: sources only.
struct RandomState {
  std::uint64_t seed = 0, drawn = 0;
};
RandomState random_state();
void set_random_state(const RandomState& state);

/// A scope in which random numbers of this thread without a seed come from a generator of the scope, which
/// starts with the key, instead of the global generator. A salt also changes the numbers of given seeds.
/// Internal: sources only.
class RandomScope {
 public:
  explicit RandomScope(std::uint64_t key, std::uint64_t salt = 0);
  ~RandomScope();
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

  /// Returns the key of the next stream.
  std::uint64_t draw();
  /// Returns the seed that the scope uses in place of a given seed.
  std::uint64_t salted(std::uint64_t seed) const { return seed ^ salt_ * 0xd1b54a32d192ed03; }
  /// Returns the innermost scope of this thread; null without a scope.
  static RandomScope* current();

 private:
  std::uint64_t key_, salt_, drawn_ = 0;
  RandomScope* outer_;
};

}  // namespace ktape::backend
