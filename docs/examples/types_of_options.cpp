#include "examples.hpp"

// Types that options and functions of own classes take, made from numbers, names or lists.

EXAMPLE("nn::FrameWindow") {
  nn::STFT initializer({.window = {0.5, 1., 1., 0.5}});
  nn::FrameWindow hann = "hann";
  std::cout << initializer({4, 1, 3}).shape() << " " << hann.over(4, false)[1];
}

EXAMPLE("nn::Frequency") {
  nn::ModelCheckpoint each_hundred_batches("best.keras", {.save_freq = 100});
  nn::Frequency frequency = 100;
  std::cout << frequency.due(300) << frequency.due(301) << frequency.by_epoch();
}

EXAMPLE("data::ImageLabels") {
  std::filesystem::create_directory("pictures");
  for (const char* name : {"a.png", "b.png"})
    data::save_image(std::string("pictures/") + name, K::ones({4, 4, 3}));
  auto dataset = data::image_dataset_from_directory(
      "pictures", {.labels = data::ImageLabels({7, 3}),
                   .image_size = {4, 4},
                   .shuffle = false});
  for (const data::Element& batch : dataset)
    std::cout << batch[0].shape() << " " << batch[1];
}

EXAMPLE("nn::InputSignature") {
  nn::Sequential model({nn::Dense(2, {.input_shape = {3}})});
  model.export_to(
      "model.onnx",
      {.input_signature = {{{None, 3}, ktape::DType::Float32, "pixels"}}});
  std::cout << nn::onnx::load("model.onnx")
                   .predict(K::ones({1, 3}), {.verbose = 0})
                   .shape();
}

EXAMPLE("nn::TextStep") {
  nn::TextVectorization layer(
      {.standardize = [](const std::string& text) { return "the " + text; },
       .split = "whitespace"});
  layer.adapt(std::vector<std::string>{"tape", "tensor"});
  std::cout << layer.get_vocabulary()[2];
}

EXAMPLE("nn::JitCompile") {
  nn::Sequential model({nn::Dense(1, {.input_shape = {2}})});
  model.compile({.loss = "mse", .jit_compile = false});
  std::cout << nn::JitCompile("auto").wanted();
}

EXAMPLE("nn::ActivationImpl") {
  struct SquashImpl : nn::ActivationImpl {
    std::string class_name() const override { return "Squash"; }
    Tensor call(const Tensor& x) const override { return x / (1.f + K::abs(x)); }
  };
  nn::ActivationFunction squash(std::make_shared<SquashImpl>());
  nn::Dense layer(2, {.activation = squash, .kernel_initializer = "ones"});
  std::cout << layer(K::ones({1, 3}));
}

EXAMPLE("nn::to_same_rank nn::SameRank") {
  auto [x, y] = nn::to_same_rank(K::ones({4, 1}), K::ones({4}));
  std::cout << x.shape() << " " << y.shape();
}

EXAMPLE("nn::like_predictions nn::reduce_values") {
  struct PinballImpl : nn::LossImpl {
    std::string class_name() const override { return "Pinball"; }
    nn::LossValues call(const Tensor& y_true, const Tensor& y_pred) const override {
      auto [y, p] = nn::like_predictions("pinball", y_true, y_pred);
      return K::mean(K::maximum(0.9f * (y - p), 0.1f * (p - y)), -1);
    }
  };
  Tensor values = K::constant({1., 2., 3.});
  std::cout << nn::LossOf<PinballImpl>()(K::constant({{1.}, {2.}}),
                                         K::constant({{3.}, {1.}}))
            << "\n"
            << nn::reduce_values("mine", values, K::constant({1., 0., 1.}), {},
                                 "sum");
}

EXAMPLE("nn::mask_of nn::with_mask") {
  nn::Embedding embedding(10, 2, {.mask_zero = true});
  Tensor x = embedding(K::constant({{4, 7, 0}}));
  std::cout << nn::mask_of(x) << "\n"
            << nn::mask_of(nn::with_mask(x, {})).defined();
}

EXAMPLE("nn::warn nn::RunParameters") {
  nn::RunParameters quiet{.epochs = 3, .verbose = 0};
  nn::warn(quiet, "the learning rate is 0");  // only in the log
  std::cout << quiet.epochs;
}

EXAMPLE("backend::boolean_mask") {
  Tensor x = K::constant({{1., 2.}, {3., 4.}, {5., 6.}});
  std::cout << K::boolean_mask(x, K::constant({true, false, true})) << "\n"
            << x[x > 3];
}

EXAMPLE("assign_part") {
  Variable board = K::zeros({2, 3});
  board[{1, All}] = {1., 2., 3.};
  ktape::assign_part(board, board > 2, 0.f);
  std::cout << board;
}
