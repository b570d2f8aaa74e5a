#include <ktape/autograd/symbolic.hpp>
#include <ktape/nn/layers/arguments.hpp>
#include <ktape/nn/layers/regularization.hpp>
#include <ktape/ops/phase.hpp>
#include <ktape/ops/random.hpp>

namespace ktape::nn {
namespace K = backend;

namespace {

struct DropoutArguments : DropoutOptions {
  double rate = 0;
};

template <class F>
void fields(DropoutArguments& a, F&& field) {
  field("rate", a.rate);
  field("noise_shape", a.noise_shape);
  field("seed", a.seed);
}

class DropoutImpl final : public LayerWith<DropoutArguments> {
 public:
  explicit DropoutImpl(const DropoutArguments& arguments) : LayerWith("Dropout", arguments) {
    if (!(args.rate >= 0 && args.rate < 1))
      fail("[Dropout] rate must be in [0, 1): received rate=", args.rate);
    supports_masking = true;
  }

  Tensor call(const Tensor& x, const CallArguments& arguments) override {
    if (args.rate == 0) return x;
    if (!is_symbolic(x) && !training(arguments)) return x;
    const K::DropoutOptions options{args.noise_shape, seeds_.next()};
    return K::in_train_phase([x, rate = args.rate, options] { return K::dropout(x, rate, options); }, x,
                             arguments.training);
  }

 private:
  Seeds seeds_{args.seed};
};

}  // namespace

Dropout::Dropout(double rate, const DropoutOptions& options)
    : Layer(std::make_shared<DropoutImpl>(DropoutArguments{options, rate})) {}

void add_regularization_layers(Catalogue& catalogue) {
  add_layer<DropoutImpl, DropoutArguments>(catalogue, "Dropout");
}

}  // namespace ktape::nn
