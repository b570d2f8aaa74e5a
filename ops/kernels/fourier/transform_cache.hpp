#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace ktape::kernels {

/// The objects of the last few sizes that were asked for. The sum of their sizes is bounded, except for the last one.
template <class Transform>
class TransformCache {
 public:
  std::shared_ptr<const Transform> of(std::int64_t n) {
    if (auto found = find(n)) return found;
    const auto made = std::make_shared<const Transform>(n);
    const std::lock_guard lock(mutex_);
    entries_.insert(entries_.begin(), made);
    std::int64_t sum = n;
    for (std::size_t i = 1; i < entries_.size(); ++i)
      if ((sum += entries_[i]->size()) > most_numbers || i >= most_entries) entries_.resize(i);
    return made;
  }

 private:
  static constexpr std::int64_t most_numbers = 1 << 22;
  static constexpr std::size_t most_entries = 64;

  std::shared_ptr<const Transform> find(std::int64_t n) {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [n](const auto& each) { return each->size() == n; });
    if (found == entries_.end()) return {};
    std::rotate(entries_.begin(), found, found + 1);
    return entries_.front();
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<const Transform>> entries_;  ///< the last one that was asked for comes first
};

}  // namespace ktape::kernels
