#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/updates.hpp>

#include <limits>
#include <sstream>

#include "catalogue.hpp"
#include "check.hpp"

using namespace ktape;
namespace K = ktape::backend;

TEST_CASE("variable takes literals, tensors and expressions") {
  const Variable v = K::variable({{1, 2}, {3, 4}}, {.dtype = "float64", .name = "w"});
  CHECK(v.dtype() == "float64");
  CHECK(v.name() == "w");
  CHECK(v.item<double>(1, 0) == 3);
  CHECK(K::variable(2).shape() == Shape{});
  CHECK(K::variable({1, 2}).dtype() == "float32");
  CHECK(K::variable(xt::xarray<double>{1, 2}).dtype() == "float64");
  CHECK(K::variable(xt::xarray<double>{1, 2}, {.dtype = "float32"}).dtype() == "float32");
  CHECK(K::variable(1.f).name() == "Variable");
  const K::name_scope scope("block");
  CHECK(K::variable(1.f, {.name = "b"}).name() == "block/b");
}

TEST_CASE("a dtype by position") {
  const Tensor x = K::constant({1, 2}, "float64");
  CHECK(x.dtype() == "float64");
  CHECK(K::zeros({2}, "int32").dtype() == "int32");
  CHECK(K::ones({2, 3}, "int8").dtype() == "int8");
  CHECK(K::zeros({}, "bool").dtype() == "bool");
  CHECK(K::eye(3, "float64").dtype() == "float64");
  CHECK(K::zeros_like(x, "int32").dtype() == "int32");
  CHECK(K::ones_like(x, DType::Float16).dtype() == "float16");
  CHECK(K::full({2}, 3, "int32").dtype() == "int32");
  CHECK(K::arange(0, 4, 1, "float32").dtype() == "float32");
  CHECK(K::variable({1, 2}, "float64").dtype() == "float64");
  CHECK(K::random_uniform_variable({2}, 0, 1, "float64").dtype() == "float64");
  CHECK(K::random_normal_variable({2}, 0, 1, "float64").dtype() == "float64");
  CHECK(K::ones_like(K::placeholder({K::None, 3}), "int32").dtype() == "int32");
  CHECK_THROWS_WITH_AS(K::zeros({2}, "int31"), doctest::Contains("received 'int31'"), ValueError);
}

TEST_CASE("a variable keeps its constraint") {
  const Variable v = K::variable(1.f, {.constraint = [](const Tensor& x) { return x * 2.f; }});
  CHECK(v.constraint()(v).item() == 2.f);
}

TEST_CASE("constant repeats one element and reshapes several") {
  CHECK(values(K::constant(2.5, {.shape = Shape{2, 2}})) == Values{2.5, 2.5, 2.5, 2.5});
  CHECK(K::constant({1, 2, 3, 4}, {.shape = Shape{2, 2}}).item(1, 0) == 3.f);
  CHECK(K::constant({7}, {.shape = Shape{0, 3}}).shape() == Shape{0, 3});
  CHECK(K::constant({1, 2}, {.dtype = "int8"}).dtype() == "int8");
  CHECK(K::constant(true).dtype() == "bool");
  CHECK_THROWS_WITH_AS(K::constant({1, 2, 3}, {.shape = Shape{2, 2}}),
                       "[constant] the value must fill the shape (2, 2): received value=(3,)", ValueError);
  CHECK_THROWS_AS(K::constant(1, {.shape = Shape{-1}}), ValueError);
}

