#include <ktape/ktape.hpp>
#include <ktape/ops/keras/backend.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

// The pages of the zoo, each in a namespace with the name of the page, so that their models can be built here. The headers that the
// pages include stand above.
namespace zoo {
namespace actor_critic {
#include "../../../../../examples/actor_critic.cpp"
}
namespace addition_seq2seq {
#include "../../../../../examples/addition_seq2seq.cpp"
}
namespace anomaly {
#include "../../../../../examples/anomaly.cpp"
}
namespace autoencoder {
#include "../../../../../examples/autoencoder.cpp"
}
namespace bayes_dropout {
#include "../../../../../examples/bayes_dropout.cpp"
}
namespace captcha_ctc {
#include "../../../../../examples/captcha_ctc.cpp"
}
namespace char_lstm {
#include "../../../../../examples/char_lstm.cpp"
}
namespace deep_dream {
#include "../../../../../examples/deep_dream.cpp"
}
namespace diffusion {
#include "../../../../../examples/diffusion.cpp"
}
namespace digits_cnn {
#include "../../../../../examples/digits_cnn.cpp"
}
namespace dqn {
#include "../../../../../examples/dqn.cpp"
}
namespace grad_cam {
#include "../../../../../examples/grad_cam.cpp"
}
namespace graph_convolution {
#include "../../../../../examples/graph_convolution.cpp"
}
namespace mini_gpt {
#include "../../../../../examples/mini_gpt.cpp"
}
namespace mnist {
#include "../../../../../examples/mnist.cpp"
}
namespace neural_ode {
#include "../../../../../examples/neural_ode.cpp"
}
namespace pinn {
#include "../../../../../examples/pinn.cpp"
}
namespace quasi_svm {
#include "../../../../../examples/quasi_svm.cpp"
}
namespace resnet {
#include "../../../../../examples/resnet.cpp"
}
namespace siamese {
#include "../../../../../examples/siamese.cpp"
}
namespace style_transfer {
#include "../../../../../examples/style_transfer.cpp"
}
namespace text_classification {
#include "../../../../../examples/text_classification.cpp"
}
namespace timeseries {
#include "../../../../../examples/timeseries.cpp"
}
namespace transfer_learning {
#include "../../../../../examples/transfer_learning.cpp"
}
namespace unet {
#include "../../../../../examples/unet.cpp"
}
namespace vae {
#include "../../../../../examples/vae.cpp"
}
namespace vision_transformer {
#include "../../../../../examples/vision_transformer.cpp"
}
namespace wgan_gp {
#include "../../../../../examples/wgan_gp.cpp"
}
}  // namespace zoo

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using exported::Cases;
using ktape::Shape;
using ktape::Tensor;

