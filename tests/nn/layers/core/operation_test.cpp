#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/layers/core/operation.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::TypeError, ktape::ValueError;
using nn::Config;

namespace {

/// A layer that computes a function of keras.ops, of operands and options as JSON.
nn::Layer operation(const char* function, const char* operands = "[null]", const char* options = "{}") {
  return nn::Layer::from_value(Config{{"class_name", "Operation"},
                                      {"config", Config{{"name", "op"},
                                                        {"function", function},
                                                        {"operands", nn::from_json(operands)},
                                                        {"options", nn::from_json(options)}}}});
}

const Tensor& numbers() {
  static const Tensor x = K::constant({{1.f, 0.f, 3.f}, {-1.f, 0.f, 0.f}});
  return x;
}

}  // namespace

TEST_CASE("comparisons take a tensor and a number, a number and a tensor, or two tensors") {
  CHECK(values(operation("not_equal", "[null, 0]")(numbers())) == Values{1, 0, 1, 1, 0, 0});
  CHECK(values(operation("equal", "[null, 0]")(numbers())) == Values{0, 1, 0, 0, 1, 1});
  CHECK(values(operation("greater", "[null, 0.5]")(numbers())) == Values{1, 0, 1, 0, 0, 0});
  CHECK(values(operation("greater", "[0.5, null]")(numbers())) == Values{0, 1, 0, 1, 1, 1});
  CHECK(values(operation("less", "[null, 1]")(numbers())) == Values{0, 1, 0, 1, 1, 1});
  CHECK(values(operation("less_equal", "[null, 1]")(numbers())) == Values{1, 1, 0, 1, 1, 1});
  CHECK(values(operation("greater_equal", "[null, null]")({numbers(), -numbers()})) ==
        Values{1, 1, 1, 0, 1, 1});
  CHECK(operation("equal", "[null, 0]")(numbers()).dtype() == "bool");
}

TEST_CASE("logical operations read numbers as truth values") {
  const Tensor a = numbers(), b = K::constant({{2.f, 2.f, 0.f}, {0.f, 0.f, 5.f}});
  CHECK(values(operation("logical_and", "[null, null]")({a, b})) == Values{1, 0, 0, 0, 0, 0});
  CHECK(values(operation("logical_or", "[null, null]")({a, b})) == Values{1, 1, 1, 1, 0, 1});
  CHECK(values(operation("logical_xor", "[null, null]")({a, b})) == Values{0, 1, 1, 1, 0, 1});
  CHECK(values(operation("logical_and", "[null, 0]")(a)) == Values{0, 0, 0, 0, 0, 0});
  CHECK(values(operation("logical_or", "[1, null]")(a)) == Values{1, 1, 1, 1, 1, 1});
  CHECK(values(operation("logical_not")(a)) == Values{0, 1, 0, 0, 1, 1});
}

TEST_CASE("any and all reduce all axes, an axis, or a list of axes, with or without keepdims") {
  CHECK(operation("any", "[null]", R"({"axis": null})")(numbers()).shape() == Shape{});
  CHECK(values(operation("any", "[null]", R"({"axis": 0})")(numbers())) == Values{1, 0, 1});
  CHECK(values(operation("all", "[null]", R"({"axis": [1]})")(numbers())) == Values{0, 0});
  CHECK(values(operation("all", "[null]", R"({"axis": [0, 1]})")(numbers() + 2)) == Values{1});
  CHECK(operation("any", "[null]", R"({"axis": -1, "keepdims": true})")(numbers()).shape() == Shape{2, 1});
}

TEST_CASE("shapes and dtypes") {
  CHECK(values(operation("cast", "[null]", R"({"dtype": "int32"})")(numbers())) == Values{1, 0, 3, -1, 0, 0});
  CHECK(operation("cast", "[null]", R"({"dtype": "int32"})")(numbers()).dtype() == "int32");
  CHECK(operation("expand_dims", "[null]", R"({"axis": 1})")(numbers()).shape() == Shape{2, 1, 3});
  CHECK(operation("expand_dims")(numbers()).shape() == Shape{2, 3, 1});
  CHECK(operation("squeeze", "[null]", R"({"axis": 1})")(K::ones({2, 1, 3})).shape() == Shape{2, 3});
}

