#include "../../ops/check.hpp"

#include <iostream>
#include <ktape/ktape.hpp>
#include <sstream>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Shape, ktape::Tensor;

namespace {

/// A user-defined class.
struct TwiceImpl : nn::ModelImpl {
  nn::Dense dense = add_layer(nn::Dense(4));
  TwiceImpl() : nn::ModelImpl("Twice") {}
  Tensor call(const Tensor& x) override { return dense(dense(x)); }
};
using Twice = nn::ModelOf<TwiceImpl>;

/// Returns the text that f writes to std::cout.
template <class F>
std::string written(F f) {
  struct Redirection {
    std::ostringstream out;
    std::streambuf* before = std::cout.rdbuf(out.rdbuf());
    ~Redirection() { std::cout.rdbuf(before); }
  } redirection;
  f();
  return redirection.out.str();
}

}  // namespace

TEST_CASE("predict shows its progress, as fit and evaluate, unless verbose is 0") {
  const nn::Sequential model({nn::Input({2}), nn::Dense(1)});
  const Tensor x = K::ones({5, 2});
  const std::string shown = written([&] { model.predict(x, {.batch_size = 2}); });
  CHECK(shown.find("3/3") != std::string::npos);
  CHECK(written([&] { model.predict(x); }).find("1/1") != std::string::npos);
  CHECK(written([&] { model.predict(x, {.verbose = 0}); }).empty());
}

TEST_CASE("a model class of the user") {
  const Twice model;
  CHECK(model(K::ones({2, 4})).shape() == Shape{2, 4});
  CHECK(model.weights().size() == 2);
  CHECK(model->dense.built());
  const Tensor in = nn::Input({4});
  const nn::Model wrapped(in, model(in));
  CHECK(values(wrapped(K::ones({1, 4}))) == values(model(K::ones({1, 4}))));
}

TEST_CASE("weights of frozen layers and models are not trainable, whatever is set inside") {
  const Tensor in = nn::Input({4});
  const nn::Sequential base({nn::Dense(3), nn::Dense(3)});
  const nn::Model model(in, nn::Dense(1)(base(in)));
  base.set_trainable(false);
  CHECK(model.trainable_weights().size() == 2);
  CHECK(model.non_trainable_weights().size() == 4);
  model.set_trainable(false);
  CHECK(model.trainable_weights().empty());
  base.layers()[1].set_trainable(true);
  CHECK(model.trainable_weights().empty());
}
