#include <doctest/doctest.h>
#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/autograd/literal.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/updates.hpp>

using namespace ktape;
namespace K = ktape::backend;

namespace {
Tensor floats(const ArrayLike& value) { return value.tensor("float32", "float32"); }
}  // namespace

TEST_CASE("a variable has a name and a value, and converts to a tensor") {
  const Variable v(floats({1, 2}), "kernel");
  CHECK(v.name() == "kernel");
  CHECK(v.shape() == Shape{2});
  CHECK(v.dtype() == "float32");
  CHECK(v.size() == 2);
  CHECK(v.item(1) == 2.f);
  CHECK((v + v).item(1) == 4.f);
}

TEST_CASE("copies refer to one variable") {
  Variable v(floats({1, 2}));
  const Variable same = v, other(floats({1, 2}));
  CHECK(same.is(v));
  CHECK(!other.is(v));
  CHECK((other == v).item<bool>(1));  // element by element
  v.assign(floats({3, 4}));
  CHECK(same.item(0) == 3.f);
  v.set_trainable(false);
  CHECK(!same.trainable());
}

TEST_CASE("reading an undefined variable is an error that says undefined") {
  Variable none;
  CHECK(!none.defined());
  CHECK_THROWS_WITH_AS(none.value(),
                       "[variable] the variable must be defined: received an undefined variable", ValueError);
  std::ostringstream text;
  text << none;
  CHECK(text.str() == "<Variable: None>");
  CHECK_THROWS_AS(none.assign(floats(1)), ValueError);
  CHECK_THROWS_AS(none.name(), ValueError);
  CHECK_THROWS_AS(Variable{Tensor()}, ValueError);
}

TEST_CASE("a new value must have the shape and dtype of the old one") {
  Variable v(floats({1, 2}), "bias");
  CHECK_THROWS_WITH_AS(v.assign(floats({1, 2, 3})),
                       "[assign] the new value must have the shape (2,) of 'bias': received shape=(3,)",
                       ValueError);
  CHECK_THROWS_WITH_AS(v.assign(ArrayLike({1, 2}).tensor("float64", "float64")),
                       "[assign] the new value must have the dtype float32 of 'bias': received dtype=float64",
                       TypeError);
  CHECK_THROWS_AS(v.assign(Tensor()), ValueError);
  CHECK(v.item(0) == 1.f);
}

TEST_CASE("an update writes in place when no tensor shares the old value") {
  Variable v(floats({1, 2}));
  const void* memory = v.value().raw();
  v.assign(floats({3, 4}));
  CHECK(v.value().raw() == memory);
  CHECK(v.item(1) == 4.f);
  v.modify([](void* to, const void* from) {
    for (int i = 0; i < 2; ++i) static_cast<float*>(to)[i] = static_cast<const float*>(from)[i] * 2;
  });
  CHECK(v.value().raw() == memory);
  CHECK(v.item(1) == 8.f);
}

TEST_CASE("a value that was taken before an update does not change") {
  Variable v(floats({1, 2}));
  const Tensor before = v;
  v.modify([](void* to, const void* from) {
    for (int i = 0; i < 2; ++i) static_cast<float*>(to)[i] = static_cast<const float*>(from)[i] + 10;
  });
  CHECK(before.item(0) == 1.f);
  CHECK(v.item(0) == 11.f);
  v.assign(floats({5, 6}));
  CHECK(before.item(0) == 1.f);
}

TEST_CASE("a variable does not share its start value's memory for writing") {
  const Tensor start = floats({1, 2});
  Variable v(start);
  v.assign(floats({3, 4}));
  CHECK(start.item(0) == 1.f);
  const Tensor source = floats({5, 6});
  v.assign(source);
  v.assign(floats({7, 8}));
  CHECK(source.item(0) == 5.f);
}

TEST_CASE("a gradient uses the value that the op read, also after the variable has changed") {
  Variable x(floats({1, 2})), w(floats({3, 4}));
  const Tensor loss = x * w;
  w.assign(floats({30, 40}));
  x.assign(floats({-1, -2}));
  const auto g = gradients(loss, {x, w});
  CHECK(g[0].item(1) == 4.f);
  CHECK(g[1].item(1) == 2.f);
  CHECK(gradients(x * w, {x})[0].item(1) == 40.f);
}

TEST_CASE("a gradient reaches the variable through all of its values") {
  Variable x(floats(3));
  const Tensor old = x * x;
  x.assign(floats(5));
  const Tensor both = old + x * x;
  CHECK(gradients(both, {x})[0].item() == 6 + 10);
}