TEST_CASE("get_item takes indices, null for a new axis, an ellipsis and slices") {
  const auto item = [](const char* key) {
    return operation("get_item", "[null]", (R"({"key": )" + std::string(key) + "}").c_str());
  };
  CHECK(values(item("[1]")(numbers())) == Values{-1, 0, 0});
  CHECK(values(item(R"(["...", -1])")(numbers())) == Values{3, 0});
  CHECK(values(item(
            R"([{"start": null, "stop": null, "step": null}, {"start": null, "stop": null, "step": -2}])")(
            numbers())) == Values{3, 1, 0, -1});
  CHECK(item(R"([null, {"start": 1}, 0])")(numbers()).shape() == Shape{1, 1});
  CHECK_THROWS_WITH_AS(item(R"(["first"])")(numbers()),
                       Contains("key must be an integer: received \"first\""), TypeError);
  CHECK_THROWS_WITH_AS(operation("get_item")(numbers()),
                       Contains("the name must be that of a value: received name='key'"), ValueError);
}

TEST_CASE("a symbolic call has the exact shape, and the output has no mask") {
  const nn::Layer any = operation("any", "[null]", R"({"axis": -1})");
  CHECK(any(nn::Input({None, 3})).shape() == Shape{None, None});
  const Tensor masked =
      nn::with_mask(K::ones({2, 3, 4}), K::constant({{1, 1, 0}, {1, 0, 0}}, {.dtype = "bool"}));
  CHECK_FALSE(nn::mask_of(any(masked)).defined());
}

TEST_CASE("operations in a model are saved and read with their constants and null operands") {
  const auto named = [](const char* name, const char* function, const char* operands, const char* options) {
    Config config = operation(function, operands, options).get_config();
    config.set("name", name);
    return nn::Layer::from_value(Config{{"class_name", "Operation"}, {"config", config}});
  };
  const Tensor a = nn::Input({3}, {.name = "a"}), b = nn::Input({3}, {.name = "b"});
  const Tensor larger = named("larger", "greater", "[null, null]", "{}")({a, b});
  const Tensor ends = named("ends", "get_item", "[null]", R"({"key": ["...", {"step": 2}]})")(larger);
  const nn::Model model({a, b}, named("number", "cast", "[null]", R"({"dtype": "float32"})")(ends));
  const Tensor x = numbers(), y = K::zeros({2, 3});
  CHECK(values(model({x, y})) == Values{1, 1, 0, 0});
  const nn::Model again = nn::model_from_json(model.to_json());
  CHECK(values(again({x, y})) == Values{1, 1, 0, 0});
  CHECK(again.to_json() == model.to_json());
}

TEST_CASE("errors in a config name the layer") {
  CHECK(nn::is_operation_name("get_item"));
  CHECK_FALSE(nn::is_operation_name("GetItem"));
  CHECK_FALSE(nn::is_operation_name(""));
  CHECK_THROWS_WITH_AS(operation("sort"),
                       "[op] function must be an operation that the layer knows: received function=\"sort\"",
                       ValueError);
  CHECK_THROWS_WITH_AS(operation("equal"),
                       "[op] operands must be those of equal, a tensor among them: received operands=[null]",
                       ValueError);
  CHECK_THROWS_WITH_AS(operation("equal", "[1, 2]"),
                       "[op] operands must be those of equal, a tensor among them: received operands=[1,2]",
                       ValueError);
  CHECK_THROWS_WITH_AS(operation("equal", "[null, 0]")({numbers(), numbers()}),
                       Contains("[op] the layer takes 1 inputs: received 2"), ValueError);
  CHECK_THROWS_WITH_AS(operation("equal", R"([null, "zero"])")(numbers()),
                       Contains("an operand must be a number: received \"zero\""), TypeError);
  CHECK_THROWS_WITH_AS(operation("any", "[null]", R"({"axis": 2})")(numbers()), Contains("axis"), ValueError);
  CHECK_THROWS_WITH_AS(operation("any", "[null]", R"({"keepdims": 1})")(numbers()),
                       Contains("keepdims must be true or false: received 1"), TypeError);
}
