#include <ktape/ktape.hpp>
#include "report.hpp"

/// Image classifiers of nn::applications, predicting on images of 224 x 224 pixels, one and eight at a time.
namespace {

namespace nn = ktape::nn;
namespace K = ktape::backend;

void infer(const char* application, const char* one, const char* eight) {
  if (!bench::wanted({one, eight})) return;
  const nn::Model model = nn::applications::application(application).make({});
  const ktape::Tensor image = K::random_normal({1, 224, 224, 3}), images = K::random_normal({8, 224, 224, 3});
  bench::report(one, [&] { model.predict_on_batch(image); });
  bench::report(eight, [&] { model.predict_on_batch(images); });
}

const bench::Group resnet50([] { infer("ResNet50", "resnet50_infer_1", "resnet50_infer_8"); });
const bench::Group mobilenet_v2([] { infer("MobileNetV2", "mobilenet_v2_infer_1", "mobilenet_v2_infer_8"); });

}  // namespace
