#include <doctest/doctest.h>
#include <ktape/ops/kernels/arg_reduce.hpp>
#include <ktape/ops/kernels/gather.hpp>
#include <ktape/ops/kernels/map.hpp>
#include <ktape/ops/kernels/moments.hpp>
#include <ktape/ops/kernels/permute.hpp>
#include <ktape/ops/kernels/reduce.hpp>
#include <ktape/ops/kernels/logsumexp.hpp>
#include <ktape/ops/kernels/scan.hpp>
#include <ktape/ops/kernels/softmax_backward.hpp>

#include <cmath>
#include <functional>
#include <numeric>
#include <random>

using namespace ktape;
namespace k = ktape::kernels;

namespace {

using i64 = std::int64_t;

/// Elements of any type, bool too, without room behind the last one.
template <class T>
class Array {
 public:
  explicit Array(i64 n) : n_(n), data_(new T[n]()) {}
  T* data() const { return data_.get(); }
  i64 size() const { return n_; }
  T& operator[](i64 i) const { return data_[i]; }

 private:
  i64 n_;
  std::unique_ptr<T[]> data_;
};

template <class T>
Array<T> numbers(i64 n) {
  static std::mt19937 random(7);
  Array<T> x(n);
  for (i64 i = 0; i < n; ++i) {
    const int value = static_cast<int>(random() % 101) - (std::is_unsigned_v<T> ? 0 : 50);
    if constexpr (std::is_same_v<T, bool>)
      x[i] = value % 2;
    else if constexpr (std::is_integral_v<T>)
      x[i] = static_cast<T>(value);
    else
      x[i] = T(value / 16.0f);
  }
  return x;
}

struct View {
  i64 outer, axis, inner;
  i64 size() const { return outer * axis * inner; }
  i64 at(i64 o, i64 x, i64 j) const { return (o * axis + x) * inner + j; }
};

const View views[] = {{0, 3, 2},     {2, 0, 3},      {1, 1, 1},   {3, 5, 1},    {2, 17, 3},
                      {70, 9, 2},    {65, 130, 1},   {1, 33, 65}, {2, 300, 40}, {1, 2, 999},
                      {1, 5, 20003}, {1, 140003, 1}, {1, 9001, 3}};

/// The type in which a reference is computed: wrapping integers, or double.
template <class T>
using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

template <class T>
double tolerance() {
  return std::is_same_v<T, double> ? 1e-13 : std::is_same_v<T, float> ? 2e-6 : 2e-3;
}

/// `got` is `wanted`, rounded to T, to within errors relative to `scale`.
template <class T>
bool close(T got, Wide<T> wanted, double scale = 1) {
  if constexpr (std::is_same_v<T, bool>)
    return got == (wanted != 0);
  else if constexpr (std::is_integral_v<T>)
    return got == static_cast<T>(wanted);
  else if (std::isnan(wanted))
    return std::isnan(static_cast<double>(got));
  else if (std::isinf(wanted))
    return static_cast<double>(got) == wanted;
  else
    return std::abs(static_cast<double>(got) - wanted) <= tolerance<T>() * (scale + std::abs(wanted));
}

/// Runs a reduction and checks every result against `naive(column of view)`.
template <class T, class Out, class Kernel, class Naive>
void check_reduction(const char* name, const View& v, const Array<T>& x, const Kernel& kernel,
                     const Naive& naive) {
  INFO(std::string(name), " of ", v.outer, ", ", v.axis, ", ", v.inner);
  Array<Out> out(v.outer * v.inner);
  kernel(x.data(), out.data(), v.outer, v.axis, v.inner);
  bool ok = true;
  for (i64 o = 0; o < v.outer; ++o)
    for (i64 j = 0; j < v.inner; ++j)
      ok = ok && naive(out[o * v.inner + j], [&](i64 i) { return x[v.at(o, i, j)]; });
  CHECK(ok);
}

template <class T>
void check_sums(const View& v, const Array<T>& x) {
  const auto fold = [&](auto first, auto step) {
    return [=](T got, auto at) {
      Wide<T> total = first;
      double scale = 1;
      for (i64 i = 0; i < v.axis; ++i) total = step(total, Wide<T>(at(i))), scale += std::abs(double(at(i)));
      const bool overflows = std::is_same_v<T, float16> && !(std::abs(double(total)) < 60000);
      return overflows || close<T>(got, total, scale);
    };
  };
  const auto add = [](auto a, auto b) { return a + b; };
  const auto add_square = [](auto a, auto b) { return a + b * b; };
  check_reduction<T, T>("sum", v, x, k::reduce_sum<T, T>, fold(0, add));
  check_reduction<T, T>("squares", v, x, k::reduce_sum_of_squares<T, T>, fold(0, add_square));
  if (std::is_integral_v<T> || v.axis < 6)
    check_reduction<T, T>("prod", v, x, k::reduce_prod<T, T>, fold(1, [](auto a, auto b) { return a * b; }));
}

template <class T>
void check_extremes(const View& v, const Array<T>& x) {
  using A = std::conditional_t<std::is_same_v<T, float16>, float, T>;
  const auto best = [&](auto at, bool largest) {
    i64 found = 0;
    for (i64 i = 1; i < v.axis; ++i) {
      const A a = at(i), b = at(found);
      if (b == b && (a != a || (largest ? a > b : a < b))) found = i;
    }
    return found;
  };
  const auto same = [](A a, A b) { return a == b || (a != a && b != b); };
  using L = std::numeric_limits<A>;
  const A highest = L::has_infinity ? L::infinity() : L::max();
  const A lowest = L::has_infinity ? A(-L::infinity()) : L::lowest();
  const auto value = [&](bool largest) {
    return [=](T got, auto at) {
      if (v.axis > 0) return same(got, at(best(at, largest)));
      return same(got, largest ? lowest : highest);
    };
  };
  const auto place = [&](bool largest) { return [=](i64 got, auto at) { return got == best(at, largest); }; };
  check_reduction<T, T>("max", v, x, k::reduce_max<T>, value(true));
  check_reduction<T, T>("min", v, x, k::reduce_min<T>, value(false));
  if (v.axis == 0) return;
  check_reduction<T, i64>("argmax", v, x, k::argmax<T>, place(true));
  check_reduction<T, i64>("argmin", v, x, k::argmin<T>, place(false));
}

template <class T>
void check_logic(const View& v, const Array<T>& x) {
  const auto count = [&](auto at) {
    i64 n = 0;
    for (i64 i = 0; i < v.axis; ++i) n += at(i) != T(0);
    return n;
  };
  const auto any = [&](bool got, auto at) { return got == (count(at) > 0); };
  const auto all = [&](bool got, auto at) { return got == (count(at) == v.axis); };
  check_reduction<T, bool>("any", v, x, k::reduce_any<T>, any);
  check_reduction<T, bool>("all", v, x, k::reduce_all<T>, all);
}

template <class T>
void check_means(const View& v, const Array<T>& x) {
  if (v.axis == 0) return;
  using Total = std::conditional_t<std::is_integral_v<T>, i64, double>;
  const auto mean = [&](auto at) {
    Total total = 0;
    for (i64 i = 0; i < v.axis; ++i) total += Total(at(i));
    return total / Total(v.axis);
  };
  const auto average = [](auto... n) { k::reduce_mean(n...); };
  check_reduction<T, T>(
      "mean", v, x, [&](auto in, auto out, i64 o, i64 a, i64 i) { average(in, out, o, a, i, a); },
      [&](T got, auto at) { return close<T>(got, Wide<T>(mean(at)), 4); });
  if constexpr (!std::is_integral_v<T>) {
    const auto variance = [&](auto got, auto at) {
      double total = 0, middle = mean(at);
      for (i64 i = 0; i < v.axis; ++i) total += std::pow(double(at(i)) - middle, 2);
      return std::abs(double(got) - total / v.axis) <= 4 * tolerance<k::compute_type<T>>() * total / v.axis;
    };
    using Out = k::compute_type<T>;
    check_reduction<T, Out>("variance", v, x, k::reduce_variance<T, Out>, variance);
    for (i64 i = 0; i < v.size(); ++i) x[i] = T(float(x[i]) + 1024);
    check_reduction<T, Out>("offset", v, x, k::reduce_variance<T, Out>, variance);
  }
}

/// Calls f(index) for every index of a shape, in order.
void for_each_index(const std::vector<i64>& shape, const std::function<void(const std::vector<i64>&)>& f) {
  const i64 n = std::accumulate(shape.begin(), shape.end(), i64{1}, std::multiplies<>());
  std::vector<i64> index(shape.size());
  for (i64 i = 0; i < n; ++i) {
    f(index);
    for (std::size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
  }
}

i64 offset(const std::vector<i64>& index, const std::vector<i64>& strides) {
  return std::inner_product(index.begin(), index.end(), strides.begin(), i64{0});
}

template <class U>
void check_permute(const std::vector<i64>& shape, const std::vector<int>& pattern) {
  const i64 n = std::accumulate(shape.begin(), shape.end(), i64{1}, std::multiplies<>());
  const Array<U> in = numbers<U>(n), out(n);
  k::permute(in.data(), out.data(), shape.data(), pattern.data(), static_cast<int>(shape.size()), sizeof(U));
  std::vector<i64> strides(shape.size(), 1), permuted, permuted_strides;
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  for (int d : pattern) permuted.push_back(shape[d]), permuted_strides.push_back(strides[d]);
  i64 i = 0, wrong = 0;
  for_each_index(permuted,
                 [&](const auto& index) { wrong += out[i++] != in[offset(index, permuted_strides)]; });
  CHECK_MESSAGE(wrong == 0, "rank ", shape.size(), " first ", shape.empty() ? 0 : shape[0]);
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
  CHECK(std::equal(wanted.data(), wanted.data() + out_size, out.data()));
}

/// Broadcasts x to a shape, as the first operand and as the second.
template <class T>
void check_broadcast(const Shape& from, const Shape& to) {
  const Array<T> x = numbers<T>(from.count()), first(to.count()), second(to.count());
  const auto one = [](auto a, auto) { return a; };
  const auto other = [](auto, auto b) { return b; };
  k::map_broadcast(k::BroadcastPlan(to, from, to), first.data(), one, x.data(), first.data());
  k::map_broadcast(k::BroadcastPlan(to, to, from), second.data(), other, second.data(), x.data());
  const auto step = k::broadcast_steps(from, to);
  bool ok = true;
  i64 position = 0;
  for_each_index(std::vector<i64>(to.begin(), to.end()), [&](const auto& at) {
    i64 source = 0;
    for (int d = 0; d < to.rank(); ++d) source += at[d] * step[d];
    ok = ok && first[position] == x[source] && second[position] == x[source], ++position;
  });
  CHECK_MESSAGE(ok, from, " to ", to);
}

template <class T>
void check_scan(const View& v, k::ScanOptions options, bool product) {
  Array<T> x = numbers<T>(v.size());
  if (product && !std::is_integral_v<T>)
    for (i64 i = 0; i < v.size(); ++i) x[i] = T(1 + static_cast<float>(x[i]) / 512);
  const Array<T> y(v.size());
  (product ? k::cumprod<T> : k::cumsum<T>)(x.data(), y.data(), v.outer, v.axis, v.inner, options);
  bool ok = true;
  for (i64 o = 0; o < v.outer; ++o)
    for (i64 j = 0; j < v.inner; ++j) {
      Wide<T> total = product;
      double scale = 1;
      for (i64 step = 0; step < v.axis; ++step) {
        const i64 i = v.at(o, options.reverse ? v.axis - 1 - step : step, j);
        const Wide<T> before = total, value = Wide<T>(x[i]);
        total = product ? total * value : total + value;
        scale += std::abs(double(total)) + std::abs(double(value)) / 8;
        ok = ok && close<T>(y[i], options.exclusive ? before : total, scale);
      }
    }
  CHECK_MESSAGE(ok, v.outer, ", ", v.axis, ", ", v.inner, product ? " cumprod" : " cumsum");
}

/// A row's log(sum(exp)) in double.
template <class At>
double naive_logsumexp(i64 n, const At& at) {
  double largest = -INFINITY, sum = 0;
  for (i64 i = 0; i < n; ++i) largest = std::max(largest, static_cast<double>(at(i)));
  for (i64 i = 0; i < n; ++i) sum += std::exp(static_cast<double>(at(i)) - largest);
  return n == 0 ? -INFINITY : largest + std::log(sum);
}

template <class T>
void check_softmax(const View& v) {
  const Array<T> x = numbers<T>(v.size()), g = numbers<T>(v.size());
  const Array<T> s(v.size()), l(v.size()), ds(v.size()), dl(v.size());
  k::softmax(x.data(), s.data(), v.outer, v.axis, v.inner);
  k::log_softmax(x.data(), l.data(), v.outer, v.axis, v.inner);
  k::softmax_backward(s.data(), g.data(), ds.data(), v.outer, v.axis, v.inner);
  k::log_softmax_backward(l.data(), g.data(), dl.data(), v.outer, v.axis, v.inner);
  const Array<T> in_place(v.size());
  std::copy_n(g.data(), v.size(), in_place.data());
  k::log_softmax_backward(l.data(), in_place.data(), in_place.data(), v.outer, v.axis, v.inner);
  bool ok = true;
  for (i64 i = 0; i < v.size(); ++i) ok = ok && double(in_place[i]) == double(dl[i]);
  const auto same_total = [&](T got, auto at) { return close<T>(got, naive_logsumexp(v.axis, at)); };
  check_reduction<T, T>("logsumexp", v, x, k::logsumexp<T>, same_total);
  for (i64 o = 0; o < v.outer; ++o)
    for (i64 j = 0; j < v.inner; ++j) {
      const double total = naive_logsumexp(v.axis, [&](i64 i) { return x[v.at(o, i, j)]; });
      double dot = 0, sum = 0, scale = 1;
      for (i64 i = 0; i < v.axis; ++i) {
        const double gradient = double(g[v.at(o, i, j)]);
        dot += double(s[v.at(o, i, j)]) * gradient, sum += gradient, scale += std::abs(gradient);
      }
      for (i64 i = 0; i < v.axis; ++i) {
        const i64 at = v.at(o, i, j);
        const double logit = double(x[at]) - total, gradient = double(g[at]);
        ok = ok && close<T>(s[at], std::exp(logit)) && close<T>(l[at], logit, 8) &&
             close<T>(ds[at], double(s[at]) * (gradient - dot)) &&
             close<T>(dl[at], gradient - std::exp(double(l[at])) * sum, scale);
      }
    }
  CHECK_MESSAGE(ok, v.outer, ", ", v.axis, ", ", v.inner);
}

template <class T, class Index>
void check_gather(i64 outer, i64 axis, i64 count, i64 width) {
  const Array<T> in = numbers<T>(outer * axis * width), out(outer * count * width);
  const Array<T> sums(in.size()), wanted(in.size());
  const Array<Index> indices(count);
  for (i64 i = 0; i < count; ++i) indices[i] = static_cast<Index>(i * i % axis);
  k::gather_rows(out.data(), in.data(), indices.data(), outer, axis, count, width * sizeof(T));
  k::scatter_add_rows(sums.data(), indices.data(), out.data(), outer, axis, count, width);
  bool ok = true;
  for_each_index({outer, count, width}, [&](const auto& at) {
    const T value = out[(at[0] * count + at[1]) * width + at[2]];
    const i64 source = (at[0] * axis + indices[at[1]]) * width + at[2];
    ok = ok && value == in[source];
    T& sum = wanted[source];
    if constexpr (std::is_integral_v<T>)
      sum = static_cast<T>(Wide<T>(sum) + Wide<T>(value));
    else
      sum = T(sum + value);
  });
  CHECK((ok && std::equal(wanted.data(), wanted.data() + wanted.size(), sums.data())));
}

}  // namespace

TEST_CASE_TEMPLATE("kernels: reductions agree with loops", T, bool, std::uint8_t, std::int8_t, std::int16_t,
                   std::int32_t, i64, float16, float, double) {
  for (const View& v : views) {
    const Array<T> x = numbers<T>(v.size());
    check_sums(v, x);
    check_logic(v, x);
    if (v.size() > 20)
      for (i64 i = 0; i < v.size(); i += 7) {
        if constexpr (std::is_integral_v<T>)
          x[i] = T(1);
        else
          x[i] = i % 5 == 0 ? T(NAN) : T(-0.0f);
      }
    check_extremes(v, x);
    check_logic(v, x);
  }
}

TEST_CASE_TEMPLATE("kernels: reductions of short rows, narrow columns and their ends agree with loops", T, std::uint8_t,
                   std::int8_t, std::int16_t, std::int32_t, i64, float16, float, double) {
  std::vector<View> all = {{1, 700, 3}, {1, 70001, 5}, {3, 999, 33}, {2, 17, 2100}, {70, 530, 1}, {1000, 4, 3},
                           {300, 2, 70}, {67, 40, 7}, {5, 20000, 1}};
  for (i64 n : {1, 2, 3, 4, 7, 8, 9, 16, 17, 33, 64, 65, 100, 129, 256, 257})
    for (i64 rows : {65, 331}) all.push_back({rows, n, 1});
  for (const View& v : all) {
    const Array<T> x = numbers<T>(v.size());
    check_sums(v, x);
    check_logic(v, x);
    check_extremes(v, x);
    check_means(v, x);
  }
}

TEST_CASE("kernels: long sums are exact, and the same on any number of threads") {
  const i64 n = 2000000;
  Array<float> x(n);
  double exact = 0;
  for (i64 i = 0; i < n; ++i) x[i] = 0.1f + 1e-7f * static_cast<float>(i % 1000), exact += x[i];
  float one = 0, two[2], alone[3];
  k::reduce_sum(x.data(), &one, 1, n, 1);
  k::reduce_sum(x.data(), two, 1, n / 2, 2);
  CHECK(one == doctest::Approx(exact).epsilon(1e-6));
  CHECK(two[0] + two[1] == doctest::Approx(exact).epsilon(1e-6));
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    k::reduce_sum(x.data(), alone, 1, n, 1);
    k::reduce_sum(x.data(), alone + 1, 1, n / 2, 2);
  }
  CHECK((one == alone[0] && two[0] == alone[1] && two[1] == alone[2]));
}

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
  check_permute<U>({3, 4, 5, 6}, {3, 1, 2, 0});
  check_permute<U>({1100, 2064}, {1, 0});
  check_permute<U>({1101, 2063}, {1, 0});             // rows of no whole number of lines
  check_permute<U>({17, 33, 37, 129}, {0, 2, 1, 3});  // long runs
  check_permute<U>({61, 33, 65, 19}, {0, 2, 1, 3});   // short ones
  check_permute<U>({31, 33, 4, 5, 128}, {0, 4, 2, 1, 3});
  check_permute<U>({20001, 5, 5, 5}, {3, 0, 2, 1});
  for (const i64 few : {2, 3, 4, 6, 11}) {  // few channels
    check_permute<U>({2200007 / few, few}, {1, 0});
    check_permute<U>({few, 2200007 / few}, {1, 0});
  }
  check_permute<U>({3, 2900, 300 * 4 / sizeof(U)}, {1, 2, 0});
  check_permute<U>({37, 43, 41, 35}, {3, 2, 1, 0});
  if (sizeof(U) < 4) check_permute<U>({2903, i64(3001 / sizeof(U))}, {1, 0});
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
  Array<U> filled(1001);
  const U value = 7;
  k::fill_elements(filled.data(), &value, 1000, sizeof(U));
  CHECK((std::count(filled.data(), filled.data() + 1001, value) == 1000 && filled[1000] == 0));
}

