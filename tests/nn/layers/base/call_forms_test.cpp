#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;

// A class of the program's own has the form of `call` that it needs.
namespace {

using Tensors = std::vector<Tensor>;

struct One : nn::LayerImpl {
  One() : nn::LayerImpl("One") {}
  Tensor call(const Tensor& x) override { return x + 1; }
};
struct OneWithArguments : nn::LayerImpl {
  OneWithArguments() : nn::LayerImpl("OneWithArguments") {}
  Tensor call(const Tensor& x, const nn::CallArguments& a) override { return training(a) ? x + 2 : x + 1; }
};
struct Several : nn::LayerImpl {
  Several() : nn::LayerImpl("Several") {}
  Tensor call(const Tensors& x) { return K::sum(K::stack(x), 0); }
};
struct SeveralWithArguments : nn::LayerImpl {
  SeveralWithArguments() : nn::LayerImpl("SeveralWithArguments") {}
  Tensor call(const Tensors& x, const nn::CallArguments& a) { return training(a) ? x[0] : x.back(); }
};
struct Swap : nn::LayerImpl {
  Swap() : nn::LayerImpl("Swap") {}
  Tensors call(const Tensors& x) { return {x[1], x[0]}; }
};
struct SwapInTraining : nn::LayerImpl {
  SwapInTraining() : nn::LayerImpl("SwapInTraining") {}
  Tensors call(const Tensors& x, const nn::CallArguments& a) { return training(a) ? Tensors{x[1], x[0]} : x; }
};
/// Has both: with one input the form for one tensor counts.
struct Both : nn::LayerImpl {
  Both() : nn::LayerImpl("Both") {}
  Tensor call(const Tensor& x) override { return -x; }
  Tensor call(const Tensors& x) { return x[0] * x[1]; }
};
/// Neither overrides nor takes references.
struct ByValue : nn::LayerImpl {
  ByValue() : nn::LayerImpl("ByValue") {}
  Tensor call(Tensor x) const { return x * 3; }
};
struct OfTwoKinds : One {
  using One::call;
  Tensor call(const Tensors& x) { return x[0] - x[1]; }
};
struct None : nn::LayerImpl {
  None() : nn::LayerImpl("None") {}
  using nn::LayerImpl::call;
};
/// A layer whose form of `call` is protected.
class Protected : public nn::LayerImpl {
 public:
  Protected() : nn::LayerImpl("Protected") {}

 protected:
  Tensor call(const Tensor& x) override { return x / 2; }
};

template <class Impl>
nn::Layer made() {
  return nn::LayerOf<Impl>();
}

struct TwoTensors {
  const Tensor a = K::constant({1.f, 2.f}), b = K::constant({10.f, 20.f});
};

}  // namespace

TEST_CASE_FIXTURE(TwoTensors, "every form of call works for one input, where the class takes one") {
  CHECK(values(made<One>()(a)) == Values{2, 3});
  CHECK(values(made<OneWithArguments>()(a, {.training = true})) == Values{3, 4});
  CHECK(values(made<Several>()(a)) == Values{1, 2});
  CHECK(values(made<SeveralWithArguments>()(a)) == Values{1, 2});
  CHECK(values(made<Both>()(a)) == Values{-1, -2});
  CHECK(values(made<ByValue>()(a)) == Values{3, 6});
  CHECK(values(made<OfTwoKinds>()(a)) == Values{2, 3});
  CHECK(values(made<Protected>()(a)) == Values{0.5, 1});
}

TEST_CASE_FIXTURE(TwoTensors, "every form of call for several tensors works, with one output or several") {
  CHECK(values(made<Several>()({a, b})) == Values{11, 22});
  CHECK(values(made<SeveralWithArguments>()({a, b})) == Values{10, 20});
  CHECK(values(made<SeveralWithArguments>()({a, b}, {.training = true})) == Values{1, 2});
  CHECK(values(made<Both>()({a, b})) == Values{10, 40});
  CHECK(values(made<OfTwoKinds>()({a, b})) == Values{-9, -18});
  const Tensors swapped = made<Swap>().apply({a, b});
  CHECK(values(swapped[0]) == Values{10, 20});
  CHECK(values(swapped[1]) == Values{1, 2});
  CHECK(values(made<SwapInTraining>().apply({a, b}, {.training = true})[0]) == Values{10, 20});
  CHECK(values(made<SwapInTraining>().apply({a, b})[0]) == Values{1, 2});
}

TEST_CASE_FIXTURE(TwoTensors, "every form of call is part of a functional model, and of gradients") {
  const Tensor x = nn::Input({2}), y = nn::Input({2});
  const nn::Model model({x, y}, {made<Several>()({x, y}), made<Both>()({x, y}), made<One>()(x)});
  const Tensors outputs = model.apply({K::stack({a}), K::stack({b})});
  CHECK(values(outputs[0]) == Values{11, 22});
  CHECK(values(outputs[1]) == Values{10, 40});
  CHECK(values(outputs[2]) == Values{2, 3});
  CHECK(values(slope([this](const Tensor& x) { return made<Both>()({x, b}); }, a)) == Values{10, 20});
}

TEST_CASE_FIXTURE(TwoTensors, "a model class may take several inputs and give one output") {
  struct AddedImpl : nn::ModelImpl {
    nn::Dense left = add_layer(nn::Dense(1)), right = add_layer(nn::Dense(1));
    Tensor call(const Tensors& x) { return left(x[0]) + right(x[1]); }
  };
  const nn::ModelOf<AddedImpl> model;
  model.compile({.optimizer = nn::SGD(0.1), .loss = "mse"});
  const Tensor x = K::ones({4, 2}), y = K::zeros({4, 1});
  model.fit({x, x}, y, {.epochs = 2, .verbose = 0});
  CHECK(model.weights().size() == 4);
  CHECK(model.predict({x, x}, {.verbose = 0}).shape() == ktape::Shape{4, 1});
}

TEST_CASE_FIXTURE(TwoTensors, "a layer that a pointer to its own class is put into has all its forms") {
  const nn::Layer layer(std::make_shared<Several>());
  CHECK(values(layer({a, b})) == Values{11, 22});
  const nn::Layer same(layer.shared());
  CHECK(values(same({a, b})) == Values{11, 22});
}

TEST_CASE_FIXTURE(TwoTensors, "a class without the form that a call needs says so") {
  CHECK_THROWS_WITH_AS(made<None>()(a),
                       Contains("[none] an overload of call must be overridden and return a result: received "
                                "None from class None"),
                       ValueError);
  CHECK_THROWS_WITH_AS(made<None>()({a, b}), Contains("an overload of call must be overridden"), ValueError);
  CHECK_THROWS_WITH_AS(made<One>()({a, b}), Contains("the layer takes one input: received 2"), ValueError);
  struct Undefined : nn::LayerImpl {
    Undefined() : nn::LayerImpl("Undefined") {}
    Tensor call(const Tensor&) override { return {}; }
    Tensors call(const Tensors&) { return {Tensor(), Tensor()}; }
  };
  CHECK_THROWS_WITH_AS(made<Undefined>()(a), Contains("received None from class Undefined"), ValueError);
  CHECK_THROWS_WITH_AS(made<Undefined>()({a, b}), Contains("received None from class Undefined"), ValueError);
}
