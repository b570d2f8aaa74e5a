#include "header_examples.hpp"

#include <xtensor/xarray.hpp>
#include <xtensor/xmath.hpp>

namespace {

[[maybe_unused]] void shapes_and_constants(const Tensor& x, const Tensor& mask, const Shape& shape,
                                           std::vector<float> bytes, const xt::xarray<float>& a,
                                           const std::vector<std::vector<float>>& rows) {
  namespace K = backend;
  {
    DType d = "float32";
    d == "float32", d.name();
    shape[0], shape[-1], shape == Shape{2, 3};
    for (std::int64_t extent : shape) std::cout << extent;
    std::cout << "ktape " << K::version() << "\n";
    std::cout << K::help("conv2d") << K::help("nn::Dense");
    Slice(), Slice(0, 2), Slice(1, None), Slice(None, None, -1);
    x[0], x[{1, -1}], x[{Slice(0, 2), All}], x[{Ellipsis, NewAxis}], x[Slice(None, None, -1)];
    K::constant(3.f), K::constant({{1, 2}, {3, 4}}), K::constant(rows), K::constant(xt::sin(a));
  }
  Tensor x_of_bytes = [&] {
    Tensor x = Tensor::from_buffer(bytes.data(), bytes.size(), {2, 3}, "float32");
    return x;
  }();
  K::maximum(x, 0.f), K::minimum(1, x), K::where(x > 0, x, -1.f), mask & true;
  K::name_scope outer("encoder");
  K::name_scope inner("dense");
}

[[maybe_unused]] void ops(const Tensor& x) {
  using namespace backend;
  sum(x), sum(x, -1), sum(x, {0, 2}), sum(x, None), max(x, {0, 2}, true), mean(x, None);
  zeros({2, 3}), random_normal(shape(x)), random_normal({shape(x)[0], 3});
  SparseTensor s({{0, 1}, {1, 0}}, {3.f, 4.f}, {2, 2});
  spatial_2d_padding(x, {.padding = 2});
  spatial_2d_padding(x, {.padding = {{1, 1}, {2, 0}}});
  pool2d(x, {2, 2});
  pool2d(x, 3, {.strides = 2, .padding = "same", .pool_mode = "avg"});
  Pool2dOptions window = {.strides = 2};
  window = {.strides = {2, 1}};
  Spatial2dPaddingOptions border = {.padding = 1};
  border = {.padding = {{0, 1}, {2, 2}}};
}

[[maybe_unused]] void parts(const Tensor& x) {
  namespace K = backend;
  Tensor positive = x[x > 0];
  Variable board = K::variable(K::zeros({3, 3}));
  board[{1, All}] = {1., 2., 3.};
  board[board > 2] = 0;
}

[[maybe_unused]] void functions(const Variable& w, const Variable& velocity, const Tensor& loss,
                                const Tensor& W, const Tensor& U, const Tensor& mask, const Tensor& value) {
  namespace K = backend;
  const std::int64_t samples = 2, units = 3;
  Tensor x = K::placeholder({K::None, 3});
  Tensor y = K::relu(K::dot(x, w));
  auto f = K::function({x}, {y, K::gradients(K::sum(y), {x})[0]});
  auto results = f({K::ones({5, 3})});
  auto updates = K::symbolic([&] {
    Tensor v = 0.9f * velocity - 0.1f * K::gradients(loss, {w})[0];
    return std::vector{K::update(velocity, v), K::update(w, w + v)};
  })();
  auto step = K::function({x}, {loss}, updates);
  {
    auto f = K::function({x, K::learning_phase()}, {y});
    f({value, 1});
  }
  { auto f = K::function({x}, {y}, {.compile = true}); }
  auto [last, outputs, states] = K::rnn(
      [&](const Tensor& x, const std::vector<Tensor>& states) {
        Tensor h = K::tanh(K::dot(x, W) + K::dot(states[0], U));
        return std::pair{h, std::vector{h}};
      },
      x, {K::zeros({samples, units})}, {.mask = mask});
}

}  // namespace
