#pragma once
#include <concepts>
#include <cstdint>
#include <string>

namespace ktape::nn {

/// The frequency with which a callback acts: after each epoch ("epoch"), after each batch ("batch"), or after
/// every n batches, counted across epochs (a number).
///
///     nn::ModelCheckpoint each_hundred_batches("best.keras", {.save_freq = 100});
///     nn::Frequency frequency = 100;
///     std::cout << frequency.due(300) << " " << frequency.due(301) << " "
///               << frequency.by_epoch();
class Frequency {
 public:
  /// Throws ValueError for a word other than "epoch" and "batch", and for a number below 1.
  Frequency(const std::string& word);
  Frequency(const char* word) : Frequency(std::string(word)) {}
  template <std::integral T>
  Frequency(T batches) : batches_(checked(static_cast<std::int64_t>(batches))) {}

  bool by_epoch() const { return batches_ == 0; }
  /// Returns whether the callback acts after batch n, counted from 1.
  bool due(std::int64_t n) const { return batches_ > 0 && n % batches_ == 0; }

 private:
  static std::int64_t checked(std::int64_t batches);
  std::int64_t batches_ = 0;
};

}  // namespace ktape::nn
