#include "../../../ops/check.hpp"
#include "../../policies.hpp"

#include <ktape/autograd/scope.hpp>
#include <ktape/ktape.hpp>

#include <thread>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::DType, ktape::None, ktape::Shape, ktape::Tensor, ktape::TypeError, ktape::ValueError,
    ktape::Variable;

namespace {

/// y = x * scale + shift, as a program without mixed precision writes the layer. Counts calls in a weight.
struct AffineImpl : nn::LayerImpl {
  Variable scale, shift, calls;
  DType seen = DType::Bool, seen_value = DType::Bool;
  explicit AffineImpl(const nn::LayerOptions& options = {}) : nn::LayerImpl("Affine", options) {}
  void build(const Shape& input) override {
    scale = add_weight("scale", {input[-1]}, {.initializer = "ones"});
    shift = add_weight("shift", {input[-1]}, {.initializer = "zeros"});
    calls = add_weight("calls", {}, {.initializer = "zeros", .trainable = false});
  }
  Tensor call(const Tensor& x) override {
    seen = x.dtype(), seen_value = scale.value().dtype();
    K::update_add(calls, K::mean(K::ones_like(x)));
    return x * scale + shift;
  }
  nn::Config get_config() const override { return {}; }
};
using Affine = nn::LayerOf<AffineImpl>;

/// Reads weights in all ways.
struct ReaderImpl : nn::LayerImpl {
  Variable a, precise, number;
  std::vector<DType> dtypes;
  explicit ReaderImpl(const nn::LayerOptions& options) : nn::LayerImpl("Reader", options) {}
  void build(const Shape&) override {
    a = add_weight("a", {2}, {.initializer = "ones"});
    precise = add_weight("precise", {2}, {.initializer = "ones", .autocast = false});
    number = add_weight("number", {2}, {.initializer = "ones", .dtype = DType::Int32});
  }
  Tensor call(const Tensor& x) override {
    const Tensor as_argument = a, joined = K::concatenate({a, a});
    const Tensor once = K::identity(a), twice = K::identity(a);
    dtypes = {as_argument.dtype(),     a.value().dtype(),      joined.dtype(),    (a * a).dtype(),
              precise.value().dtype(), number.value().dtype(), a.stored().dtype()};
    return x * as_argument + once + twice;
  }
};
using Reader = nn::LayerOf<ReaderImpl>;

/// Calls one layer of the policy and one of float32.
struct OuterImpl : nn::LayerImpl {
  Affine inner = add_layer(Affine()), precise = add_layer(Affine(nn::LayerOptions{.dtype = "float32"}));
  explicit OuterImpl(const nn::LayerOptions& options = {}) : nn::LayerImpl("Outer", options) {}
  Tensor call(const Tensor& x) override { return precise(inner(x)); }
};
using Outer = nn::LayerOf<OuterImpl>;

}  // namespace

TEST_CASE("under a mixed policy a layer written without one computes in 16 bits and keeps float32 weights") {
  for (const std::string& policy : mixed_policies) {
    const Affine layer(nn::LayerOptions{.dtype = policy});
    CHECK(layer.dtype_policy() == policy);
    CHECK(layer.compute_dtype() == computed_in(policy));
    CHECK(layer.input_dtype() == computed_in(policy));
    CHECK(layer.variable_dtype() == "float32");
    CHECK(layer.dtype() == "float32");
    const Tensor y = layer(K::constant({{1., 2.}}, {.dtype = "float32"}));
    CHECK(y.dtype() == computed_in(policy));
    CHECK(layer->seen == computed_in(policy));
    CHECK(layer->seen_value == computed_in(policy));
    CHECK(values(y) == Values{1, 2});
    for (const Variable& weight : layer.weights()) CHECK(weight.dtype() == "float32");
    CHECK(layer->calls.item() == 1);
    CHECK(layer->scale.value().dtype() == "float32");
    layer(K::constant({{1., 2.}}, {.dtype = "float64"}));
    CHECK(layer->calls.item() == 2);
  }
}

