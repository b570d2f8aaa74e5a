// A U-Net of two levels: of images of any number and size, built once.
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include "check.hpp"

namespace K = ktape::backend;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::Variable;

namespace {

struct UNet {
  Variable first = weights({3, 3, 1, 4}, 1), second = weights({3, 3, 4, 6}, 2),
           bottom = weights({3, 3, 6, 8}, 3), rise = weights({2, 2, 6, 8}, 4),
           joined = weights({3, 3, 12, 4}, 5), last = weights({1, 1, 8, 1}, 6),
           bias = K::variable(K::zeros({1}));

  std::vector<Variable> all() const { return {first, second, bottom, rise, joined, last, bias}; }
  static Variable weights(const Shape& shape, int seed) {
    return K::random_normal_variable(shape, 0, 0.3, {.seed = seed});
  }
  static Tensor convolved(const Tensor& x, const Variable& kernel) {
    return K::relu(K::conv2d(x, kernel, {.padding = "same"}));
  }
  static Tensor halved(const Tensor& x) { return K::pool2d(x, {2, 2}, {.strides = {2, 2}}); }

  /// Logits for each pixel.
  Tensor operator()(const Tensor& images) const {
    const Tensor upper = convolved(images, first), lower = convolved(halved(upper), second);
    const Tensor deep = convolved(halved(lower), bottom), size = K::shape(lower);
    const Tensor risen = K::conv2d_transpose(deep, rise, {size[0], size[1], size[2], 6},
                                             {.strides = {2, 2}, .padding = "same"});
    const Tensor merged = convolved(K::concatenate({lower, risen}), joined);
    const Tensor all = K::concatenate({upper, K::resize_images(merged, 2, 2, "channels_last")});
    return K::bias_add(K::conv2d(all, last), bias);
  }
  Tensor loss(const Tensor& images, const Tensor& masks) const {
    return K::mean(K::binary_crossentropy(masks, K::sigmoid((*this)(images))));
  }
};

}  // namespace

TEST_CASE("a U-Net of unknown images is trained as the eager one is") {
  const UNet net;
  const Tensor images = K::placeholder({None, None, None, 1}), masks = K::placeholder({None, None, None, 1});
  CHECK(K::int_shape(net(images)) == Shape{None, None, None, 1});
  const Tensor loss = net.loss(images, masks);
  const std::vector<Tensor> gradients = K::gradients(loss, net.all());
  std::vector<Tensor> outputs{loss}, updates;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    outputs.push_back(gradients[i]);
    updates.push_back(K::update_sub(net.all()[i], 0.5f * gradients[i]));
  }
  const auto step = K::function({images, masks}, outputs, updates);

  const auto distance = [](const Tensor& a, const Tensor& b) { return K::max(K::abs(a - b)).item<double>(); };
  std::vector<double> losses;
  for (const Shape& shape : {Shape{2, 8, 12, 1}, {1, 16, 4, 1}, {3, 4, 4, 1}, {2, 8, 12, 1}}) {
    CAPTURE(shape);
    const Tensor x = normal(shape, 7, "float32"), y = K::cast(x > 0.2f, "float32");
    const Tensor eager_loss = net.loss(x, y);
    const std::vector<Tensor> eager = K::gradients(eager_loss, net.all());
    std::vector<Tensor> wanted;
    for (std::size_t i = 0; i < eager.size(); ++i)
      wanted.push_back((net.all()[i] - 0.5f * eager[i]).detach());
    const std::vector<Tensor> got = step({x, y});
    CHECK(distance(got[0], eager_loss) < 1e-6);
    for (std::size_t i = 0; i < eager.size(); ++i) {
      CHECK(distance(got[i + 1], eager[i]) < 1e-6);
      CHECK(distance(net.all()[i], wanted[i]) < 1e-6);
    }
    losses.push_back(got[0].item<double>());
  }
  CHECK(losses.back() < losses.front());
}
