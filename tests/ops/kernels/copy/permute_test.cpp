#include <doctest/doctest.h>
#include <ktape/ops/kernels/copy/permute.hpp>

#include "../arrays.hpp"

namespace {

template <class U>
void check_permute(const std::vector<i64>& shape, const std::vector<int>& pattern) {
  const i64 n = std::accumulate(shape.begin(), shape.end(), i64{1}, std::multiplies<>());
  const Array<U> in = numbers<U>(n), out(n);
  k::permute(in.data(), out.data(), shape.data(), pattern.data(), static_cast<int>(shape.size()), sizeof(U));
  std::vector<i64> strides(shape.size(), 1), permuted, permuted_strides;
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  for (int d : pattern) permuted.push_back(shape[d]), permuted_strides.push_back(strides[d]);
  const Array<U> wanted(n);
  i64 i = 0;
  for_each_index(permuted, [&](const auto& index) { wanted[i++] = in[offset(index, permuted_strides)]; });
  INFO("shape ", Shape(shape));
  CHECK(each_is(out, wanted));
}

/// Copies and compares, and sees that nothing else was written. Negative strides start at the end.
template <class U>
void check_copy(const std::vector<i64>& shape, const std::vector<i64>& in_strides,
                const std::vector<i64>& out_strides) {
  const auto extent = [&](const std::vector<i64>& strides) {
    i64 first = 0, last = 0;
    for (std::size_t d = 0; d < shape.size(); ++d)
      (strides[d] < 0 ? first : last) += strides[d] * (shape[d] - 1);
    return std::pair(-first, last - first + 1);
  };
  const auto [in_first, in_size] = extent(in_strides);
  const auto [out_first, out_size] = extent(out_strides);
  const i64 in_start = in_first, out_start = out_first;
  const Array<U> in = numbers<U>(in_size), out(out_size), wanted(out_size);
  k::copy_strided(out.data() + out_start, out_strides.data(), in.data() + in_start, in_strides.data(),
                  shape.data(), static_cast<int>(shape.size()), sizeof(U));
  for_each_index(shape, [&](const auto& index) {
    wanted[out_start + offset(index, out_strides)] = in[in_start + offset(index, in_strides)];
  });
  INFO("shape ", Shape(shape));
  CHECK(each_is(out, wanted));
}

}  // namespace

TEST_CASE_TEMPLATE("kernels: permutations agree with loops", U, std::uint8_t, std::uint16_t, std::uint32_t,
                   std::uint64_t) {
  check_permute<U>({}, {});
  check_permute<U>({0, 3}, {1, 0});
  check_permute<U>({70001}, {0});
  for (const i64 rows : {1, 2, 16, 33, 100})
    for (const i64 columns : {1, 3, 8, 17, 64, 130}) {
      check_permute<U>({rows, columns}, {1, 0});
      check_permute<U>({3, rows, columns}, {0, 2, 1});
      check_permute<U>({rows, 2, columns}, {1, 0, 2});
      check_permute<U>({columns, rows, 4}, {1, 0, 2});
    }
  check_permute<U>({2, 3, 1, 4, 5, 2, 3, 2}, {7, 2, 0, 5, 3, 6, 1, 4});
  check_permute<U>({701, 603, 5}, {1, 0, 2});  // short runs, of which blocks are put together
  check_permute<U>({3, 4, 5, 6}, {3, 1, 2, 0});
  check_permute<U>({1100, 2064}, {1, 0});
  check_permute<U>({1101, 2063}, {1, 0});             // rows of no whole number of lines
  check_permute<U>({17, 33, 37, 129}, {0, 2, 1, 3});  // long runs
  check_permute<U>({61, 33, 65, 19}, {0, 2, 1, 3});   // short ones
  check_permute<U>({31, 33, 4, 5, 128}, {0, 4, 2, 1, 3});
  check_permute<U>({20001, 5, 5, 5}, {3, 0, 2, 1});
  for (const i64 run : {3, 6, 13, 70})  // many that follow one another
    check_permute<U>({1001, i64(8600 / sizeof(U)) / run, run}, {1, 0, 2});
  for (const i64 few : {2, 3, 4, 5, 6, 7, 11}) {  // few channels
    check_permute<U>({2200007 / few, few}, {1, 0});
    check_permute<U>({few, 2200007 / few}, {1, 0});
  }
  check_permute<U>({3, 2900, 300 * 4 / sizeof(U)}, {1, 2, 0});
  check_permute<U>({37, 43, 41, 35}, {3, 2, 1, 0});
  check_permute<U>({3203, i64(3001 / sizeof(U))}, {1, 0});  // rows of the output begin within lines
  check_permute<U>({3, 1203, i64(3001 / sizeof(U))}, {0, 2, 1});
}

TEST_CASE_TEMPLATE("kernels: strided copies agree with loops", U, std::uint8_t, std::uint16_t, std::uint32_t,
                   std::uint64_t) {
  check_copy<U>({}, {}, {});
  check_copy<U>({100}, {-1}, {1});  // reverse
  check_copy<U>({5, 100}, {100, -1}, {100, 1});
  check_copy<U>({70, 3}, {1, 0}, {3, 1});           // repeat elements
  check_copy<U>({4, 9, 7}, {0, 7, 1}, {63, 7, 1});  // tile
  check_copy<U>({33, 10}, {13, 1}, {10, 1});        // slice
  check_copy<U>({33, 10}, {10, 1}, {17, 1});        // concatenate, pad
  check_copy<U>({33, 10}, {26, 2}, {40, 3});        // steps on both sides
  check_copy<U>({1000003}, {1}, {1});
  check_copy<U>({3, 1000, 700}, {700000, -700, 1}, {700000, 700, 1});
  check_copy<U>({2063, 1100}, {-1, 2063}, {1100, 1});  // transpose and reverse
  check_copy<U>({1100, 2063}, {1, -1100}, {2070, 1});
  const i64 many = i64(8600 / sizeof(U)) / 6;  // runs across lines, past the caches
  check_copy<U>({many, 1001, 6}, {6, 6 * many, 1}, {6007, 6, 1});
  check_copy<U>({many, 1001, 6}, {6, -6 * many, 1}, {6006, 6, 1});
  check_copy<U>({many, 1001, 6}, {6, 0, 1}, {6006, 6, 1});
  check_copy<U>({many / 12, 1001, 72}, {72, 0, 1}, {72073, 72, 1});
  Array<U> filled(1001);
  const U value = 7;
  k::fill_elements(filled.data(), &value, 1000, sizeof(U));
  CHECK(std::count(filled.data(), filled.data() + 1001, value) == 1000);
  CHECK(filled[1000] == 0);
}
