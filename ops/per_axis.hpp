#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace ktape::backend {

/// One T for all spatial axes, or one for each of them, as an argument.
///
///     {.strides = 2}   {.strides = {2, 1}}   {.padding = 1}   {.padding = {{0, 1}, {2, 2}}}
template <class T>
class PerAxis {
 public:
  using value_type = T;

  template <std::convertible_to<T> One>
  PerAxis(const One& one) : list_{T(one)}, all_(true) {}
  PerAxis(std::initializer_list<T> each) : list_(each) {}
  /// From a Shape, a vector or an array.
  template <class List>
  requires requires(const List& list) {
    { *list.begin() } -> std::convertible_to<T>;
  }
  PerAxis(const List& each) : list_(each.begin(), each.end()) {}

  /// One for each of the axes; a list as it was given, however long.
  std::vector<T> over(int axes) const {
    return all_ ? std::vector<T>(static_cast<std::size_t>(axes), list_[0]) : list_;
  }
  /// What was given: one for all, or one for each.
  const std::vector<T>& list() const { return list_; }

 private:
  std::vector<T> list_;
  bool all_ = false;
};

/// Elements before and after those of one axis; one number means both.
struct PaddingPair {
  PaddingPair(std::int64_t both) : before(both), after(both) {}
  PaddingPair(std::int64_t before, std::int64_t after) : before(before), after(after) {}

  std::int64_t before, after;
};

}  // namespace ktape::backend
