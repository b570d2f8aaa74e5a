#include "header_examples.hpp"

namespace {

[[maybe_unused]] void datasets(const Tensor& x, const Tensor& y, const Tensor& left, const Tensor& right,
                               const Tensor& same, const Tensor& titles, const Tensor& bodies,
                               const Tensor& priorities, const nn::Model& model, const Dataset& numbers,
                               const std::vector<std::string>& files) {
  namespace K = backend;
  data::Dataset train = data::Dataset::from_tensor_slices({x, y})
                            .shuffle(10000, {.seed = 1})
                            .batch(32)
                            .map([](const data::Element& e) {
                              return data::Element{e[0] / 255.f, e[1]};
                            })
                            .prefetch(2);
  for (const data::Element& batch : train) std::cout << batch.size();
  model.fit(train, {.epochs = 5});
  Dataset::from_tensor_slices({left, right}, same);
  Dataset::from_tensor_slices({{"title", titles}, {"body", bodies}}, {{"priority", priorities}});
  train.map([](const Tensor& image, const Tensor& label) { return std::pair(image / 255.f, label); });
  train.map([](data::Element e) {
    e["image"] = e["image"] / 255.f;
    return e;
  });
  const auto number = [](const std::string&) { return std::optional<data::Element>(); };
  auto lines = data::Dataset::range(files.size())
                   .interleave(
                       [=](const data::Element& i) {
                         return data::text_line_dataset(files[i[0].item<int>()], number);
                       },
                       {.cycle_length = 4, .num_parallel_calls = data::AUTOTUNE});
  Tensor sum = numbers.reduce(K::zeros({}), [](const data::Element& sum, const data::Element& e) {
    return data::Element{sum[0] + e[0]};
  })[0];
}

[[maybe_unused]] void files(const Tensor& x, const Tensor& y, const Tensor& series, const Tensor& image,
                            const std::vector<std::string>& texts, const nn::Model& model) {
  namespace K = backend;
  Tensor table = load_csv("digits.csv.gz");
  load_csv("wine.csv", {.header = true, .delimiter = ';'});
  Tensor images = data::load_idx("t10k-images-idx3-ubyte.gz");
  { auto train = data::image_dataset_from_directory("flowers", {.image_size = {96, 96}, .seed = 1}); }
  auto [train, validation] = data::image_datasets_from_directory("flowers", {.validation_split = 0.2});
  data::save_image("dream.png", image);
  data::save_image("half_bright.png", 127.5f * image, {.scale = false});
  {
    data::Tokenizer words({.num_words = 10000, .oov_token = "<unk>"});
    words.fit(texts);
    Tensor x = data::pad_sequences(words.texts_to_sequences(texts), {.maxlen = 100});
    data::text_line_dataset(
        "train.txt",
        [&](const std::string& line) -> std::optional<data::Element> {
          if (line.empty()) return std::nullopt;
          return data::Element{data::pad_sequences(words.texts_to_sequences({line}), {.maxlen = 20})};
        })
        .unbatch()
        .shuffle(10000)
        .batch(32);
  }
  data::to_categorical(K::constant({0, 2, 1}), 3);
  data::pad_sequences({{1, 2}, {3}}, {.padding = "post"});
  auto windows = data::timeseries_from_array(series, series[{{7}}], {.sequence_length = 7});
  auto split = data::train_test_split({x, y}, {.test_size = 0.2, .seed = 1});
  model.fit(split.train[0], split.train[1]);
  for (const auto& [name, array] : data::load_npz("weights.npz")) std::cout << name;
  data::save_npz("pair.npz", {{"x", x}, {"y", y}});
  for (const auto& [name, tensor] : nn::load_safetensors("model.safetensors")) std::cout << name;
  const auto head = nn::load_safetensors("model.safetensors.index.json", {"lm_head.weight"});
  for (const auto& [name, tensor] : data::load_torch("model.pt")) std::cout << name;
  for (const auto& tensor : nn::list_file("model.keras").tensors) std::cout << tensor.name << "\n";
  model.export_to("model.onnx", {.opset_version = 17, .doc_string = "digits"});
  const auto report = nn::load_torch_weights(model, "model.pt");
  {
    const Tensor& images = x;
    nn::Model model = nn::onnx::load("resnet50.onnx");
    Tensor y = model.predict(images);
  }
  {
    const Tensor& image = x;
    model.predict_on_batch(image);
    std::cout << nn::explain(model);
    nn::explain(model, {.svg = "plan.svg"});
  }
}

[[maybe_unused]] void plots(const nn::History& history, const Tensor& weights,
                            const std::vector<double>& loss, const std::vector<double>& val_loss,
                            const std::vector<double>& deviation, const Tensor& x) {
  plot::lines({{"loss", history["loss"]}, {"val_loss", history["val_loss"]}},
              {.title = "Digits", .x = {.label = "epoch"}, .y = {.log = true}})
      .save("loss.svg");
  std::cout << plot::histogram(weights);
  lines(loss), lines({1, 4, 9}), lines({{"train", loss}, {"validation", val_loss}});
  lines({{.name = "mean", .y = loss, .error = deviation},
         {.name = "best", .y = val_loss, .line = "dashed", .marker = "star", .color = 3, .alpha = 0.5}});
  lines({{.name = "quartiles", .x = loss, .low = deviation, .high = val_loss}});
  plot::histogram(weights).save("weights.png", {.scale = 1, .dark = true});
  lines(loss, {.annotations = {{"minimum", 7, 0.1}}, .horizontal = {{0.5, "chance"}}, .vertical = {{3}}});
  plot::heat_map(weights, {.title = "Weights", .colors = "viridis"}).save("weights.svg");
  plot::image_grid(x, {.columns = 8, .row_labels = {"digits", "rebuilt"}}).save("pairs.svg");
  plot::grid({lines(loss), plot::histogram(weights)}, {.title = "A run", .columns = 2}).save("run.svg");
}

}  // namespace
