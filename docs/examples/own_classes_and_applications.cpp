#include "examples.hpp"

EXAMPLE("nn::applications::VGG16 nn::applications::ApplicationOptions") {
  nn::Model model = nn::applications::VGG16(
      {.include_top = false, .input_shape = {64, 64, 3}, .pooling = "avg"});
  std::cout << model.count_params() << " "
            << model.predict(K::ones({1, 64, 64, 3}), {.verbose = 0}).shape();
}

EXAMPLE("nn::applications::ResNet50 nn::applications::ResNet50V2") {
  nn::Model model =
      nn::applications::ResNet50({.input_shape = {64, 64, 3}, .classes = 10});
  std::cout << model.count_params();
}

EXAMPLE("nn::applications::InceptionV3") {
  std::cout << nn::applications::InceptionV3(
                   {.include_top = false, .input_shape = {96, 96, 3}})
                   .count_params();
}

EXAMPLE("nn::applications::Xception") {
  std::cout << nn::applications::Xception(
                   {.include_top = false, .input_shape = {96, 96, 3}})
                   .count_params();
}

EXAMPLE("nn::applications::MobileNetV2 nn::applications::MobileNetV2Options") {
  std::cout << nn::applications::MobileNetV2(
                   {.input_shape = {96, 96, 3}, .classes = 10})
                   .count_params();
}

EXAMPLE("nn::applications::DenseNet121") {
  std::cout << nn::applications::DenseNet121(
                   {.include_top = false, .input_shape = {64, 64, 3}})
                   .count_params();
}

EXAMPLE("nn::applications::EfficientNetB0") {
  std::cout << nn::applications::EfficientNetB0(
                   {.include_top = false, .input_shape = {64, 64, 3}})
                   .count_params();
}

EXAMPLE("nn::applications::ConvNeXtTiny nn::applications::ConvNeXtOptions") {
  std::cout << nn::applications::ConvNeXtTiny(
                   {.include_top = false, .input_shape = {64, 64, 3}})
                   .count_params();
}

EXAMPLE("data::load_idx data::load_mnist") {
  std::ofstream file("t10k-labels-idx1-ubyte", std::ios::binary);
  file << std::string("\0\0\x08\x01\0\0\0\x03\x07\x02\x01", 11);
  file.close();
  std::cout << data::load_idx("t10k-labels-idx1-ubyte");
}

EXAMPLE("nn::program_options nn::ProgramOptions") {
  const char* arguments[] = {"digits", "--epochs", "3"};
  auto options =
      nn::program_options(3, const_cast<char**>(arguments), {.epochs = 20});
  std::cout << options.epochs;
}

EXAMPLE("nn::LossImpl nn::LossOf") {
  struct SquareImpl : nn::LossImpl {
    std::string class_name() const override { return "Square"; }
    nn::LossValues call(const Tensor& y_true, const Tensor& y_pred) const override {
      return K::mean(K::square(y_pred - y_true), -1);
    }
  };
  std::cout << nn::LossOf<SquareImpl>()(K::constant({{1., 2.}}),
                                        K::constant({{1., 4.}}));
}

EXAMPLE("nn::ScheduleImpl nn::ScheduleOf") {
  struct HalvingImpl : nn::ScheduleImpl {
    std::string class_name() const override { return "Halving"; }
    double call(std::int64_t step) const override { return 0.1 / (1 + step); }
  };
  std::cout << nn::ScheduleOf<HalvingImpl>()(1);
}

EXAMPLE("nn::RegularizerImpl nn::RegularizerOf") {
  struct SmallImpl : nn::RegularizerImpl {
    std::string class_name() const override { return "Small"; }
    Tensor call(const Tensor& x) const override { return K::max(K::abs(x)); }
  };
  std::cout << nn::RegularizerOf<SmallImpl>()(K::constant({1., -3.}));
}

EXAMPLE("nn::ConstraintImpl nn::ConstraintOf") {
  struct RoundImpl : nn::ConstraintImpl {
    std::string class_name() const override { return "Round"; }
    Tensor call(const Tensor& x) const override { return K::round(x); }
  };
  std::cout << nn::ConstraintOf<RoundImpl>()(K::constant({1.2, -2.7}));
}

EXAMPLE("nn::InitializerImpl nn::InitializerOf") {
  struct TenImpl : nn::InitializerImpl {
    std::string class_name() const override { return "Ten"; }
    Tensor call(const Shape& shape, ktape::DType dtype) const override {
      return K::full(shape, 10, dtype);
    }
  };
  std::cout << nn::InitializerOf<TenImpl>()({2});
}

EXAMPLE("nn::Prediction") {
  nn::Sequential model({nn::Dense(2)});
  nn::Prediction prediction = model.predict(K::ones({3, 4}), {.verbose = 0});
  std::cout << prediction.shape();
}

EXAMPLE("nn::Reduction") {
  nn::MeanSquaredError loss({.reduction = "none"});
  std::cout << loss(K::constant({{1.}, {2.}}), K::constant({{1.}, {4.}}));
}

