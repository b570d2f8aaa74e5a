#include <doctest/doctest.h>
#include <ktape/ops/fusion/element_ops.hpp>

#include <vector>

using namespace ktape::fusion;
using ktape::DType, ktape::Ref, ktape::Shape, ktape::Storage;

namespace {

constexpr auto plus = [](auto a, auto b) { return a + b; };
constexpr auto times = [](auto a, auto b) { return a * b; };
constexpr auto negative = [](auto a) { return -a; };

/// A list of ops on float32 values, made by hand. A storage in `read` is read by a tensor outside of the list.
struct List : ElementOps {
  std::vector<Ref<Storage>> read;

  int input() {
    values.push_back({Storage::make(64), DType::Float32});
    read.push_back(values.back().storage);
    return last_value();
  }
  /// Makes an input that no tensor outside of the list sees.
  int last_input() {
    values.push_back({Storage::make(64), DType::Float32});
    return last_value();
  }
  template <class F>
  int op(const F& f, std::vector<ElementOperand> x, std::int64_t size = 8, bool is_read = false) {
    ElementOp& added = ops.emplace_back();
    added.loop = x.size() == 1 ? loop_of(f) : loop_of_two(f);
    added.size = size;
    std::copy(x.begin(), x.end(), added.x.begin());
    added.result = static_cast<int>(values.size());
    values.push_back({Storage::make(64), DType::Float32, static_cast<int>(ops.size()) - 1});
    if (is_read) read.push_back(values.back().storage);
    return added.result;
  }
  int last_value() const { return static_cast<int>(values.size()) - 1; }

  template <class F>
  static ktape::kernels::ElementLoop loop_of(const F& f) {
    if constexpr (std::is_invocable_v<F, float>)
      return ktape::kernels::detail::element_loop<float, float, 1>(f);
    else return {};
  }
  template <class F>
  static ktape::kernels::ElementLoop loop_of_two(const F& f) {
    if constexpr (std::is_invocable_v<F, float, float>)
      return ktape::kernels::detail::element_loop<float, float, 2>(f);
    else return {};
  }
};

}  // namespace

TEST_CASE("equal ops read equal results, and ops that differ in anything do not") {
  List list;
  const int x = list.input(), y = list.input();
  const int a = list.op(plus, {{x}, {y}}), b = list.op(plus, {{x}, {y}}), c = list.op(plus, {{y}, {x}});
  const int d = list.op(times, {{x}, {y}});
  const int e = list.op(negative, {{b}}), f = list.op(negative, {{a}}), g = list.op(negative, {{c}});
  list.op(times, {{e}, {f}}), list.op(times, {{d}, {g}});
  merge_equal_ops(list);
  CHECK(list.ops[4].x[0].value == a);  // b is a
  CHECK(list.ops[6].x[0].value == c);  // y + x is another op than x + y
  CHECK(list.ops[7].x[0].value == e);  // f is e, because b is a
  CHECK(list.ops[7].x[1].value == e);
  CHECK(list.ops[8].x[0].value == d);
}

TEST_CASE("ops whose results nobody reads are not in use") {
  List list;
  const int x = list.input();
  const int a = list.op(negative, {{x}}), unread = list.op(plus, {{x}, {a}});
  list.op(negative, {{unread}});
  list.op(times, {{a}, {x}}, 8, true);
  CHECK(ops_in_use(list) == std::vector<bool>{true, false, false, true});
}

TEST_CASE("groups have one size, and run after the groups that make their operands") {
  List list;
  const int x = list.input(), row = list.input();
  list.broadcasts.emplace_back(Shape{4}, Shape{2, 4});
  const int a = list.op(negative, {{x}});
  const int small = list.op(negative, {{row}}, 4);
  const int b = list.op(negative, {{a}}, 8);
  const int c = list.op(plus, {{b}, {small, 0}}, 8);
  list.op(negative, {{c}}, 8, true);
  list.op(negative, {{small}}, 4, true);
  const std::vector<ElementGroup> groups = group_ops(list, ops_in_use(list));
  REQUIRE(groups.size() == 3);
  CHECK(groups[0] == ElementGroup{0, 2});
  CHECK(groups[1] == ElementGroup{1, 5});  // the last op joins the newest group of its size
  CHECK(groups[2] == ElementGroup{3, 4});
}

TEST_CASE("buffers are used again after the last reader") {
  List list;
  const int x = list.input();
  int y = x;
  for (int i = 0; i < 10; ++i) y = list.op(negative, {{y}});
  const int first = list.op(negative, {{y}}), second = list.op(plus, {{y}, {first}});
  list.op(times, {{second}, {first}}, 8, true);
  const std::vector<ElementGroup> groups = group_ops(list, ops_in_use(list));
  REQUIRE(groups.size() == 1);
  std::vector<bool> kept;
  for (const ElementValue& value : list.values) kept.push_back(value.storage->shared());
  const GroupPlan plan = plan_group(list, groups[0], kept);
  CHECK(plan.buffers == 2);
  CHECK(plan.buffer_of[static_cast<std::size_t>(list.last_value())] == -1);
  CHECK(plan.buffer_of[static_cast<std::size_t>(first)] != plan.buffer_of[static_cast<std::size_t>(y)]);
}

TEST_CASE("a result takes the memory of an operand that ends, and of no other operand") {
  const auto donor = [](auto make) {
    List list;
    make(list);
    const std::vector<ElementGroup> groups = group_ops(list, ops_in_use(list));
    std::vector<bool> kept;
    for (const ElementValue& value : list.values) kept.push_back(value.storage->shared());
    return plan_group(list, groups[0], kept).donor_of[static_cast<std::size_t>(list.last_value())];
  };
  CHECK(donor([](List& list) { list.op(negative, {{list.last_input()}}, 8, true); }) == 0);
  CHECK(donor([](List& list) { list.op(negative, {{list.input()}}, 8, true); }) == -1);
  CHECK(donor([](List& list) {
          const int x = list.last_input(), y = list.op(negative, {{x}});
          list.op(plus, {{x}, {y}}, 8, true);
        }) == 0);
  CHECK(donor([](List& list) {  // an operand that is broadcast has other elements
          list.broadcasts.emplace_back(Shape{4}, Shape{2, 4});
          list.op(plus, {{list.input()}, {list.last_input(), 0}}, 8, true);
        }) == -1);
  CHECK(donor([](List& list) {
          list.values.push_back({Storage::make(64), DType::Int32});
          list.op(negative, {{0}}, 8, true);
        }) == -1);
}
