#include <ktape/ktape.hpp>
#include <ktape/nn/models/operation_config.hpp>

#include "../../ops/check.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;
using nn::Config, nn::from_json, nn::TensorPlace;

TEST_CASE("an operation is a config with its attributes, and a call with its operands by name") {
  const Tensor x = nn::Input({3}, {.name = "x"}), y = K::sum(x, 1, true);
  const auto call = nn::operation_of(*y.get()->symbol);
  REQUIRE(call.has_value());
  CHECK(nn::operation_config(*call, "total") == from_json(R"({"class_name": "Operation",
      "config": {"name": "total", "function": "Sum", "axis": 1, "keepdims": true}})"));
  const auto place_of = [](const Tensor&) { return TensorPlace{"x", 0, 0}; };
  const nn::Value node = nn::operation_call_config(*call, place_of);
  CHECK(node.config().at("kwargs").config().names() == std::vector<std::string>{"x"});
  const auto tensor_at = [&](const TensorPlace&) { return x; };
  const nn::OperationCall again =
      nn::operation_call_from(nn::operation_config(*call, "total"), node, tensor_at, "[m]");
  CHECK(nn::apply_operation(again, "total").at(0).shape() == y.shape());
  CHECK_THROWS_WITH_AS(
      nn::operation_call_from(Config{{"config", Config{{"function", "Sun"}}}}, node, tensor_at, "[m]"),
      Contains("[m] the function of an operation must be one of keras.ops: received function=\"Sun\""),
      ValueError);
}