TEST_CASE_TEMPLATE("kernels: broadcast operands agree with loops", T, bool, std::uint8_t, std::int16_t,
                   std::int32_t, i64, float16, float, double) {
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

TEST_CASE_TEMPLATE("kernels: running sums and products agree with loops", T, bool, std::uint8_t, std::int8_t,
                   std::int16_t, std::int32_t, i64, float16, float, double) {
  for (const View& v : views)
    for (int mode = 0; mode < 4; ++mode) {
      if (v.axis > 1000) continue;
      check_scan<T>(v, {.reverse = mode % 2 == 1, .exclusive = mode / 2 == 1}, false);
      check_scan<T>(v, {.reverse = mode % 2 == 1, .exclusive = mode / 2 == 1}, true);
    }
  check_scan<T>({2100, 1030, 1}, {.reverse = true}, false);
}

TEST_CASE_TEMPLATE("kernels: running sums of a few elements, or of a few columns", T, std::uint8_t, std::int16_t,
                   std::int32_t, i64, float16, float, double) {
  for (const bool reverse : {false, true}) {
    for (const i64 n : {2, 3, 4, 10, 31, 64, 65}) check_scan<T>({67, n, 1}, {.reverse = reverse, .exclusive = n == 4}, false);
    for (const i64 inner : {2, 3, 5, 7, 8, 15, 31, 63})
      for (const i64 axis : {2, 33, 100}) check_scan<T>({3, axis, inner}, {.reverse = reverse, .exclusive = inner == 5}, axis == 33);
    if constexpr (std::is_integral_v<T>) check_scan<T>({1, 1500000, 3}, {.reverse = reverse}, false);  // in pieces
  }
}

TEST_CASE_TEMPLATE("kernels: long running sums of a few columns in pieces", T, float, double) {
  for (const bool reverse : {false, true}) {
    const i64 rows = 1200007;
    Array<T> x(3 * rows), y(x.size());
    for (i64 i = 0; i < x.size(); ++i) x[i] = i % 7 == 3 ? T(2) : i % 7 == 5 ? T(-2) : T(0);
    k::cumsum(x.data(), y.data(), 1, rows, 3, {.reverse = reverse});
    double total[3] = {};
    bool ok = true;
    for (i64 k = 0; k < rows; ++k)
      for (int j = 0; j < 3; ++j) {
        const i64 i = (reverse ? rows - 1 - k : k) * 3 + j;
        ok = ok && y[i] == (total[j] += x[i]);
      }
    CHECK(ok);
  }
}

TEST_CASE("kernels: half running sums past the caches") {
  const i64 rows = 300, width = 16384;
  Array<float16> x(rows * width), y(x.size());
  for (i64 i = 0; i < x.size(); ++i) x[i] = float16(float(i % 3));
  k::cumsum(x.data(), y.data(), 1, rows, width);
  bool ok = true;
  for (i64 j = 0; j < width; ++j) {
    float total = 0;
    for (i64 k = 0; k < rows; ++k) ok = ok && float(y[k * width + j]) == (total += float(x[k * width + j]));
  }
  CHECK(ok);
}

TEST_CASE_TEMPLATE("kernels: softmax and its relatives agree with loops", T, float16, float, double) {
  for (const View& v : views) check_softmax<T>(v);
  check_softmax<T>({2100, 1030, 1});
}

TEST_CASE_TEMPLATE("kernels: softmax of rows of a few elements", T, float16, float, double) {
  for (i64 n = 1; n <= 66; ++n)
    for (const i64 rows : {1, 16, 67, 530}) check_softmax<T>({rows, n, 1});
  for (const i64 inner : {2, 3, 7, 20})
    for (const i64 axis : {2, 3, 9}) check_softmax<T>({301, axis, inner});
  check_softmax<T>({700003, 3, 1});
}

TEST_CASE_TEMPLATE("kernels: softmax along columns", T, float16, float, double) {
  for (const i64 axis : {8, 9, 17, 130})
    for (const i64 inner : {13, 64, 65, 600}) check_softmax<T>({2, axis, inner});
  check_softmax<T>({1, 40, 60032}), check_softmax<T>({1, 40, 60001});  // written past the caches
  check_softmax<T>({1, 70001, 3}), check_softmax<T>({1, 9, 9000});     // in pieces, and many columns
}

TEST_CASE_TEMPLATE("kernels: softmax whose largest elements come late, or never", T, float16, float, double) {
  for (const i64 inner : {1, 70}) {
    const i64 axis = 100;
    Array<T> x(axis * inner), y(x.size()), l(x.size()), total(inner);
    for (i64 k = 0; k < axis; ++k)
      for (i64 j = 0; j < inner; ++j) {
        const bool out = j % 5 == 4 || (j % 5 == 3 && k < 90);  // no element, or those of the first chunks
        x[k * inner + j] = T(out ? -INFINITY : j % 5 == 2 && k == 50 ? INFINITY : j % 5 == 1 && k == 70 ? NAN : k * 40.f);
      }
    k::softmax(x.data(), y.data(), 1, axis, inner);
    k::log_softmax(x.data(), l.data(), 1, axis, inner);
    k::logsumexp(x.data(), total.data(), 1, axis, inner);
    for (i64 j = 0; j < inner; ++j) {
      const double top = double(y[(axis - 1) * inner + j]), low = double(y[j]), log = double(l[j]), sum = double(total[j]);
      if (j % 5 == 0) CHECK((top == 1 && low == 0 && log == -3960 && sum == 3960));
      if (j % 5 == 1) CHECK((std::isnan(top) && std::isnan(low) && std::isnan(log) && std::isnan(sum)));
      if (j % 5 == 2) CHECK((std::isnan(top) && std::isnan(low) && std::isnan(log) && sum == INFINITY));
      if (j % 5 == 3) CHECK((top == 1 && low == 0 && log == -INFINITY && sum == 3960));
      if (j % 5 == 4) CHECK((std::isnan(top) && std::isnan(low) && std::isnan(log) && sum == -INFINITY));
    }
  }
}

TEST_CASE_TEMPLATE("kernels: softmax of infinities", T, float16, float, double) {
  const T inf = T(INFINITY), minus_inf = T(-INFINITY);
  for (const i64 inner : {1, 3}) {
    Array<T> x(2 * 2 * inner), y(x.size()), total(2 * inner);
    for (i64 i = 0; i < 2 * inner; ++i) x[i] = minus_inf, x[2 * inner + i] = i < inner ? inf : T(1.f);
    k::logsumexp(x.data(), total.data(), 2, 2, inner);
    CHECK((total[0] == minus_inf && total[inner] == inf));
    k::softmax(x.data(), y.data(), 2, 2, inner);
    CHECK((std::isnan(float(y[0])) && std::isnan(float(y[2 * inner]))));
    x[0] = T(2.f);
    k::softmax(x.data(), y.data(), 2, 2, inner);
    CHECK((y[0] == T(1.f) && y[inner] == T(0.f)));
  }
}

TEST_CASE_TEMPLATE("kernels: gather and scatter-add agree with loops", T, std::uint8_t, std::int8_t,
                   std::int16_t, std::int32_t, i64, float16, float, double) {
  for (const i64 width : {0, 1, 3, 17, 64, 700}) {
    check_gather<T, std::int32_t>(1, 20, 100, width);
    check_gather<T, i64>(3, 7, 40, width);
    check_gather<T, i64>(1, 5, 0, width);
    check_gather<T, std::int32_t>(17, 1, 3, width);
  }
}
