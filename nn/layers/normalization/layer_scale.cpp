#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/normalization/layer_scale.hpp>
#include <ktape/ops/operators.hpp>

namespace ktape::nn {

struct LayerScaleArguments : LayerScaleOptions {
  std::int64_t projection_dim = 1;
};

template <class F>
void fields(LayerScaleArguments& a, F&& field) {
  field("init_values", a.init_values);
  field("projection_dim", a.projection_dim);
}

namespace {

class LayerScaleImpl final : public LayerWith<LayerScaleArguments> {
 public:
  explicit LayerScaleImpl(const LayerScaleArguments& arguments) : LayerWith("LayerScale", arguments) {
    expect_at_least<std::int64_t>("LayerScale", "projection_dim", args.projection_dim, 1);
    input_spec = {{.min_ndim = 1, .axes = {{-1, args.projection_dim}}}};
  }

  void build(const Shape&) override {
    gamma_ = add_weight("gamma", {args.projection_dim}, {.initializer = Constant(args.init_values)});
  }
  Tensor call(const Tensor& x) override { return x * gamma_; }

 private:
  Variable gamma_;
};

}  // namespace

LayerScale::LayerScale(std::int64_t projection_dim, const LayerScaleOptions& options)
    : Layer(std::make_shared<LayerScaleImpl>(LayerScaleArguments{options, projection_dim})) {}

void add_application_layers(ClassRegistry& registry) {
  add_layer<LayerScaleImpl, LayerScaleArguments>(registry, "LayerScale");
}

}  // namespace ktape::nn
