#include <doctest/doctest.h>
#include <ktape/ops/kernels/elementwise/elementwise.hpp>

#include "../arrays.hpp"

namespace {

/// Broadcasts x to a shape, as the first operand and as the second.
template <class T>
void check_broadcast(const Shape& from, const Shape& to) {
  const Array<T> x = numbers<T>(from.count()), first(to.count()), second(to.count());
  const auto one = [](auto a, auto) { return a; };
  const auto other = [](auto, auto b) { return b; };
  k::map_broadcast(k::BroadcastPlan(to, from, to), first.data(), one, x.data(), first.data());
  k::map_broadcast(k::BroadcastPlan(to, to, from), second.data(), other, second.data(), x.data());
  const auto step = k::broadcast_steps(from, to);
  const Array<T> wanted(to.count());
  i64 position = 0;
  for_each_index(std::vector<i64>(to.begin(), to.end()), [&](const auto& at) {
    i64 source = 0;
    for (int d = 0; d < to.rank(); ++d) source += at[d] * step[d];
    wanted[position++] = x[source];
  });
  INFO(from, " to ", to);
  CHECK(each_is(first, wanted));
  CHECK(each_is(second, wanted));
}

}  // namespace

TEST_CASE_TEMPLATE("kernels: broadcast operands agree with loops", T, bool, std::uint8_t, std::int16_t,
                   std::int32_t, i64, float, double) {
  check_broadcast<T>({}, {});
  check_broadcast<T>({1}, {70001});
  check_broadcast<T>({0, 1}, {0, 3});
  for (const i64 n : {1, 2, 3, 8, 17, 33, 64, 65, 700}) {
    check_broadcast<T>({n}, {301, n});
    check_broadcast<T>({301, 1}, {301, n});
    check_broadcast<T>({7, 1, n}, {7, 43, n});
    check_broadcast<T>({7, 43, 1}, {7, 43, n});
    check_broadcast<T>({1, 43, 1}, {7, 43, n});
    check_broadcast<T>({3, 1, 5, 1}, {3, 4, 5, n});
    check_broadcast<T>({301, n}, {301, n});
  }
}
