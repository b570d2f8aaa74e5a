#include <ktape/nn/core/named_tensors.hpp>
#include <ktape/ops/creation.hpp>

#include "../../ops/check.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError, ktape::Variable, ktape::nn::NamedTensors;
using Names = std::vector<std::string>;

namespace {
struct TwoTensors {
  const Tensor a = K::constant({1.f}), b = K::constant({2.f});
};
}  // namespace

TEST_CASE_FIXTURE(TwoTensors, "tensors are found by place and by name") {
  const NamedTensors both{{"left", a}, {"right", b}};
  CHECK(both.size() == 2);
  CHECK(both.named());
  CHECK(both.names() == Names{"left", "right"});
  CHECK(both["right"].item() == 2);
  CHECK(both[0].item() == 1);
  CHECK(both.contains("left"));
  CHECK(!both.contains("middle"));
  CHECK_THROWS_WITH_AS(
      both["rigth"],
      "[NamedTensors] the name must be that of a tensor: received 'rigth'; did you mean 'right'?",
      ValueError);
  CHECK_THROWS_WITH_AS((NamedTensors{{"left", a}, {"left", b}}),
                       "[NamedTensors] names must be different: received 'left' twice", ValueError);
}

TEST_CASE_FIXTURE(TwoTensors, "every list of tensors converts to NamedTensors without names") {
  const Variable v = a;
  for (const NamedTensors& list :
       {NamedTensors(a), NamedTensors(v), NamedTensors{a}, NamedTensors(std::vector<Tensor>{a}),
        NamedTensors(std::vector<Variable>{v}), NamedTensors(ktape::TensorList{a})}) {
    CHECK(list.size() == 1);
    CHECK(list[0].item() == 1);
    CHECK(!list.named());
    CHECK(list.names() == Names{""});
  }
  CHECK(NamedTensors{a, v}.size() == 2);
  CHECK_THROWS_WITH_AS(NamedTensors{a}["left"], Contains("received 'left'; none has a name"), ValueError);
  const std::vector<Tensor> plain = NamedTensors{{"left", a}, {"right", b}};
  CHECK(plain.size() == 2);
}

TEST_CASE_FIXTURE(TwoTensors, "a map gives its names, in its order") {
  const NamedTensors both = std::map<std::string, Tensor>{{"right", b}, {"left", a}};
  CHECK(both.names() == Names{"left", "right"});
  CHECK(both["left"].item() == 1);
}

TEST_CASE_FIXTURE(TwoTensors, "set replaces the tensor of a name, or appends") {
  NamedTensors both{{"left", a}, {"right", b}};
  both["left"] = b;
  both.set("right", a);
  both.set("new", b);
  CHECK(both.names() == Names{"left", "right", "new"});
  CHECK(both["left"].item() == 2);
  CHECK(both["right"].item() == 1);
  both.push_back(a);
  CHECK(both.names() == Names{"left", "right", "new", ""});
  both.pop_back();
  both.erase(both.begin());
  CHECK(!both.named());
}

TEST_CASE_FIXTURE(TwoTensors, "parts keep their names, which may repeat in different parts") {
  const NamedTensors all = NamedTensors::of_parts({{{"a", a}, {"b", b}}, {{"y", a}}, {{"y", b}}});
  CHECK(all.parts() == std::vector<std::size_t>{2, 1, 1});
  CHECK(all.names() == Names{"a", "b", "y", "y"});
  CHECK(all.part(0).names() == Names{"a", "b"});
  CHECK(all.part(2)["y"].item() == 2);
  CHECK(all.part(3).empty());
  NamedTensors fewer = all;
  fewer.pop_back();
  CHECK(fewer.parts().empty());
}