TEST_CASE("full, zeros, ones and their likes fill every dtype, and floatx where none is given") {
  for (const char* name :
       {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"}) {
    CAPTURE(name);
    CHECK(values(K::ones({2, 2}, {.dtype = name})) == Values{1, 1, 1, 1});
    CHECK(K::zeros({3}, {.dtype = name}).dtype() == name);
    CHECK(values(K::ones_like(K::zeros({2}, {.dtype = name}))) == Values{1, 1});
  }
  CHECK(values(K::full({2}, 7, "int16")) == Values{7, 7});
  CHECK(K::full({100000}, 1.5).item(99999) == 1.5f);
  CHECK(K::zeros({0, 2}).size() == 0);
  CHECK(K::zeros_like(K::ones({2, 1}), {.dtype = "int32"}).dtype() == "int32");
  K::set_floatx("float64");
  CHECK(K::zeros({1}).dtype() == "float64");
  K::set_floatx("float32");
}

TEST_CASE("eye is square or rows by columns") {
  CHECK(values(K::eye(2)) == Values{1, 0, 0, 1});
  CHECK(values(K::eye({2, 3}, {.dtype = "int32"})) == Values{1, 0, 0, 0, 1, 0});
  CHECK(values(K::eye({3, 2})) == Values{1, 0, 0, 1, 0, 0});
  CHECK(K::eye(0).shape() == Shape{0, 0});
  CHECK_THROWS_WITH_AS(K::eye({2, 2, 2}), "[eye] the size must be rows and columns: received size=(2, 2, 2)",
                       ValueError);
  CHECK_THROWS_AS(K::eye(-1), ValueError);
}

TEST_CASE("arange counts as Keras does") {
  CHECK(values(K::arange(3)) == Values{0, 1, 2});
  CHECK(K::arange(3).dtype() == "int32");
  CHECK(K::arange(-3).shape() == Shape{0});
  CHECK(K::arange(-3.0).dtype() == "float32");
  CHECK(values(K::arange(1, 10, 3)) == Values{1, 4, 7});
  CHECK(values(K::arange(5, 0, -2)) == Values{5, 3, 1});
  CHECK(values(K::arange(0, 10, 1.5)) == Values{0, 1.5, 3, 4.5, 6, 7.5, 9});
  CHECK(K::arange(0, 10, 1.5, {.dtype = "int32"}).dtype() == "float32");
  CHECK(K::arange(0, 4, 1, {.dtype = "float64"}).dtype() == "float64");
  CHECK(K::arange(3, 3).size() == 0);
  const auto big = std::numeric_limits<std::int64_t>::max();
  CHECK(K::arange(big - 2, big, 1, {.dtype = "int64"}).item<std::int64_t>(1) == big - 1);
}

TEST_CASE("numbers that the dtype cannot hold are refused") {
  const auto text = [](const char* op, const char* dtype, const char* number) {
    return std::string("[") + op + "] a number must fit the tensor's dtype " + dtype +
           ": received number=" + number;
  };
  CHECK_THROWS_WITH_AS(K::constant(300, {.dtype = "uint8"}), text("constant", "uint8", "300").c_str(),
                       TypeError);
  CHECK_THROWS_WITH_AS(K::constant(1e10, {.dtype = "int32"}), text("constant", "int32", "1e+10").c_str(),
                       TypeError);
  CHECK_THROWS_WITH_AS(K::constant(1e300), text("constant", "float32", "1e+300").c_str(), TypeError);
  CHECK_THROWS_WITH_AS(K::variable({1, -1}, {.dtype = "uint8"}), text("variable", "uint8", "-1").c_str(),
                       TypeError);
  CHECK_THROWS_WITH_AS(K::full({2}, 2.5, "int32"), text("full", "int32", "2.5").c_str(), TypeError);
  CHECK_THROWS_WITH_AS(K::arange(0, 300, 1, {.dtype = "uint8"}), text("arange", "uint8", "299").c_str(),
                       TypeError);
  CHECK_THROWS_WITH_AS(K::arange(0, 2, 0.5, {.dtype = "int64"}), text("arange", "int64", "0.5").c_str(),
                       TypeError);
  CHECK(K::arange(0, 256, 1, {.dtype = "uint8"}).item<int>(255) == 255);
  CHECK(K::arange(0., 3., 1., {.dtype = "int64"}).item<int>(2) == 2);
}

TEST_CASE("arange refuses ranges without an end") {
  CHECK_THROWS_WITH_AS(K::arange(K::constant({1, 2})),
                       "[arange] an argument must be one number: received shape=(2,)", ValueError);
  CHECK_THROWS_WITH_AS(K::arange(10000000000, 10000000003),
                       doctest::Contains("int32: received start=10000000000, stop=10000000003, step=1"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::arange(0, 3, 0), "[arange] step must not be 0: received start=0, stop=3, step=0",
                       ValueError);
  CHECK_THROWS_WITH_AS(K::arange(3, 0),
                       "[arange] step must lead from start to stop: received start=3, stop=0, step=1",
                       ValueError);
  CHECK_THROWS_AS(K::arange(0, 1, std::numeric_limits<double>::quiet_NaN()), ValueError);
  CHECK_THROWS_AS(K::arange(0, std::numeric_limits<double>::infinity()), ValueError);
  CHECK_THROWS_AS(K::arange(0., 1e300, 1e-300), ValueError);
  CHECK_THROWS_AS(K::arange(std::int64_t{1} << 40, (std::int64_t{1} << 40) + 1), ValueError);
}

TEST_CASE("identity is another tensor through which gradients pass") {
  const Variable x = K::variable({1.f, 2.f});
  const Tensor y = K::identity(x);
  CHECK(y.item(1) == 2.f);
  CHECK_FALSE(K::is_variable(y));
  CHECK(gradients(y * y, {x})[0].item(1) == 4.f);
  CHECK(K::identity(x, {.name = "copy"}).shape() == x.shape());
}

TEST_CASE("with manual_variable_initialization a variable holds no value until one is set") {
  K::manual_variable_initialization(true);
  Variable w = K::variable({{1, 2}, {3, 4}}, {.dtype = "float64", .name = "w"});
  const Variable u = K::random_uniform_variable({3}, 0, 1), z(K::zeros({2}));
  K::manual_variable_initialization(false);
  CHECK_FALSE(w.has_value());
  CHECK_FALSE(u.has_value());
  CHECK(values(z) == Values{0, 0});
  CHECK(w.name() == "w");
  CHECK(w.shape() == Shape{2, 2});
  CHECK(K::int_shape(w) == Shape{2, 2});
  CHECK(K::ndim(w) == 2);
  CHECK(K::count_params(w) == 4);
  CHECK(K::dtype(w) == "float64");
  CHECK(K::is_variable(w));
  const auto contains = doctest::Contains("[variable] 'w' holds no value until one is set: ");
  CHECK_THROWS_WITH_AS(w.value(), contains, ValueError);
  CHECK_THROWS_WITH_AS(w * 2, contains, ValueError);
  CHECK_THROWS_WITH_AS(K::get_value(w), contains, ValueError);
  CHECK_THROWS_WITH_AS(K::update_add(w, 1), contains, ValueError);
  CHECK_THROWS_WITH_AS(K::update_sub(w, K::ones({2, 2}, {.dtype = "float64"})), contains, ValueError);
  CHECK_THROWS_WITH_AS(K::moving_average_update(w, 1, 0.5), contains, ValueError);
  CHECK_THROWS_AS(K::set_value(w, {1, 2}), ValueError);
  CHECK_FALSE(w.has_value());
  const Variable same = w;
  K::set_value(w, {{5, 6}, {7, 8}});
  CHECK(values(same) == Values{5, 6, 7, 8});
  CHECK(values(gradients(w * w, {same})[0]) == Values{10, 12, 14, 16});
  K::update_add(w, 1);
  CHECK(values(w) == Values{6, 7, 8, 9});
}

TEST_CASE("update gives a variable its first value, and printing one without a value reads nothing") {
  const Variable w = Variable::without_value({2}, "float32", "w");
  std::ostringstream text;
  text << w;
  CHECK(text.str() == "<Variable 'w' shape=(2,), dtype=float32, no value yet>");
  CHECK(values(K::update(w, {3, 4})) == Values{3, 4});
  CHECK_THROWS_AS(K::update_add(Variable::without_value({2}, "float32"), {1, 2}), ValueError);
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"identity", [](In in) { return K::identity(in[0], {.name = "y"}); }, {normal({2})}},
      // New tensors, which depend on none.
      {"variable", no_gradient}, {"constant", no_gradient}, {"full", no_gradient}, {"zeros", no_gradient},
      {"ones", no_gradient}, {"eye", no_gradient}, {"zeros_like", no_gradient}, {"ones_like", no_gradient},
      {"arange", no_gradient},
  };
});
// clang-format on

}  // namespace
