#include "../../../close.hpp"
#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/layers/base/layer_call.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

namespace {

/// A layer that calls another layer on a new symbolic tensor: inside a GraphScope if `own_graph` is true.
struct InnerGraphImpl : nn::LayerImpl {
  nn::Dense dense{2};
  bool own_graph = true, recorded = false;
  InnerGraphImpl() : nn::LayerImpl("InnerGraph") {}
  Tensor call(const Tensor& x) override {
    const Tensor in = nn::Input({3});
    std::optional<nn::GraphScope> scope;
    if (own_graph) scope.emplace();
    const Tensor out = dense(in);
    const nn::LayerCall* const made = nn::call_of(out);
    recorded = made && made->layer.is(dense);
    return x;
  }
};

}  // namespace

TEST_CASE("a symbolic call is recorded with its layer, inputs and outputs") {
  const nn::Dense dense(4);
  const Tensor in = nn::Input({3}), out = dense(in);
  const nn::LayerCall* const call = nn::call_of(out);
  REQUIRE(call);
  CHECK(call->layer.is(dense));
  CHECK(call->plain());
  REQUIRE(call->inputs().size() == 1);
  CHECK(call->inputs()[0].get() == in.get());
  REQUIRE(call->outputs().size() == 1);
  CHECK(call->outputs()[0].shape() == Shape{None, 4});
  CHECK(nn::call_of(K::relu(out)) == nullptr);
  CHECK(nn::call_of(K::ones({2, 3})) == nullptr);
  CHECK(nn::call_of(K::placeholder({2})) == nullptr);
}

TEST_CASE("a call with a mask, a state or several inputs is not plain") {
  const Tensor x = nn::Input({5, 3}), mask = nn::Input({5}, {.dtype = "bool"}), state = nn::Input({2});
  const nn::SimpleRNN layer(2);
  const Tensor plain = layer(x), masked = layer(x, {.mask = mask}),
               begun = layer(x, {.initial_state = state});
  CHECK(nn::call_of(plain)->plain());
  CHECK_FALSE(nn::call_of(masked)->plain());
  CHECK_FALSE(nn::call_of(begun)->plain());
  CHECK(nn::call_of(masked)->operand_count() == nn::call_of(plain)->operand_count() + 1);
  CHECK_FALSE(nn::call_of(nn::Add()({plain, masked}))->plain());
}

TEST_CASE("tensors among the arguments of a symbolic call get their values, and gradients reach weights") {
  const Tensor x = nn::Input({5, 3}), mask = nn::Input({5}, {.dtype = "bool"}), state = nn::Input({2});
  const nn::SimpleRNN layer(2);
  const Tensor out = layer(x, {.mask = mask, .initial_state = state});
  const auto f =
      K::function({x, mask, state}, {out, K::gradients(K::sum(out), {layer.weight("recurrent_kernel")})[0]});
  const Tensor steps = normal({2, 5, 3}, 1, "float32"), begin = normal({2, 2}, 2, "float32"),
               bits = K::constant({{1, 0, 1, 1, 0}, {0, 0, 1, 1, 1}}, {.dtype = "bool"});
  const std::vector<Tensor> got = f({steps, bits, begin});
  const Tensor direct = layer(steps, {.mask = bits, .initial_state = begin});
  CHECK(close(got[0], direct, {.atol = 1e-6}));
  CHECK(
      close(got[1], ktape::gradients(K::sum(direct), {layer.weight("recurrent_kernel")})[0], {.atol = 1e-5}));
}

TEST_CASE("a layer lists its calls as long as their outputs live") {
  const nn::Dense dense(4);
  const Tensor in = nn::Input({3}), first = dense(in);
  {
    const Tensor second = dense(nn::Input({3}));
    CHECK(dense.output_at(1).get()->symbol.get() == second.get()->symbol.get());
  }
  CHECK(dense.output_at(0).get()->symbol.get() == first.get()->symbol.get());
  CHECK_THROWS_AS(dense.output_at(1), ValueError);
}

TEST_CASE("a recorded call keeps the layer alive") {
  std::weak_ptr<nn::LayerImpl> layer;
  {
    Tensor out;
    {
      const nn::Dense dense(4);
      layer = dense.shared();
      out = dense(nn::Input({3}));
    }
    CHECK_FALSE(layer.expired());
  }
  CHECK(layer.expired());
}

TEST_CASE("calls inside the call of another layer are recorded in a GraphScope only") {
  const nn::LayerOf<InnerGraphImpl> layer;
  layer(K::ones({1, 3}));
  CHECK(layer->recorded);
  layer->own_graph = false;
  layer(K::ones({1, 3}));
  CHECK_FALSE(layer->recorded);
}
