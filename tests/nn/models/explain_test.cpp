#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor;

TEST_CASE("nn::explain tells that there is no plan yet, and that a class of the user has none") {
  struct OwnImpl : nn::ModelImpl {
    nn::Dense dense = add_layer(nn::Dense(2));
    Tensor call(const Tensor& x) override { return dense(x); }
  };
  const Tensor x = normal({2, 3}, 1, "float32");
  const nn::Sequential model({nn::Dense(2)});
  CHECK(nn::explain(model) == "There is no plan yet: the first prediction makes a plan.\n");
  const nn::ModelOf<OwnImpl> own;
  own.predict_on_batch(x);
  own.predict_on_batch(x);
  CHECK(nn::explain(own) == "There is no plan for the model '" + own.name() + "'.\n");
}

TEST_CASE("nn::explain lists fused steps in their order") {
  const Tensor in = nn::Input({4, 3});
  const nn::Model model(in, nn::Dense(2048, {.activation = "relu"})(nn::LSTM(64)(in)), {.name = "read"});
  const Tensor x = normal({256, 4, 3}, 1, "float32");
  model.predict_on_batch(x);
  model.predict_on_batch(x);
  if (K::backend() != "onednn") return;
  const std::string table = nn::explain(model);
  CHECK(table.find("\nlstm") < table.find("product + relu"));
  CHECK(table.find("product + relu") < table.find("\narena: "));
}
