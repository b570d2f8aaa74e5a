#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/control/optimize.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/updates.hpp>

#include "catalogue.hpp"
#include "check.hpp"

using namespace ktape;
namespace K = ktape::backend;

TEST_CASE("set_value takes anything of the right shape") {
  Variable x = K::variable({1.f, 2.f});
  K::set_value(x, {5, 6});
  CHECK(values(x) == Values{5, 6});
  K::set_value(x, xt::xarray<double>{7, 8});
  CHECK(values(x) == Values{7, 8});
  CHECK(x.dtype() == "float32");
  CHECK(K::set_value(x, K::zeros({2})).is(x));
  Variable n = K::variable(1, {.dtype = "int32"});
  K::set_value(n, 2.9);
  CHECK(n.item<int>() == 2);
  CHECK_THROWS_WITH_AS(K::set_value(n, 1e10),
                       "[set_value] a number must fit the tensor's dtype int32: received number=1e+10",
                       TypeError);
  CHECK_THROWS_WITH_AS(K::set_value(x, {1.f, 2.f, 3.f}),
                       "[set_value] value must have the shape (2,) of 'Variable': received value=(3,)",
                       ValueError);
  CHECK(values(x) == Values{0, 0});
  CHECK_THROWS_AS(K::set_value(Variable(), 1), ValueError);
}

TEST_CASE("batch_set_value sets all or nothing") {
  Variable x = K::variable({1.f, 2.f}), y = K::variable(3.f);
  K::batch_set_value({{x, {3, 4}}, {y, 5}});
  CHECK(values(x) == Values{3, 4});
  CHECK(y.item() == 5.f);
  CHECK_THROWS_AS(K::batch_set_value({{x, {7, 8}}, {y, {9, 9}}}), ValueError);
  CHECK(values(x) == Values{3, 4});
  Variable small = K::variable(1, {.dtype = "uint8"});
  CHECK_THROWS_AS(K::batch_set_value({{x, {7, 8}}, {small, 300}}), TypeError);
  CHECK_THROWS_AS(K::batch_set_value({{x, {7, 8}}, {y, K::placeholder(Shape{})}}), ValueError);
  CHECK(values(x) == Values{3, 4});
}

TEST_CASE("update, update_add and update_sub, for every number dtype") {
  for (const char* dtype : {"uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"}) {
    CAPTURE(dtype);
    Variable x = K::variable({10, 20, 30}, {.dtype = dtype});
    const Tensor step = K::constant({1, 2, 3}, {.dtype = dtype});
    CHECK(K::update_add(x, step).raw() == x.value().raw());
    CHECK(values(x) == Values{11, 22, 33});
    K::update_sub(x, step);
    K::update_sub(x, 2);
    CHECK(values(x) == Values{8, 18, 28});
    K::update_add(x, 1);
    CHECK(values(x) == Values{9, 19, 29});
    K::update(x, step);
    CHECK(values(x) == Values{1, 2, 3});
    K::update_add(x, x);
    CHECK(values(x) == Values{2, 4, 6});
  }
}

TEST_CASE("moving_average_update keeps a share of the old value and adds the rest of the new one") {
  Variable x = K::variable({5, 6}, {.dtype = "float64"});
  K::moving_average_update(x, K::constant({0, 16}, {.dtype = "float64"}), 0.75);
  CHECK(values(x) == Values{3.75, 8.5});
  K::moving_average_update(x, K::ones({2}, {.dtype = "float64"}), 1);
  CHECK(values(x) == Values{3.75, 8.5});
  K::moving_average_update(x, K::constant({3}, {.dtype = "int32"}), 0);  // any dtype, broadcast
  CHECK(values(x) == Values{3, 3});
  K::moving_average_update(x, {4, 6}, 0.5);
  K::moving_average_update(x, 1.5, 0.5);
  CHECK(values(x) == Values{2.5, 3});
  CHECK_THROWS_AS(K::moving_average_update(x, K::ones({3}, {.dtype = "float64"}), 0.9), ValueError);
  CHECK_THROWS_AS(K::moving_average_update(x, K::ones({2, 2}, {.dtype = "float64"}), 0.9), ValueError);
  CHECK_THROWS_AS(K::moving_average_update(K::variable({1}, {.dtype = "int32"}), K::ones({1}), 0.9),
                  TypeError);
}

TEST_CASE("updates refuse numbers that the variable's dtype cannot hold") {
  Variable x = K::variable({1, 2}, {.dtype = "uint8"});
  CHECK_THROWS_WITH_AS(K::update_add(x, 300),
                       "[update_add] a number must fit the tensor's dtype uint8: received number=300",
                       TypeError);
  CHECK_THROWS_WITH_AS(K::update_sub(x, -1),
                       "[update_sub] a number must fit the tensor's dtype uint8: received number=-1",
                       TypeError);
  CHECK_THROWS_WITH_AS(K::update(x, {1, 256}),
                       "[update] a number must fit the tensor's dtype uint8: received number=256", TypeError);
  CHECK(values(x) == Values{1, 2});
}

