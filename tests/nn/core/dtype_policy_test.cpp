#include "../policies.hpp"

#include <doctest/doctest.h>
#include <ktape/autograd/base/error.hpp>
#include <ktape/ops/settings/config.hpp>

#include <thread>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::DType, ktape::ValueError;
using nn::Config, nn::DTypePolicy, nn::DTypePolicyMap;

TEST_CASE("a policy has a dtype for computations and a dtype for weights") {
  const DTypePolicy mixed("mixed_float16"), plain("float64"), of_dtype(DType::Int32);
  CHECK(mixed.name() == "mixed_float16");
  CHECK(mixed.compute_dtype() == "float16");
  CHECK(mixed.variable_dtype() == "float32");
  CHECK_FALSE(mixed.quantization_mode().has_value());
  CHECK(plain.compute_dtype() == "float64");
  CHECK(plain.variable_dtype() == "float64");
  CHECK(of_dtype == "int32");
  CHECK(mixed != plain);
}

TEST_CASE("an unknown policy is refused with the names that exist") {
  CHECK_THROWS_WITH_AS(DTypePolicy("mixed_float8"),
                       Contains("[DTypePolicy] name must be 'mixed_float16', 'mixed_bfloat16', "),
                       ValueError);
  CHECK_THROWS_WITH_AS(DTypePolicy("mixed_float8"),
                       Contains("'float64' or 'bfloat16': received name='mixed_float8'"), ValueError);
  CHECK_THROWS_AS(nn::set_dtype_policy("half"), ValueError);
  CHECK(nn::dtype_policy() == "float32");
}

TEST_CASE("the policy of the process follows floatx until a policy is set, in all threads") {
  CHECK(nn::dtype_policy() == "float32");
  K::set_floatx("float64");
  CHECK(nn::dtype_policy() == "float64");
  {
    const PolicyScope scope("mixed_float16");
    CHECK(nn::dtype_policy() == "mixed_float16");
    std::string seen;
    std::thread([&] { seen = nn::dtype_policy().name(); }).join();
    CHECK(seen == "mixed_float16");
  }
  CHECK(nn::dtype_policy() == "float64");
  K::set_floatx("float32");
}

TEST_CASE("the policy of a map is that of the path, of the only key that matches, or the default") {
  DTypePolicyMap map("mixed_float16", {{"encoder/layer_0/dense", "float64"}, {"encoder/.*", "float32"}});
  CHECK(map.name() == "map_mixed_float16");
  CHECK(map.compute_dtype() == "float16");
  CHECK(map["encoder/layer_0/dense"] == "float64");
  CHECK(map["encoder/query"] == "float32");
  CHECK(map["encoder"] == "mixed_float16");
  CHECK(map["my/encoder/query"] == "mixed_float16");
  CHECK(map.size() == 2);
  const DTypePolicyMap before = map;
  map.set("encoder/q.*", "float64");
  CHECK_THROWS_WITH_AS(map["encoder/query"],
                       "[DTypePolicyMap] a path must match at most one key: received path='encoder/query', "
                       "which matches 'encoder/.*' and 'encoder/q.*'",
                       ValueError);
  CHECK(before["encoder/query"] == "float32");
  map.erase("encoder/.*");
  CHECK(map["encoder/query"] == "float64");
  CHECK_FALSE(map.contains("encoder/.*"));
  CHECK(map.default_policy() == "mixed_float16");
}

TEST_CASE("keys of a map occur once and are regular expressions, and maps are not nested") {
  DTypePolicyMap map("float32", {{"a", "float64"}});
  CHECK_THROWS_WITH_AS(map.set("a", "float32"),
                       "[DTypePolicyMap] a key must occur once: received key='a' again", ValueError);
  CHECK_THROWS_WITH_AS(map.set("(", "float32"),
                       Contains("[DTypePolicyMap] a key must be a regular expression"), ValueError);
  CHECK_THROWS_WITH_AS(map.set(std::string(1001, 'a'), "float32"),
                       "[DTypePolicyMap] a key must have at most 1000 characters: received 1001", ValueError);
  CHECK_THROWS_WITH_AS(map.set("b", map), Contains("the policy of a key must not be a map"), ValueError);
  CHECK_THROWS_WITH_AS(DTypePolicyMap{map}.erase("b"),
                       Contains("the map must have the key: received key='b'"), ValueError);
  CHECK_THROWS_WITH_AS(
      (DTypePolicyMap(static_cast<const DTypePolicy&>(map), std::vector<DTypePolicyMap::Entry>())),
      Contains("default_policy must not be a map"), ValueError);
  CHECK(map.size() == 1);
}

TEST_CASE("policies are made again from their configs, of Keras 3 and of Keras 2") {
  for (const DTypePolicy& policy : std::vector<DTypePolicy>{
           "float32", "mixed_float16", DTypePolicyMap("mixed_float16", {{"x/.*", "float32"}})}) {
    CAPTURE(policy.name());
    CHECK(DTypePolicy(nn::from_json(nn::to_json(policy.to_value()))) == policy);
  }
  CHECK(nn::to_json(DTypePolicy("mixed_float16").to_value()) ==
        R"({"module":"keras","class_name":"DTypePolicy","config":{"name":"mixed_float16"},)"
        R"("registered_name":null})");
  CHECK(DTypePolicy(nn::from_json(R"({"class_name": "Policy", "config": {"name": "mixed_float16"}})")) ==
        "mixed_float16");
  CHECK(DTypePolicy(nn::from_json(R"({"class_name": "DTypePolicy", "config": {"name": null}})")) ==
        "float32");
  CHECK_THROWS_WITH_AS(
      DTypePolicy(nn::from_json(R"({"class_name": "QuantizedDTypePolicy", "config": {"mode": "int8"}})")),
      Contains("weights are not quantized"), ValueError);
}
