#pragma once
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>

namespace ktape::kernels {

/// A cache of the values for the most recently used keys, made on demand; safe for several threads. A value
/// lives as long as a pointer to the value.
template <class Key, class Value>
class LruCache {
 public:
  explicit LruCache(std::size_t capacity) : capacity_(capacity) {}

  /// Returns the value of the key; calls `make()`, without a lock, for a missing value.
  template <class F>
  std::shared_ptr<const Value> get(const Key& key, const F& make) {
    if (auto value = find(key)) return value;
    auto made = std::make_shared<const Value>(make());
    const std::lock_guard lock(mutex_);
    if (const auto at = entries_.find(key); at != entries_.end()) return at->second->value;
    order_.push_front({key, made});
    entries_[key] = order_.begin();
    if (order_.size() > capacity_) {
      entries_.erase(order_.back().key);
      order_.pop_back();
    }
    return made;
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return order_.size();
  }

 private:
  struct Entry {
    Key key;
    std::shared_ptr<const Value> value;
  };

  std::shared_ptr<const Value> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto at = entries_.find(key);
    if (at == entries_.end()) return nullptr;
    order_.splice(order_.begin(), order_, at->second);
    return at->second->value;
  }

  std::size_t capacity_;
  mutable std::mutex mutex_;
  std::list<Entry> order_;  // the most recently used entry first
  std::map<Key, typename std::list<Entry>::iterator> entries_;
};

}  // namespace ktape::kernels