TEST_CASE("gradients arrive in float32 at float32 variables") {
  for (const std::string& policy : mixed_policies) {
    const Affine layer(nn::LayerOptions{.dtype = policy});
    const Tensor x = K::constant({{1., 2.}, {3., 4.}}, {.dtype = "float32"});
    ktape::GradientTape tape;
    tape.watch(x);
    const Tensor loss = K::sum(layer(x));
    const std::vector<Tensor> g = tape.gradient(loss, std::vector<Tensor>{layer->scale, layer->shift, x});
    for (const Tensor& gradient : g) CHECK(gradient.dtype() == "float32");
    CHECK(values(g[0]) == Values{4, 6});
    CHECK(values(g[1]) == Values{2, 2});
    CHECK(values(g[2]) == Values{1, 1, 1, 1});
  }
}

TEST_CASE("each way of reading a weight in call gives the compute dtype, unless autocast is off") {
  for (const std::string& policy : mixed_policies) {
    const DType dtype = computed_in(policy);
    const Reader layer(nn::LayerOptions{.dtype = policy});
    const Tensor y = layer(K::ones({1, 2}));
    CHECK(layer->dtypes ==
          std::vector<DType>{dtype, dtype, dtype, dtype, DType::Float32, DType::Int32, DType::Float32});
    CHECK(values(K::gradients(K::sum(y), {layer->a})[0]) == Values{3, 3});
    const Reader plain(nn::LayerOptions{.dtype = "float64"});
    plain(K::ones({1, 2}));
    CHECK(plain->dtypes[0] == DType::Float64);
  }
}

TEST_CASE("a weight is converted once per call, and again after an update or without a recording") {
  const Variable v = K::variable({1., 2.}, {.dtype = "float32"});
  const ktape::AutocastScope scope(DType::Float16, K::cast);
  const Tensor first = v, second = v;
  CHECK(first.raw() == second.raw());
  K::update_add(v, K::constant({0.5, 0.5}, {.dtype = "float32"}));
  CHECK(values(v) == Values{1.5, 2.5});
  CHECK(values(first) == Values{1, 2});
  Tensor unrecorded;
  K::update(v, K::constant({4., 5.}, {.dtype = "float16"}));
  {
    const ktape::NoGrad off;
    unrecorded = v;
    const ktape::AutocastScope inner(DType::Float16, K::cast);
    CHECK(Tensor(v).raw() == unrecorded.raw());
    const ktape::AutocastScope none(std::nullopt, K::cast);
    CHECK(Tensor(v).dtype() == DType::Float32);
  }
  CHECK(values(K::gradients(K::sum(K::square(v)), {v.stored()})[0]) == Values{8, 10});
}

TEST_CASE("layers inside of layers have their own policies") {
  for (const std::string& policy : mixed_policies) {
    const PolicyScope scope(policy);
    const Outer outer;
    const Tensor y = outer(K::ones({2, 3}));
    CHECK(outer->inner->seen == computed_in(policy));
    CHECK(outer->precise->seen == DType::Float32);
    CHECK(outer->precise->seen_value == DType::Float32);
    CHECK(y.dtype() == DType::Float32);
    CHECK(values(y) == Values(6, 1));
  }
  const Outer outer(nn::LayerOptions{.dtype = mixed_policies[0]});
  outer(K::ones({2, 3}));
  CHECK(outer->inner->seen == DType::Float32);
  CHECK(outer->inner->seen_value == DType::Float32);
}

TEST_CASE("masks, integers and bools pass a mixed policy untouched") {
  for (const std::string& policy : mixed_policies) {
    const PolicyScope scope(policy);
    const nn::Embedding embedding(5, 2, {.mask_zero = true});
    const Tensor tokens = K::constant({{1, 2, 0}}, {.dtype = "int32"});
    const Tensor h = embedding(tokens), mask = nn::mask_of(h);
    CHECK(h.dtype() == computed_in(policy));
    CHECK(mask.dtype() == DType::Bool);
    CHECK(values(mask) == Values{1, 1, 0});
    CHECK(nn::Identity()(tokens).dtype() == DType::Int32);
    CHECK(values(nn::mask_of(nn::Dense(2)(h))) == Values{1, 1, 0});
    CHECK(values(nn::mask_of(nn::Activation("relu", {.dtype = "float32"})(h))) == Values{1, 1, 0});
  }
}

