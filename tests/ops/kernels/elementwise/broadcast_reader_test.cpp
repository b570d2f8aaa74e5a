#include <doctest/doctest.h>
#include <ktape/ops/kernels/elementwise/broadcast_reader.hpp>

#include "../references.hpp"

namespace {

reference::Extents extents(const Shape& shape) { return {shape.begin(), shape.end()}; }

/// Reads all elements in pieces, from the front and in any order.
template <class T>
void check_reader(k::BroadcastReader<T>& reader, const reference::Array& wanted, std::mt19937& random) {
  const auto n = static_cast<i64>(wanted.size());
  const auto agrees = [&](i64 begin, i64 count) {
    const auto want = [&](i64 i) { return T(wanted.flat(static_cast<std::size_t>(begin + i))); };
    return each_is(reader(begin, count), count, want);
  };
  k::for_blocks(0, n, [&](i64 begin, i64 count) {
    INFO("from ", begin);
    CHECK(agrees(begin, count));
  });
  for (int piece = 0; piece < 20 && n > 0; ++piece) {
    const i64 begin = static_cast<i64>(random()) % n;
    const i64 count = std::min(n - begin, 1 + static_cast<i64>(random()) % k::BroadcastReader<T>::block);
    INFO("from ", begin);
    CHECK(agrees(begin, count));
  }
}

Shape draw_shape(std::mt19937& random) {
  const std::vector<i64> choices = {1, 2, 3, 5, 8, 16, 17, 33, 64, 130};
  Shape shape;
  i64 count = 1;
  for (auto rank = random() % 6; rank > 0; --rank) {
    const i64 extent = choices[random() % choices.size()];
    shape.push_back(count * extent > 20000 ? 1 : extent);
    count *= shape.back();
  }
  return shape;
}

}  // namespace

TEST_CASE_TEMPLATE("kernels: an array is read in any shape that it broadcasts to", T, bool, std::uint8_t,
                   std::int16_t, std::int32_t, i64, float, double) {
  std::mt19937 random(6);
  for (int i = 0; i < 300; ++i) {
    const Shape to = draw_shape(random);
    Shape from(std::vector<i64>(to.begin() + static_cast<i64>(random()) % (to.rank() + 1), to.end()));
    for (i64& extent : from)
      if (random() % 2 == 0) extent = 1;
    INFO(from, " to ", to);
    const Array<T> x = numbers<T>(from.count());
    k::BroadcastReader<T> reader(x.data(), from, to);
    check_reader(reader, reference::broadcast_to(as_reference(x, {from.begin(), from.end()}), extents(to)),
                 random);
  }
}

TEST_CASE_TEMPLATE("kernels: an array is read along permuted axes", T, bool, std::int16_t, std::int32_t,
                   double) {
  std::mt19937 random(8);
  for (int i = 0; i < 300; ++i) {
    const Shape from = draw_shape(random);
    const auto rank = static_cast<std::size_t>(from.rank());
    reference::Axes pattern(rank);
    std::iota(pattern.begin(), pattern.end(), 0);
    std::shuffle(pattern.begin(), pattern.end(), random);
    const auto own = k::broadcast_steps(from, from);
    std::vector<i64> shape(rank), step(rank);
    for (std::size_t d = 0; d < rank; ++d)
      shape[d] = from[static_cast<int>(pattern[d])], step[d] = own[pattern[d]];
    INFO(from, ", pattern ", Shape(std::vector<i64>(pattern.begin(), pattern.end())));
    const Array<T> x = numbers<T>(from.count());
    k::BroadcastReader<T> reader(x.data(), from.rank(), shape.data(), step.data());
    check_reader(reader, reference::permute(as_reference(x, {from.begin(), from.end()}), pattern), random);
  }
}
