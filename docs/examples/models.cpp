#include "examples.hpp"

EXAMPLE("nn::Sequential") {
  nn::Sequential model(
      {nn::Dense(4, {.activation = "relu", .input_shape = {3}}), nn::Dense(1)});
  std::cout << model(K::ones({2, 3})).shape()
            << " weights: " << model.count_params();
}

EXAMPLE("nn::Model") {
  Tensor in = nn::Input({4});
  nn::Model model(in, nn::Dense(2)(nn::Dense(8, {.activation = "relu"})(in)));
  std::cout << model.predict(K::ones({3, 4}), {.verbose = 0}).shape();
}

EXAMPLE("nn::SummaryOptions") {
  nn::Sequential model({nn::Dense(4, {.input_shape = {3}}), nn::Dense(1)});
  model.summary({.line_length = 60, .print_fn = [](const std::string& line) {
                   std::cout << line << "\n";
                 }});
}

EXAMPLE("nn::CompileOptions nn::FitOptions nn::History") {
  Tensor x = K::random_normal({64, 2}), y = K::sum(x, 1, true);
  nn::Sequential model({nn::Dense(1, {.kernel_initializer = "zeros"})});
  model.compile({.optimizer = nn::SGD(0.1), .loss = "mse"});
  nn::History history = model.fit(x, y, {.epochs = 20, .verbose = 0});
  std::cout << history["loss"].size() << " epochs, smaller loss: "
            << (history["loss"].back() < history["loss"].front());
}

EXAMPLE("nn::EvaluateOptions nn::PredictOptions nn::Logs") {
  nn::Sequential model({nn::Dense(1, {.kernel_initializer = "ones"})});
  model.compile({.loss = "mse"});
  nn::Logs logs = model.evaluate(K::ones({4, 2}), K::ones({4, 1}), {.verbose = 0});
  std::cout
      << logs << " "
      << model.predict(K::ones({4, 2}), {.batch_size = 2, .verbose = 0}).shape();
}

EXAMPLE("nn::OnBatchOptions") {
  nn::Sequential model({nn::Dense(1, {.kernel_initializer = "ones"})});
  model.compile({.optimizer = nn::SGD(0.1), .loss = "mse"});
  std::cout << model.train_on_batch(K::ones({4, 2}), K::ones({4, 1}));
}

EXAMPLE("nn::LayerImpl nn::LayerOf nn::LayerOptions") {
  struct ScaleImpl : nn::LayerImpl {
    double by;
    explicit ScaleImpl(double by) : nn::LayerImpl("Scale"), by(by) {}
    Tensor call(const Tensor& x) override { return x * by; }
  };
  using Scale = nn::LayerOf<ScaleImpl>;
  std::cout << Scale(3.)(K::ones({2}));
}

EXAMPLE("nn::Layer nn::CallArguments") {
  nn::Layer layer = nn::Dropout(0.5);
  std::cout << layer.class_name() << " "
            << layer(K::ones({4}), {.training = false});
}

EXAMPLE("nn::CallbackImpl nn::CallbackOf nn::Callback") {
  struct PrinterImpl : nn::CallbackImpl {
    void on_epoch_end(int epoch, const nn::Logs&) override {
      std::cout << "epoch " << epoch << "\n";
    }
  };
  nn::Sequential model({nn::Dense(1)});
  model.compile({.loss = "mse"});
  model.fit(
      K::ones({4, 2}), K::ones({4, 1}),
      {.epochs = 2, .verbose = 0, .callbacks = {nn::CallbackOf<PrinterImpl>()}});
}

EXAMPLE("nn::EarlyStopping nn::EarlyStoppingOptions") {
  Tensor x = K::ones({8, 2}), y = K::ones({8, 1});
  nn::Sequential model({nn::Dense(1)});
  model.compile({.optimizer = nn::SGD(0.), .loss = "mse"});
  nn::History history = model.fit(
      x, y,
      {.epochs = 50,
       .verbose = 0,
       .callbacks = {nn::EarlyStopping({.monitor = "loss", .patience = 3})}});
  std::cout << history["loss"].size();
}

EXAMPLE("nn::ModelCheckpoint nn::ModelCheckpointOptions nn::load_model") {
  nn::Sequential model({nn::Dense(1, {.input_shape = {2}})});
  model.compile({.loss = "mse"});
  model.fit(K::ones({4, 2}), K::ones({4, 1}),
            {.verbose = 0,
             .callbacks = {nn::ModelCheckpoint(
                 "best.ktape", {.monitor = "loss", .save_best_only = true})}});
  std::cout << nn::load_model("best.ktape").count_params();
}