TEST_CASE("initial states are converted to the compute dtype, and the states of a call have it") {
  for (const std::string& policy : mixed_policies) {
    const nn::LSTM layer(3, {.return_state = true, .dtype = policy});
    const Tensor x = K::ones({2, 4, 3}), h = K::ones({2, 3}), c = K::zeros({2, 3});
    for (const Tensor& y : layer.apply(x, {.initial_state = {h, c}})) CHECK(y.dtype() == computed_in(policy));
    for (const Tensor& y : layer.apply({x, h, c})) CHECK(y.dtype() == computed_in(policy));
  }
}

TEST_CASE("symbols of layers have the dtypes of the policy") {
  for (const std::string& policy : mixed_policies) {
    const Tensor in = nn::Input({4}), h = nn::Dense(3, {.dtype = policy})(in), y = nn::Dense(2)(h);
    CHECK(in.dtype() == DType::Float32);
    CHECK(h.dtype() == computed_in(policy));
    CHECK(y.dtype() == DType::Float32);
    const PolicyScope scope(policy);
    CHECK(nn::Input({4}).dtype() == DType::Float32);
  }
}

TEST_CASE("a map gives layers policies by their paths, from their build on") {
  const nn::DTypePolicyMap map("float32", {{"outer/.*", "mixed_float16"}});
  const PolicyScope scope(map);
  const Affine free(nn::LayerOptions{.name = "free"});
  CHECK(free(K::ones({1, 2})).dtype() == DType::Float32);
  struct HolderImpl : nn::LayerImpl {
    nn::Dense inner = add_layer(nn::Dense(2, {.name = "inner"}));
    HolderImpl() : nn::LayerImpl("Holder", {.name = "outer"}) {}
    Tensor call(const Tensor& x) override { return inner(x); }
  };
  const nn::LayerOf<HolderImpl> holder;
  CHECK(holder->inner.compute_dtype() == DType::Float32);
  CHECK(holder(K::ones({1, 2})).dtype() == DType::Float16);
  CHECK(holder->inner.compute_dtype() == DType::Float16);
  CHECK(holder->inner.variable_dtype() == DType::Float32);
  CHECK(holder->inner.dtype_policy() == map);
}

TEST_CASE("a layer that mixes dtypes is told how to cast") {
  struct MixerImpl : nn::LayerImpl {
    explicit MixerImpl(const nn::LayerOptions& options) : nn::LayerImpl("Mixer", options) {}
    Tensor call(const Tensor& x) override { return x + K::ones({2}); }
  };
  const nn::LayerOf<MixerImpl> mixer(nn::LayerOptions{.dtype = "mixed_float16"});
  CHECK_THROWS_WITH_AS(mixer(K::ones({1, 2})),
                       Contains("both tensors must have one dtype: received x=float16, y=float32"),
                       TypeError);
}

TEST_CASE("an unknown policy of a layer is refused with the names that exist") {
  CHECK_THROWS_WITH_AS(nn::Dense(1, {.dtype = "mixed"}), Contains("'mixed_float16', 'mixed_bfloat16'"),
                       ValueError);
}

TEST_CASE("threads that call a layer with a mixed policy at once get equal results") {
  const nn::Sequential model({nn::Dense(8, {.activation = "relu", .dtype = "mixed_float16"}), nn::Dense(3)});
  const Tensor x = normal({5, 6}, 1, "float32");
  const Values want = values(nn::Layer(model)(x));
  std::vector<std::thread> threads;
  std::vector<Values> got(4);
  for (Values& y : got)
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) y = values(nn::Layer(model)(x));
    });
  for (std::thread& thread : threads) thread.join();
  for (const Values& y : got) CHECK(y == want);
}