TEST_CASE("updates take literals, numbers and expressions, which become the variable's dtype") {
  for (const char* dtype : {"int8", "int64", "float16", "float64"}) {
    CAPTURE(dtype);
    Variable x = K::variable({10, 20}, {.dtype = dtype});
    K::update_add(x, {1, 2});
    K::update_sub(x, std::vector<int>{2, 4});
    CHECK(values(x) == Values{9, 18});
    K::update(x, {3, 4});
    CHECK(values(x) == Values{3, 4});
  }
  Variable x = K::variable({1.f, 2.f}), s = K::variable(1);
  K::update_add(x, xt::xarray<float>{1, 1});
  K::update_sub(x, x);
  K::update(s, 2.5);
  CHECK(values(x) == Values{0, 0});
  CHECK(s.item() == 2.5f);
  CHECK_THROWS_AS(K::update(x, 3), ValueError);
  CHECK_THROWS_AS(K::update_add(K::variable({1}, {.dtype = "int32"}), {0.5}), TypeError);
}

TEST_CASE("an update that does not fit changes nothing") {
  Variable x = K::variable({1.f, 2.f}, {.name = "w"});
  CHECK_THROWS_WITH_AS(K::update_add(x, K::ones({3})),
                       "[update_add] increment must have the shape (2,) of 'w': received increment=(3,)",
                       ValueError);
  CHECK_THROWS_WITH_AS(
      K::update_sub(x, K::ones({2}, {.dtype = "float64"})),
      "[update_sub] decrement must have the dtype float32 of 'w': received decrement=float64", TypeError);
  CHECK_THROWS_AS(K::update(x, K::ones({2, 1})), ValueError);
  CHECK_THROWS_AS(K::update_add(K::variable({1}, {.dtype = "int32"}), 0.5), TypeError);
  CHECK_THROWS_AS(K::update_add(K::variable({true}, {.dtype = "bool"}), 1), TypeError);
  CHECK(values(x) == Values{1, 2});
}

TEST_CASE("updates write in place unless another tensor shares the old value") {
  Variable x = K::variable({1.f, 2.f});
  const void* memory = x.value().raw();
  K::update_add(x, K::ones({2}));
  K::moving_average_update(x, K::ones({2}), 0.5);
  CHECK(x.value().raw() == memory);
  const Tensor before = x;
  const Tensor loss = x * x;
  K::update_sub(x, before);
  CHECK(values(before) == Values{1.5, 2});
  CHECK(values(x) == Values{0, 0});
  CHECK(values(gradients(loss, {x})[0]) == Values{3, 4});
}

namespace {
// An update of a tensor does not compile, because it would change a temporary variable.
template <class X>
constexpr bool updatable = requires(X x, Tensor value) {
  K::update(x, value);
};
template <class X>
constexpr bool settable = requires(X x) {
  K::set_value(x, 1.f);
};
template <class X>
constexpr bool summable = requires(X x) {
  K::update_add(x, 1.f), K::update_sub(x, 1.f);
};
template <class X>
constexpr bool averageable = requires(X x) {
  K::moving_average_update(x, 1.f, 0.9);
};
template <class X>
constexpr bool batchable = requires(X x) {
  K::batch_set_value({{x, 1.f}});
};
template <class X>
constexpr bool trainable = requires(X x, Tensor g, Variable m) {
  K::adam_update(x, g, m, m, 1);
};
}  // namespace

TEST_CASE("only variables are updated") {
  static_assert(updatable<Variable> && updatable<const Variable&> && !updatable<Tensor>);
  static_assert(settable<Variable> && !settable<Tensor> && !settable<const Tensor&>);
  static_assert(summable<Variable> && !summable<Tensor>);
  static_assert(averageable<Variable> && !averageable<Tensor>);
  static_assert(batchable<Variable> && !batchable<Tensor>);
  static_assert(trainable<Variable> && !trainable<Tensor>);
  const std::vector<Variable> weights{K::zeros({2}), K::zeros({2})};
  for (const Variable& w : weights) K::update(w, {1, 2});
  CHECK(values(weights[1]) == Values{1, 2});
}

TEST_CASE("using a gradient of None is an error with the reason") {
  const Variable w = K::variable({1.f, 2.f}), other = K::variable({1.f, 2.f});
  const Tensor constant = K::ones({2});
  const auto grads = gradients(K::sum(w * constant), {w, other, constant});
  CHECK(grads[0].defined());
  for (int i : {1, 2}) {
    const Tensor& none = grads[static_cast<std::size_t>(i)];
    CHECK_FALSE(none.defined());
    CHECK_FALSE(K::is_tensor(none));
    CHECK(to_string(none) == "None");
    const std::string why =
        "received an undefined gradient (None): the loss does not depend on the tensor, "
        "or the tensor was not recorded: a Variable, or tape.watch";
    const std::string of_update = "[update_sub] decrement must be a tensor: " + why,
                      of_shape = "[tensor] the tensor must be defined: " + why;
    CHECK_THROWS_WITH_AS(K::update_sub(other, none), of_update.c_str(), ValueError);
    CHECK_THROWS_WITH_AS(none.shape(), of_shape.c_str(), ValueError);
  }
  CHECK(values(other) == Values{1, 2});
  const Tensor x = K::placeholder({2});
  CHECK_FALSE(gradients(K::sum(x), {other})[0].defined());
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      // Values that leave, and enter variables.
      {"set_value", no_gradient}, {"batch_set_value", no_gradient}, {"update", no_gradient},
      {"update_add", no_gradient}, {"update_sub", no_gradient}, {"moving_average_update", no_gradient},
  };
});
// clang-format on

}  // namespace
