#include <ktape/nn/distributed/internal/world.hpp>
#include <ktape/nn/layers/normalization/batch_normalization.hpp>

namespace ktape::nn::distributed {
namespace {

constexpr const char* name = "SyncBatchNormalization";

class SyncBatchNormalizationImpl final : public BatchNormalizationImpl {
 public:
  explicit SyncBatchNormalizationImpl(const BatchNormalizationOptions& options)
      : BatchNormalizationImpl(options, distributed::name) {}

 protected:
  Tensor counts_of(const Tensor& x, const Tensor& mask) const override {
    const World* world = World::instance();
    const Tensor counts = BatchNormalizationImpl::counts_of(x, mask);
    if (!world) return counts;
    // A process without data runs batches of weight 0, which must not count.
    const double each = world->samples > 0 ? 1 : 0;
    if (counts.defined()) return counts * each;
    return K::full(Shape(std::vector<std::int64_t>(x.shape().size(), 1)), each, x.dtype());
  }
  Tensor total(const Tensor& sum) const override { return weighted_total(sum); }
};

/// Registers the class when this library is loaded, so that files can name the class.
const bool registered = [] {
  register_object(name, [](const Config& config) {
    return Layer(std::make_shared<SyncBatchNormalizationImpl>(
        layer_arguments<BatchNormalizationOptions>(name, config)));
  });
  return true;
}();

}  // namespace

SyncBatchNormalization::SyncBatchNormalization(const BatchNormalizationOptions& options)
    : Layer(std::make_shared<SyncBatchNormalizationImpl>(options)) {}

}  // namespace ktape::nn::distributed
