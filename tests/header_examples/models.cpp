#include "header_examples.hpp"

namespace {

[[maybe_unused]] void functional_models(const Tensor& in, const Tensor& out) {
  struct MineImpl : nn::FunctionalImpl {
    using nn::FunctionalImpl::FunctionalImpl;
    std::string class_name() const override { return "Mine"; }
    nn::Logs train_step(const nn::Batch& batch) override { return nn::FunctionalImpl::train_step(batch); }
  };
  using Mine = nn::ModelOf<MineImpl>;
  nn::register_object("Mine", [](const nn::Config& config) { return Mine(config); });
  Mine model(in, out);
}

struct OwnStepImpl : nn::ModelImpl {
  nn::Logs train_step(const nn::Batch& batch) override {
    namespace K = backend;
    const std::vector<Tensor> y_pred = apply(batch.x);
    const Tensor loss = compute_loss(batch, y_pred);
    optimizer().apply(K::gradients(loss, trainable_weights()), trainable_weights());
    return compute_metrics(batch, y_pred, loss);
  }
};

struct DistillerImpl : nn::ModelImpl {
  nn::Loss distillation_loss_;
  double alpha_ = 0;
  void compile(const nn::Optimizer& optimizer, const nn::Loss& distillation_loss, double alpha) {
    nn::ModelImpl::compile({.optimizer = optimizer, .metrics = {"mae"}});
    distillation_loss_ = distillation_loss, alpha_ = alpha;
  }
};

struct MineImpl : nn::ModelImpl {
  nn::Dense dense = add_layer(nn::Dense(10));
  Tensor call(const Tensor& x) override { return dense(x); }
};
using Mine = nn::ModelOf<MineImpl>;

[[maybe_unused]] void models(const Tensor& x, const Tensor& left, const Tensor& right, const Tensor& titles,
                             const Tensor& bodies, const Tensor& priorities, const nn::Batch& batch,
                             const Dataset& train, const Dataset& test, const nn::Model& pair) {
  namespace K = backend;
  Tensor in = nn::Input({28, 28});
  nn::Model model(in, nn::Dense(10)(nn::Flatten()(in)));
  model.fit({{"title", titles}, {"body", bodies}}, {{"priority", priorities}});
  model.fit({{"title", titles}, {"body", bodies}}, {{"priority", priorities}}, {.epochs = 5});
  Tensor title = batch.x["title"], first = batch.x[0];
  Tensor labeled = batch.element.part(1)[0], fourth = batch.element[3];
  model.fit(train.shuffle(1000).batch(32).prefetch(2), {.epochs = 5, .validation_data = test.batch(256)});
  model.load_weights("model.safetensors.index.json",
                     {.names = {{R"(bert\.layer\.(\d+)\.output\.weight)", "output_$1/kernel", {1, 0}},
                                {R"(bert\.layer\.(\d+)\.output\.bias)", "output_$1/bias"}}});
  { nn::Sequential model({nn::Dense(16, {.activation = "relu"}), nn::Dense(1)}); }
  Tensor scores = model.predict(x);
  std::vector<Tensor> all = pair.predict({left, right});
  nn::Model smooth = nn::clone_model(model, {.clone_function = [](const nn::Layer& layer) -> nn::Layer {
                                       if (layer.class_name() == "ReLU")
                                         return nn::Activation("gelu", {.name = layer.name()});
                                       return nn::Layer::from_value(layer.to_value());
                                     }});
}

}  // namespace
