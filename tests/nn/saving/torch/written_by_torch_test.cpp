#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

/// Files that PyTorch 1.13 wrote (written_by_torch/write.py), with its predictions.
namespace K = ktape::backend;
namespace data = ktape::data;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::IOError;
using ktape::Tensor;

namespace {

const std::string folder = "tests/nn/saving/torch/written_by_torch/";

/// Loads the weights of a module into the model, and compares the predictions.
void check(const std::string& name, const nn::Model& model, std::size_t weights) {
  CAPTURE(name);
  CHECK(nn::load_torch_weights(model, folder + name + ".pt").matched.size() == weights);
  Tensor x = data::load_npy(folder + name + "_x.npy");
  if (x.ndim() == 4) x = K::permute_dimensions(x, {0, 2, 3, 1});
  const Tensor y = model.predict(x, {.verbose = 0}), wanted = data::load_npy(folder + name + "_y.npy");
  REQUIRE(y.shape() == wanted.shape());
  CHECK(close(values(y), values(wanted), {.rtol = 1e-5, .atol = 1e-6}));
}

}  // namespace

TEST_CASE("modules that PyTorch saved predict what PyTorch predicts") {
  check("dense", nn::Sequential({nn::Dense(8, {.activation = "relu", .input_shape = {4}}), nn::Dense(3)}), 4);
  {
    const Tensor in = nn::Input({8, 8, 3});
    Tensor x = nn::Conv2D(8, 3, {.padding = "same", .name = "stem"})(in);
    x = nn::ReLU()(nn::BatchNormalization({.epsilon = 1e-5, .name = "norm"})(x));
    x = nn::DepthwiseConv2D(3, {.use_bias = false, .name = "depth"})(x);
    x = nn::Conv2DTranspose(4, 2, {.strides = 2, .name = "up"})(x);
    x = nn::GlobalAveragePooling2D()(nn::Conv2D(8, 1, {.groups = 2, .name = "group"})(x));
    check("images", nn::Model(in, nn::Dense(5, {.name = "head"})(x)), 13);
  }
  {
    const Tensor in = nn::Input({7}, {.dtype = "int64"});
    Tensor x = nn::Embedding(11, 6, {.name = "embed"})(in);
    for (const char* name : {"lstm0", "lstm1"})
      x = nn::Bidirectional(nn::LSTM(5, {.return_sequences = true}), {.name = name})(x);
    x = nn::GRU(4, {.return_sequences = true, .name = "gru"})(x);
    x = nn::SimpleRNN(3, {.return_sequences = true, .name = "rnn"})(x);
    check("sequences", nn::Model(in, nn::Dense(2, {.name = "out"})(x)), 21);
  }
  {
    const Tensor in = nn::Input({6, 8});
    const Tensor y = nn::MultiHeadAttention(2, 4, {.name = "attention"})({in, in});
    const Tensor x = nn::LayerNormalization({.epsilon = 1e-5, .name = "norm"})(in + y);
    check("attention", nn::Model(in, nn::Dense(8, {.name = "fc"})(x)), 12);
  }
}

TEST_CASE("tensors of every dtype and stride that PyTorch saved") {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, tensor] : data::load_torch(folder + "dtypes.pt")) tensors[name] = tensor;
  const auto check_tensor = [&](const char* name, const Tensor& wanted) {
    CAPTURE(name);
    REQUIRE(tensors.contains(name));
    CHECK(tensors[name].dtype() == wanted.dtype());
    CHECK(tensors[name].shape() == wanted.shape());
    CHECK(values(tensors[name]) == values(wanted));
  };
  const Tensor numbers = K::reshape(K::arange(24, {.dtype = "float32"}), {4, 6});
  check_tensor("whole", numbers);
  check_tensor("transposed", K::transpose(numbers));
  check_tensor("strided", K::constant({{1., 3., 5.}, {13., 15., 17.}}));
  check_tensor("row", K::constant({12., 13., 14., 15., 16., 17.}));
  check_tensor("expanded", K::constant({{1., 1., 1.}, {2., 2., 2.}}));
  check_tensor("scalar", K::constant(2.5));
  check_tensor("empty", K::zeros({0, 3}));
  check_tensor("bfloat16", K::constant({1.5, -2.25}, {.dtype = "bfloat16"}));
  check_tensor("float16", K::constant({1.5, 65504.}, {.dtype = "float16"}));
  check_tensor("float64", K::constant({0.1}, {.dtype = "float64"}));
  check_tensor("int64",
               K::constant(std::vector<std::int64_t>{std::int64_t{1} << 40, -1}, {.dtype = "int64"}));
  check_tensor("int32", K::constant({5, -6}, {.dtype = "int32"}));
  check_tensor("int16", K::constant({-5}, {.dtype = "int16"}));
  check_tensor("int8", K::constant({-128}, {.dtype = "int8"}));
  check_tensor("uint8", K::constant({255}, {.dtype = "uint8"}));
  check_tensor("bool", K::constant({1, 0}, {.dtype = "bool"}));
  check_tensor("parameter", K::ones({2}));
}

TEST_CASE("a checkpoint that PyTorch saved has the tensors of model and optimizer") {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : data::load_torch(folder + "checkpoint.pt")) names.push_back(name);
  CHECK(names == std::vector<std::string>{"model.weight", "model.bias", "optimizer.state.0.step",
                                          "optimizer.state.0.exp_avg", "optimizer.state.0.exp_avg_sq",
                                          "optimizer.state.1.step", "optimizer.state.1.exp_avg",
                                          "optimizer.state.1.exp_avg_sq"});
}

TEST_CASE("what PyTorch saved beside tensors is refused by name") {
  const auto check_error = [](const char* file, const char* reason) {
    CHECK_THROWS_WITH_AS(data::load_torch(folder + file), Contains(reason), IOError);
  };
  check_error("old_format.pt", "the format of PyTorch before 1.6; save the file with a newer PyTorch");
  check_error("module.pt", "the pickle asks for 'torch.nn.modules.linear.Linear', which is never run");
  check_error("script.pt", "it is a TorchScript model; save its state_dict");
}