EXAMPLE("nn::CSVLogger nn::CSVLoggerOptions") {
  nn::Sequential model({nn::Dense(1, {.kernel_initializer = "ones"})});
  model.compile({.optimizer = nn::SGD(0.), .loss = "mse"});
  model.fit(K::ones({4, 2}), K::ones({4, 1}),
            {.epochs = 2, .verbose = 0, .callbacks = {nn::CSVLogger("log.csv")}});
  std::cout << data::load_text("log.csv");
}

EXAMPLE("nn::ReduceLROnPlateau nn::ReduceLROnPlateauOptions") {
  nn::Sequential model({nn::Dense(1)});
  nn::SGD optimizer(0.1);
  model.compile({.optimizer = optimizer, .loss = "mse"});
  model.fit(
      K::zeros({4, 2}), K::ones({4, 1}),
      {.epochs = 2,
       .verbose = 0,
       .callbacks = {nn::ReduceLROnPlateau({.monitor = "loss", .patience = 3})}});
  std::cout << optimizer.learning_rate();
}

EXAMPLE("nn::LearningRateScheduler") {
  nn::Sequential model({nn::Dense(1)});
  nn::SGD optimizer(0.1);
  model.compile({.optimizer = optimizer, .loss = "mse"});
  model.fit(K::ones({4, 2}), K::ones({4, 1}),
            {.epochs = 3,
             .verbose = 0,
             .callbacks = {nn::LearningRateScheduler(
                 [](int epoch, double) { return 0.1 / (1 + epoch); })}});
  std::cout << optimizer.learning_rate();
}

EXAMPLE("nn::LambdaCallback nn::LambdaCallbackOptions") {
  nn::Sequential model({nn::Dense(1)});
  model.compile({.loss = "mse"});
  model.fit(K::ones({4, 2}), K::ones({4, 1}),
            {.epochs = 2,
             .verbose = 0,
             .callbacks = {nn::LambdaCallback(
                 {.on_epoch_end = [](int epoch, const nn::Logs&) {
                   std::cout << epoch << " ";
                 }})}});
}

EXAMPLE("nn::TerminateOnNaN") {
  nn::Sequential model({nn::Dense(1)});
  model.compile({.optimizer = nn::SGD(1e30), .loss = "mse"});
  nn::History history =
      model.fit(K::ones({4, 2}), K::ones({4, 1}),
                {.epochs = 50, .verbose = 0, .callbacks = {nn::TerminateOnNaN()}});
  std::cout << (history["loss"].size() < 50);
}

EXAMPLE("nn::BackupAndRestore nn::BackupAndRestoreOptions") {
  nn::Sequential model({nn::Dense(1)});
  model.compile({.loss = "mse"});
  model.fit(
      K::ones({4, 2}), K::ones({4, 1}),
      {.epochs = 2, .verbose = 0, .callbacks = {nn::BackupAndRestore("backup")}});
  std::cout << "an interrupted run would go on";
}

EXAMPLE("nn::SwapEMAWeights nn::SwapEMAWeightsOptions") {
  nn::Sequential model({nn::Dense(1)});
  model.compile({.optimizer = nn::Adam({.use_ema = true}), .loss = "mse"});
  model.fit(K::ones({4, 2}), K::ones({4, 1}),
            {.epochs = 2, .verbose = 0, .callbacks = {nn::SwapEMAWeights()}});
  std::cout << model.count_params();
}

EXAMPLE("nn::Report nn::ReportOptions") {
  nn::Sequential model({nn::Dense(1)});
  model.compile({.loss = "mse"});
  model.fit(K::ones({8, 2}), K::ones({8, 1}),
            {.epochs = 2, .verbose = 0, .callbacks = {nn::Report("report.html")}});
  std::cout << (data::load_text("report.html").size() > 1000);
}

EXAMPLE("nn::TensorBoard nn::TensorBoardOptions") {
  nn::Sequential model({nn::Dense(1)});
  model.compile({.loss = "mse"});
  model.fit(K::ones({8, 2}), K::ones({8, 1}),
            {.epochs = 2, .verbose = 0, .callbacks = {nn::TensorBoard("logs")}});
  std::cout << "tensorboard --logdir logs";
}

EXAMPLE("nn::SaveOptions nn::LoadOptions") {
  nn::Sequential model({nn::Dense(1, {.input_shape = {2}})});
  model.save("model.ktape");
  nn::Model same = nn::load_model("model.ktape");
  Tensor x = K::random_normal({3, 2});
  std::cout << K::all(K::equal(model(x), same(x)));
}

