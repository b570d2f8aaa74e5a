#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace ktape::backend {

/// An argument that gives one T for all spatial axes, or one T for each axis.
///
///     {.strides = 2}   {.strides = {2, 1}}   {.padding = 1}   {.padding = {{0, 1}, {2, 2}}}
///
/// For example:
///
///     Tensor x = K::ones({1, 6, 6, 1});
///     std::cout << K::pool2d(x, 2, {.strides = 2}).shape() << " "
///               << K::pool2d(x, {2, 3}, {.strides = {2, 3}}).shape();
template <class T>
class PerAxis {
 public:
  using value_type = T;

  template <std::convertible_to<T> One>
  PerAxis(const One& one) : list_{T(one)}, all_(true) {}
  PerAxis(std::initializer_list<T> each) : list_(each) {}
  /// Takes one T for each axis from a Shape, a vector or an array.
  template <class List>
  requires requires(const List& list) {
    { *list.begin() } -> std::convertible_to<T>;
  }
  PerAxis(const List& each) : list_(each.begin(), each.end()) {}

  /// Returns one T for each axis. A list is returned unchanged, also when its length is not `axes`.
  std::vector<T> over(int axes) const {
    return all_ ? std::vector<T>(static_cast<std::size_t>(axes), list_[0]) : list_;
  }
  /// Returns the given list; a list of one element when one T was given for all axes.
  const std::vector<T>& list() const { return list_; }

 private:
  std::vector<T> list_;
  bool all_ = false;
};

/// The number of elements added before and after the elements of one axis; a single number sets both.
///
///     std::cout << K::spatial_2d_padding(K::ones({1, 2, 2, 1}),
///                                        {.padding = {{1, 0}, {2, 2}}})
///                      .shape();
struct PaddingPair {
  PaddingPair(std::int64_t both) : before(both), after(both) {}
  PaddingPair(std::int64_t before, std::int64_t after) : before(before), after(after) {}

  std::int64_t before, after;
};

}  // namespace ktape::backend
