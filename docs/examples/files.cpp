#include "examples.hpp"

EXAMPLE("data::load_csv data::CsvOptions data::load_text data::load_text_lines") {
  std::ofstream("table.csv") << "a;b\n1;2\n3;4\n";
  std::cout << data::load_csv("table.csv", {.header = true, .delimiter = ';'})
            << "\n"
            << data::load_text_lines("table.csv").size();
}

EXAMPLE("data::text_line_dataset") {
  std::ofstream("lines.txt") << "1\n2\n\n3\n";
  auto numbers = data::text_line_dataset(
      "lines.txt", [](const std::string& line) -> std::optional<data::Element> {
        if (line.empty()) return std::nullopt;
        return data::Element{K::constant(std::stod(line))};
      });
  for (const data::Element& e : numbers.batch(8)) std::cout << e[0];
}

EXAMPLE(
    "data::image_dataset_from_directory data::image_datasets_from_directory "
    "data::ImageDataset "
    "data::ImageDatasets data::ImageFolderOptions") {
  for (const char* name : {"cat", "dog"}) {
    std::filesystem::create_directories(std::string("pets/") + name);
    for (int i = 0; i < 3; ++i)
      data::save_image(
          std::string("pets/") + name + "/" + std::to_string(i) + ".png",
          K::ones({8, 8, 3}));
  };
  auto [train, validation] = data::image_datasets_from_directory(
      "pets", {.image_size = {4, 4}, .seed = 1, .validation_split = 0.34});
  for (const data::Element& batch : train)
    std::cout << batch[0].shape() << " " << batch[1].shape();
}

EXAMPLE("nn::any_function nn::AnyFunction") {
  std::cout << nn::losses::name_of(nn::any_function(nn::losses::huber));
}

EXAMPLE("nn::custom_object_scope nn::CustomObjects nn::Factory") {
  std::cout << nn::is_registered("layer", "Mine");
}

EXAMPLE("nn::NamedTensors") {
  nn::NamedTensors tensors{{"title", K::ones({2})}, {"body", K::zeros({3})}};
  std::cout << tensors["body"].shape();
}

EXAMPLE("nn::ValidationData nn::ClassWeight") {
  nn::Sequential model({nn::Dense(1, {.kernel_initializer = "zeros"})});
  model.compile({.optimizer = nn::SGD(0.), .loss = "mse"});
  nn::History history = model.fit(
      K::ones({4, 2}), K::ones({4, 1}),
      {.verbose = 0, .validation_data = {K::ones({2, 2}), K::zeros({2, 1})}});
  std::cout << history["loss"].back() << " " << history["val_loss"].back();
}

EXAMPLE("nn::ModelImpl nn::ModelOf") {
  struct MineImpl : nn::ModelImpl {
    nn::Dense dense = add_layer(nn::Dense(10));
    Tensor call(const Tensor& x) override { return dense(x); }
  };
  using Mine = nn::ModelOf<MineImpl>;
  Mine model;
  std::cout << model(K::ones({2, 4})).shape();
}

EXAMPLE("nn::OptimizerImpl nn::OptimizerOf nn::OptimizerStep") {
  struct SignImpl : nn::OptimizerImpl {
    SignImpl() : nn::OptimizerImpl("Sign", {.learning_rate = 0.01}) {}
    void update_step(const Tensor& g, Variable w,
                     const nn::OptimizerStep& step) override {
      K::update_sub(w, step.learning_rate * K::sign(g));
    }
  };
  nn::OptimizerOf<SignImpl> optimizer;
  Variable w = K::variable({1.f});
  optimizer.apply({K::constant({5.})}, {w});
  std::cout << w;
}

EXAMPLE("plot::curves") {
  nn::Sequential model({nn::Dense(1, {.kernel_initializer = "zeros"})});
  model.compile({.optimizer = nn::SGD(0.1), .loss = "mse"});
  nn::History history =
      model.fit(K::ones({8, 2}), K::ones({8, 1}), {.epochs = 4, .verbose = 0});
  plot::curves(history).save("loss.svg");
  std::cout << "loss.svg";
}

EXAMPLE("nn::InputSpec") {
  nn::InputSpec spec{.ndim = 2};
  std::cout << *spec.ndim;
}

EXAMPLE("nn::applications::application") {
  nn::Model model = nn::applications::application("MobileNetV3Small")
                        .make({.input_shape = {64, 64, 3}, .classes = 10});
  std::cout << model.count_params();
}

EXAMPLE("nn::metrics::BinaryCrossentropyOptions") {
  nn::metrics::BinaryCrossentropy metric({.from_logits = true});
  metric.update_state(K::constant({0., 1.}), K::constant({-1., 2.}));
  std::cout << metric.result();
}

EXAMPLE("nn::metrics::CategoricalCrossentropyOptions") {
  nn::metrics::CategoricalCrossentropy metric({.from_logits = true});
  metric.update_state(K::constant({{0., 1.}}), K::constant({{-1., 2.}}));
  std::cout << metric.result();
}

EXAMPLE("nn::metrics::SparseCategoricalCrossentropyOptions") {
  nn::metrics::SparseCategoricalCrossentropy metric({.from_logits = true});
  metric.update_state(K::constant({1.}), K::constant({{-1., 2.}}));
  std::cout << metric.result();
}

EXAMPLE("nn::metrics::CosineSimilarityOptions") {
  nn::metrics::CosineSimilarity metric({.axis = 1});
  metric.update_state(K::constant({{0., 1.}}), K::constant({{1., 1.}}));
  std::cout << metric.result();
}

EXAMPLE("nn::RescalingOptions") {
  nn::Rescaling layer(1 / 127.5, {.offset = -1});
  std::cout << layer(K::constant({0., 255.}));
}

EXAMPLE("nn::CenterCropOptions") {
  nn::CenterCrop layer(2, 2, {.name = "center"});
  std::cout << layer(K::ones({1, 4, 4, 3})).shape() << " " << layer.name();
}

EXAMPLE("nn::CountOptions") {
  nn::TruePositives metric({.thresholds = {0.3, 0.5}});
  metric.update_state(K::constant({0., 1.}), K::constant({0.4, 0.45}));
  std::cout << metric.result();
}

EXAMPLE("nn::PrecisionOptions nn::Thresholds") {
  nn::Precision metric({.thresholds = {0.3}, .top_k = {}});
  metric.update_state(K::constant({0., 1.}), K::constant({0.4, 0.8}));
  std::cout << metric.result();
}

EXAMPLE("nn::WeightOptions") {
  struct ShiftImpl : nn::LayerImpl {
    Variable shift;
    ShiftImpl() : nn::LayerImpl("Shift") {}
    void build(const std::vector<Shape>& shapes) override {
      shift = add_weight("shift", {shapes[0][-1]}, {.initializer = "ones"});
    }
    Tensor call(const Tensor& x) override { return x + shift; }
  };
  std::cout << nn::LayerOf<ShiftImpl>()(K::zeros({2, 3}));
}