EXAMPLE("nn::Handle nn::HandleOf") {
  nn::Dense a(2), b = a;
  a(K::ones({1, 3}));
  std::cout << b.count_params() << ": copies are the same layer";
}

EXAMPLE("nn::KernelLayer") {
  nn::Dense layer(2, {.kernel_initializer = "ones"});
  layer(K::ones({1, 3}));
  std::cout << layer.kernel();
}

EXAMPLE("nn::RecurrentLayer nn::RecurrentKernelLayer") {
  nn::GRU layer(2);
  layer(K::ones({1, 3, 4}));
  std::cout << layer.recurrent_kernel().shape();
}

EXAMPLE("nn::ScalingLayer") {
  nn::BatchNormalization layer;
  layer(K::ones({1, 3}));
  std::cout << layer.gamma();
}

EXAMPLE("nn::StringArray nn::Tokens") {
  nn::StringLookup lookup({.vocabulary = {"cat", "dog"}});
  std::cout << lookup({{"cat", "dog"}, {"dog", "owl"}});
}

EXAMPLE("nn::MetricImpl nn::MetricOf") {
  struct LargestImpl : nn::MetricImpl {
    float largest = 0;
    LargestImpl() : nn::MetricImpl("Largest", "largest") {}
    void update_state(const Tensor& y_true, const Tensor& y_pred,
                      const Tensor&) override {
      largest = std::max(largest, K::max(K::abs(y_pred - y_true)).item<float>());
    }
    Tensor result() const override { return K::constant(largest); }
    void reset_state() override { largest = 0; }
  };
  nn::MetricOf<LargestImpl> metric;
  metric.update_state(K::constant({{1.}, {2.}}), K::constant({{1.5}, {2.}}));
  std::cout << metric.result();
}

EXAMPLE("nn::MetricCallOptions nn::MetricOptions") {
  nn::Metric metric = nn::metrics::MeanAbsoluteError({.name = "error"});
  metric.update_state(K::constant({{1.}, {2.}}), K::constant({{1.5}, {4.}}),
                      {.sample_weight = K::constant({1., 0.})});
  std::cout << metric.name() << " " << metric.result();
}

EXAMPLE("nn::LossCallOptions") {
  nn::Loss loss = "mse";
  std::cout << loss(K::constant({{1.}, {2.}}), K::constant({{1.}, {4.}}),
                    {.sample_weight = K::constant({1., 0.5})});
}

EXAMPLE("nn::CellImpl") {
  struct SumCellImpl : nn::CellImpl {
    SumCellImpl() : nn::CellImpl("SumCell") {}
    std::vector<Tensor> call(const std::vector<Tensor>& inputs) override {
      const Tensor sum = inputs[0] + inputs[1];
      return {sum, sum};
    }
    std::vector<std::int64_t> state_size() const override { return {2}; }
  };
  std::cout << nn::RNN(nn::LayerOf<SumCellImpl>())(K::ones({1, 4, 2}));
}

EXAMPLE("nn::SpatialOptions") {
  nn::ZeroPadding2D layer(1, {.data_format = "channels_first"});
  std::cout << layer(K::ones({1, 3, 4, 4})).shape();
}

EXAMPLE("nn::WeightName") {
  nn::save_safetensors("other.safetensors", {{"fc.weight", K::ones({2, 3})}});
  nn::Sequential model(
      {nn::Dense(2, {.use_bias = false, .input_shape = {3}, .name = "scores"})});
  model.load_weights("other.safetensors",
                     {.names = {{"fc\\.weight", "scores/kernel", {1, 0}}}});
  std::cout << model.get_layer("scores").weight("kernel").shape();
}

EXAMPLE("nn::FunctionalImpl nn::Batch") {
  struct LoggingImpl : nn::FunctionalImpl {
    using nn::FunctionalImpl::FunctionalImpl;
    std::string class_name() const override { return "Logging"; }
    nn::Logs train_step(const nn::Batch& batch) override {
      std::cout << "a batch of " << batch.x[0].shape() << "\n";
      return nn::FunctionalImpl::train_step(batch);
    }
  };
  Tensor in = nn::Input({2});
  nn::ModelOf<LoggingImpl> model(in, nn::Dense(1)(in));
  model.compile({.loss = "mse"});
  model.fit(K::ones({4, 2}), K::ones({4, 1}), {.verbose = 0});
}

EXAMPLE("nn::make_object nn::Object") {
  auto object = nn::make_object("activation", "relu");
  std::cout << object->class_name();
}

EXAMPLE("nn::OutputMetrics nn::PerOutput nn::MetricList") {
  nn::CompileOptions options{.loss = {{"scores", "mse"}, {"boxes", "mae"}}};
  options.metrics = {{"scores", {"accuracy"}}, {"boxes", {"mae"}}};
  std::cout << "losses and metrics by the name of an output";
}