TEST_CASE("a variable may be assigned a value computed from the variable") {
  Variable x(floats({1, 2}));
  for (int i = 0; i < 3; ++i) x.assign(x * 2);
  CHECK(x.item(1) == 16.f);
  CHECK(tape().size() == 0);
  CHECK(gradients(x * 1, {x})[0].item(0) == 1.f);
  x.assign(x.value());
  CHECK(x.item(1) == 16.f);
}

TEST_CASE("a constraint travels with the variable") {
  const Variable v(floats({-1, 2}), "v", [](const Tensor& w) { return K::maximum(w, w * 0); });
  REQUIRE(v.constraint());
  CHECK(v.constraint()(v).item(0) == 0.f);
  CHECK(!Variable(floats(1)).constraint());
}

template <class X, class Y>
concept can_grow = requires(X x, const Y& y) {
  x += y, x -= y, x *= y, x /= y;
};

TEST_CASE("a variable starts with a tensor, but a tensor cannot replace it") {
  Variable w = K::zeros({2, 1});
  Variable again;
  again = w;
  CHECK(again.is(w));
  static_assert(std::is_convertible_v<Tensor, Variable>);
  static_assert(std::is_assignable_v<Variable&, Variable>);
  static_assert(!std::is_assignable_v<Variable&, Tensor>);
  static_assert(!std::is_assignable_v<Variable&, const Tensor&>);
  static_assert(!can_grow<Variable, Tensor> && !can_grow<Variable, float> && can_grow<Tensor, Tensor>);
  Tensor loss = w;  // a Tensor may be anything in turn
  loss = loss + w;
  CHECK(loss.shape() == Shape{2, 1});
}

TEST_CASE("memos of a value are dropped with the value, or before the value changes in place") {
  int destroyed = 0;
  const auto remember = [&](const Tensor& value) {
    value.get()->storage->memo() = {&destroyed, [](void* count) { ++*static_cast<int*>(count); }};
  };
  { remember(floats({1, 2})); }
  CHECK(destroyed == 1);

  Variable v(floats({1, 2}));
  remember(v.value());
  v.assign(v.value());
  CHECK(destroyed == 1);
  const void* const place = v.value().raw();
  v.assign(floats({3, 4}));
  CHECK(destroyed == 2);
  remember(v.value());
  K::update_add(v, floats({1, 1}));
  CHECK(destroyed == 3);
  CHECK(v.value().raw() == place);

  remember(v.value());
  {
    const Tensor before = v;
    v.assign(floats({5, 6}));  // into other memory
    CHECK(destroyed == 3);
  }
  CHECK(destroyed == 4);
}

namespace {
bool are(const Tensor& x, const std::vector<float>& wanted) {
  return std::vector<float>(x.pointer<float>(), x.pointer<float>() + x.size()) == wanted;
}
}  // namespace

TEST_CASE("assign, assign_add and assign_sub take numbers, literals, tensors and variables") {
  Variable v(floats({1, 2})), count(K::constant(3, {.dtype = "int64"}));
  v.assign({5, 6});
  CHECK(are(v, {5, 6}));
  v.assign(Variable(floats({7, 8})));
  CHECK(are(v, {7, 8}));
  count.assign(0);
  CHECK(count.item<std::int64_t>() == 0);
  CHECK(are(v.assign_add(1), {8, 9}));
  CHECK(are(v.assign_sub(floats({8, 8})), {0, 1}));
  v.assign_add({0.5, 0.5});
  CHECK(are(v, {0.5, 1.5}));
  count.assign_add(2);
  CHECK(count.item<std::int64_t>() == 2);
  CHECK_THROWS_WITH_AS(v.assign(0), doctest::Contains("[assign] the new value must have the shape (2,)"),
                       ktape::ValueError);
  CHECK_THROWS_WITH_AS(count.assign(0.5), doctest::Contains("[assign]"), ktape::TypeError);
  CHECK_THROWS_WITH_AS(v.assign_add(floats({1, 2, 3})),
                       doctest::Contains("[assign_add] value must have the shape (2,)"), ktape::ValueError);
  CHECK_THROWS_WITH_AS(v.assign_sub(K::constant({1, 2}, {.dtype = "int32"})),
                       doctest::Contains("[assign_sub] value must have the dtype float32"), ktape::TypeError);
  CHECK_THROWS_WITH_AS(Variable().assign_add(1), doctest::Contains("[assign_add]"), ktape::ValueError);
  CHECK(are(v, {0.5, 1.5}));
}