EXAMPLE("nn::LoadWeightsOptions nn::save_safetensors nn::load_safetensors") {
  nn::Sequential model({nn::Dense(2, {.input_shape = {3}, .name = "scores"})});
  model.save_weights("model.safetensors");
  for (const auto& [name, tensor] : nn::load_safetensors("model.safetensors"))
    std::cout << name << " " << tensor.shape() << "\n";
}

EXAMPLE("nn::load_safetensors_metadata") {
  nn::save_safetensors("x.safetensors", {{"x", K::ones({2})}}, {{"author", "me"}});
  for (const auto& [key, text] : nn::load_safetensors_metadata("x.safetensors"))
    std::cout << key << ": " << text;
}

EXAMPLE("nn::clone_model nn::CloneModelOptions") {
  nn::Sequential model({nn::Dense(1, {.input_shape = {2}})});
  nn::Model copy = nn::clone_model(model);
  std::cout << copy.count_params();
}

EXAMPLE("nn::model_from_json") {
  nn::Sequential model({nn::Dense(1, {.input_shape = {2}})});
  nn::Model same = nn::model_from_json(model.to_json());
  std::cout << same.count_params();
}

EXAMPLE("nn::explain") {
  nn::Sequential model(
      {nn::Dense(4, {.activation = "relu", .input_shape = {3}}), nn::Dense(1)});
  model.predict_on_batch(K::ones({2, 3}));
  model.predict_on_batch(K::ones({2, 3}));
  std::cout << nn::explain(model).substr(0, 60);
}

EXAMPLE("nn::plot_model nn::model_to_dot nn::model_to_svg nn::PlotOptions") {
  nn::Sequential model({nn::Dense(1, {.input_shape = {2}, .name = "scores"})});
  nn::plot_model(model, "model.svg", {.show_shapes = true});
  std::cout << nn::model_to_dot(model);
}

EXAMPLE("nn::Config nn::Value nn::to_json nn::from_json") {
  nn::Config config{{"units", 3}, {"name", "scores"}};
  std::cout << config.at("units").integer() << " " << nn::to_json(config);
}

EXAMPLE("nn::register_object nn::registered_names nn::is_registered") {
  std::cout << nn::is_registered("layer", "Dense") << " "
            << (nn::registered_names("layer").size() > 80);
}

EXAMPLE("nn::to_snake_case") {
  std::cout << nn::to_snake_case("BatchNormalization");
}

EXAMPLE("nn::applications::all_applications nn::applications::Application") {
  for (const auto& application : nn::applications::all_applications())
    std::cout << application.name << " ";
}

EXAMPLE("nn::applications::MobileNetV3Small nn::applications::MobileNetV3Options") {
  nn::Model model = nn::applications::MobileNetV3Small(
      {.input_shape = {64, 64, 3}, .classes = 10});
  std::cout << model.count_params();
}

EXAMPLE("nn::applications::preprocess_input nn::applications::PreprocessOptions") {
  std::cout << nn::applications::preprocess_input(
      K::constant({{{{255., 0., 127.5}}}}), {.mode = "tf"});
}

EXAMPLE(
    "nn::applications::resnet::preprocess_input "
    "nn::applications::vgg16::preprocess_input") {
  Tensor pixel = K::constant({{{{255., 0., 127.5}}}});
  std::cout << nn::applications::resnet::preprocess_input(pixel) << " "
            << nn::applications::vgg16::preprocess_input(pixel);
}

EXAMPLE(
    "nn::applications::resnet_v2::preprocess_input "
    "nn::applications::xception::preprocess_input "
    "nn::applications::inception_v3::preprocess_input "
    "nn::applications::mobilenet_v2::preprocess_input") {
  std::cout << nn::applications::xception::preprocess_input(
      K::constant({{{{255., 0., 127.5}}}}));
}

EXAMPLE(
    "nn::applications::mobilenet_v3::preprocess_input "
    "nn::applications::efficientnet::preprocess_input "
    "nn::applications::convnext::preprocess_input") {
  std::cout << nn::applications::mobilenet_v3::preprocess_input(
      K::constant({{{{255., 0., 127.5}}}}));
}

EXAMPLE("nn::applications::densenet::preprocess_input") {
  std::cout << nn::applications::densenet::preprocess_input(
      K::constant({{{{255., 0., 127.5}}}}));
}