namespace {

/// A model of a page, and the shapes of its inputs.
struct ZooModel {
  const char* page;
  const char* part;  ///< which model of the page; empty for the only one
  std::function<nn::Model()> make;
  std::vector<Shape> inputs;
  int numbers = 0;  ///< the inputs are integers below this number
};

Tensor pixels(const Shape& shape) { return K::random_uniform(shape, {.seed = 4}); }

const std::vector<ZooModel>& zoo_models() {
  static const std::vector<ZooModel> all{
      {"actor_critic", "", zoo::actor_critic::two_heads, {{3, 4}}},
      {"addition_seq2seq", "", zoo::addition_seq2seq::calculator, {{3, 7}}, 12},
      {"anomaly", "", zoo::anomaly::rebuilder, {{2, 64, 1}}},
      {"autoencoder", "", zoo::autoencoder::cleaner, {{2, 8, 8, 1}}},
      {"bayes_dropout", "", zoo::bayes_dropout::curve, {{5, 1}}},
      {"captcha_ctc", "", zoo::captcha_ctc::word_reader, {{2, 12, 64, 1}}},
      {"char_lstm", "", [] { return zoo::char_lstm::next_character(40); }, {{2, 64}}, 40},
      {"deep_dream",
       "",
       [] {
         return zoo::deep_dream::reader(pixels({8, 8, 8, 1}), K::zeros({8}, {.dtype = "int32"}), 8, 1);
       },
       {{2, 8, 8, 1}}},
      {"diffusion", "", zoo::diffusion::noise_finder, {{3, 64}, {3, 32}, {3, 10}}},
      {"digits_cnn", "", zoo::digits_cnn::digit_reader, {{2, 8, 8, 1}}},
      {"dqn", "", zoo::dqn::worth, {{3, 4}}},
      {"grad_cam", "", zoo::grad_cam::digit_reader, {{2, 24, 24, 1}}},
      {"graph_convolution",
       "",
       [] { return zoo::graph_convolution::convolutions(zoo::graph_convolution::citations(1).neighbours); },
       {{1000, 100}}},
      {"mini_gpt", "", [] { return zoo::mini_gpt::gpt(40, 2); }, {{2, 64}}, 40},
      {"mnist", "", zoo::mnist::digit_reader, {{2, 28, 28, 1}}},
      {"neural_ode", "", zoo::neural_ode::velocity, {{5, 2}}},
      {"pinn", "", zoo::pinn::perceptron, {{5, 2}}},
      {"quasi_svm", "", zoo::quasi_svm::kernel_machine, {{3, 64}}},
      {"regression",
       "",
       [] {
         return nn::Sequential({nn::Input({3}), nn::Dense(1)});
       },
       {{5, 3}}},
      {"resnet", "", [] { return zoo::resnet::resnet(1); }, {{2, 32, 32, 3}}},
      {"siamese", "", zoo::siamese::siamese, {{2, 8, 8, 1}, {2, 8, 8, 1}}},
      {"style_transfer", "", zoo::style_transfer::features, {{1, 64, 64, 3}}},
      {"text_classification",
       "_counting",
       [] { return zoo::text_classification::counting(30, 20); },
       {{3, 20}},
       30},
      {"text_classification",
       "_lstm",
       [] { return zoo::text_classification::recurrent(30, 20); },
       {{3, 20}},
       30},
      {"text_classification",
       "_transformer",
       [] { return zoo::text_classification::transformer(30, 20); },
       {{3, 20}},
       30},
      {"timeseries", "", zoo::timeseries::forecaster, {{2, 48, 2}}},
      {"transfer_learning",
       "",
       [] {
         return zoo::transfer_learning::joined(
             nn::applications::ResNet50V2(
                 {.include_top = false, .input_shape = {64, 64, 3}, .pooling = "avg"}),
             zoo::transfer_learning::classifier(3));
       },
       {{1, 64, 64, 3}}},
      {"unet", "", [] { return zoo::unet::unet(8, 2); }, {{2, 32, 32, 3}}},
      {"vae", "_decoder", zoo::vae::image_decoder, {{3, 2}}},
      {"vision_transformer",
       "",
       [] { return zoo::vision_transformer::vision_transformer(2); },
       {{2, 8, 8, 1}}},
      {"wgan_gp", "", [] { return zoo::wgan_gp::Wgan(0.001); }, {{3, 8}}},
  };
  return all;
}

std::vector<Tensor> inputs_of(const ZooModel& one) {
  std::vector<Tensor> inputs;
  for (const Shape& shape : one.inputs)
    inputs.push_back(one.numbers > 0
                         ? K::random_uniform(shape, {.maxval = one.numbers, .dtype = "int32", .seed = 3})
                         : pixels(shape));
  return inputs;
}

/// Returns the pages without a model that trains: their weights stand in variables, or, in classify_image, in a file.
std::set<std::string> without_export() { return {"classify_image", "digits", "hello", "maml", "tape"}; }

}  // namespace

TEST_CASE("onnx: the models of the zoo") {
  Cases cases;
  for (const ZooModel& one : zoo_models()) {
    const std::string name = std::string(one.page) + one.part;
    CAPTURE(name);
    const nn::Model model = one.make();
    const std::vector<Tensor> inputs = inputs_of(one);
    model.apply(inputs);
    nn::ExportOptions options;
    // A Sequential without Input does not know that its inputs are integers.
    if (one.numbers > 0 && (model.inputs().empty() || model.inputs()[0].dtype().is_floating()))
      options.input_signature = {{.shape = {ktape::None, one.inputs[0][1]}, .dtype = "int32"}};
    std::string reason;
    try {
      reason = cases.add(name, model, inputs, options);
    } catch (const ktape::Error& error) {
      reason = error.what();
    }
    CHECK_MESSAGE(reason.empty(), name, ": ", reason);
  }
  cases.run([](const std::string& name, const std::string& reason) {
    CHECK_MESSAGE(reason.empty(), name, ": ", reason);
  });
}

TEST_CASE("onnx: each page of the zoo has a model here, or trains none of layers") {
  for (const auto& entry : std::filesystem::directory_iterator("examples")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string page = entry.path().stem().string();
    const bool has = std::any_of(zoo_models().begin(), zoo_models().end(),
                                 [&](const ZooModel& one) { return one.page == page; });
    CHECK_MESSAGE(has != without_export().contains(page), page);
  }
}

TEST_CASE("onnx: the encoder of the zoo's vae draws random numbers, and is refused by the layer's name") {
  const Files files;
  const nn::Model encoder = zoo::vae::image_encoder();
  CHECK_THROWS_WITH_AS(encoder.export_to(files.folder() + "/m.onnx"), Contains("sampling"),
                       ktape::ValueError);
  Cases cases;
  const nn::Model plain(encoder.inputs(), {encoder.outputs()[0], encoder.outputs()[1]});
  CHECK(cases.add("vae_encoder", plain, {pixels({2, 8, 8, 1})}) == "");
  cases.run([](const std::string& name, const std::string& reason) {
    CHECK_MESSAGE(reason.empty(), name, ": ", reason);
  });
}
