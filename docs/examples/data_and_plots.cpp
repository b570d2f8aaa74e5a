#include "examples.hpp"

EXAMPLE("data::Dataset data::BatchOptions data::ShuffleOptions") {
  auto batches =
      data::Dataset::range(10)
          .shuffle(10, {.seed = 1})
          .map([](const data::Element& e) { return data::Element{e[0] * 10}; })
          .batch(4);
  for (const data::Element& batch : batches) std::cout << batch[0] << " ";
}

EXAMPLE("data::MapOptions data::AUTOTUNE") {
  auto squares = data::Dataset::range(4).map(
      [](const data::Element& e) { return data::Element{e[0] * e[0]}; },
      {.num_parallel_calls = data::AUTOTUNE});
  for (const data::Element& e : squares) std::cout << e[0] << " ";
}

EXAMPLE("data::WindowOptions") {
  for (const data::Element& window :
       data::Dataset::range(5).window(3, {.shift = 1, .drop_remainder = true}))
    std::cout << window[0] << " ";
}

EXAMPLE("data::PaddedBatchOptions") {
  auto rows = data::Dataset::range(1, 4).map([](const data::Element& e) {
    return data::Element{K::ones({e[0].item<int>()})};
  });
  for (const data::Element& batch : rows.padded_batch(3)) std::cout << batch[0];
}

EXAMPLE("data::InterleaveOptions") {
  auto mixed = data::Dataset::range(2).interleave(
      [](const data::Element& e) {
        return data::Dataset::from_tensors({e[0]}).repeat(2);
      },
      {.cycle_length = 2});
  for (const data::Element& e : mixed) std::cout << e[0] << " ";
}

EXAMPLE("data::RandomOptions") {
  for (const data::Element& e : data::Dataset::random({.seed = 7}).take(1))
    std::cout << e[0].dtype();
}

EXAMPLE("data::Element") {
  data::Element element{K::ones({2}), K::zeros({1})};
  std::cout << element.size() << " " << element[0];
}

EXAMPLE("data::to_categorical") {
  std::cout << data::to_categorical(K::constant({0, 2, 1}), 3);
}

EXAMPLE("data::normalize") {
  std::cout << data::normalize(K::constant({{3., 4.}}));
}

EXAMPLE("data::pad_sequences data::PadSequencesOptions") {
  std::cout << data::pad_sequences({{1, 2}, {3}}, {.padding = "post"});
}

EXAMPLE(
    "data::timeseries_from_array data::timeseries_dataset_from_array "
    "data::TimeseriesOptions") {
  auto windows = data::timeseries_from_array(K::arange(6., {.dtype = "float32"}),
                                             {.sequence_length = 3});
  for (const data::Element& batch : windows) std::cout << batch[0];
}

EXAMPLE("data::TimeseriesGenerator data::TimeseriesGeneratorOptions") {
  Tensor x = K::arange(6., {.dtype = "float32"});
  for (const data::Element& batch : data::TimeseriesGenerator(x, x, 3))
    std::cout << batch[0] << " " << batch[1];
}

EXAMPLE("data::train_test_split data::TrainTestSplitOptions data::TrainTestSplit") {
  auto split =
      data::train_test_split({K::arange(10)}, {.test_size = 0.2, .seed = 1});
  std::cout << split.train[0].shape() << " " << split.test[0].shape();
}

EXAMPLE("data::Tokenizer data::TokenizerOptions data::tokenizer_from_json") {
  data::Tokenizer words({.num_words = 100, .oov_token = "<unk>"});
  words.fit({"the cat sat", "the dog"});
  std::cout << data::pad_sequences(words.texts_to_sequences({"the cat ran"}));
}

EXAMPLE("data::text_to_word_sequence data::WordOptions data::text_filters") {
  for (const std::string& word : data::text_to_word_sequence("The cat, the DOG!"))
    std::cout << word << " ";
}

EXAMPLE("data::load_npy data::save_npy") {
  data::save_npy("x.npy", K::constant({1., 2.}));
  std::cout << data::load_npy("x.npy");
}

EXAMPLE("data::load_npz data::save_npz") {
  data::save_npz("pair.npz", {{"x", K::ones({2})}, {"y", K::zeros({1})}});
  for (const auto& [name, array] : data::load_npz("pair.npz"))
    std::cout << name << " " << array << " ";
}

EXAMPLE(
    "data::save_image data::load_image data::SaveImageOptions data::ImageOptions") {
  data::save_image("dot.png", K::ones({4, 4, 3}));
  std::cout << data::load_image("dot.png").shape();
}

EXAMPLE("plot::lines plot::ChartOptions plot::Axis") {
  plot::lines({{"loss", {1., 0.5, 0.25}}},
              {.title = "Training", .x = {.label = "epoch"}})
      .save("loss.svg");
  std::cout << plot::lines({1, 4, 9});
}

EXAMPLE("plot::Series plot::SeriesList plot::Numbers plot::TextOptions") {
  std::cout << plot::lines(
      {{.name = "squares", .y = {1., 4., 9.}, .line = "dashed"}});
}

EXAMPLE("plot::scatter") {
  std::cout << plot::scatter(
      {{.name = "points", .y = {3., 1., 2.}, .x = {1., 2., 3.}}});
}

EXAMPLE("plot::bars") {
  std::cout << plot::bars({"cat", "dog"}, {{"share", {3., 5.}}});
}

EXAMPLE("plot::histogram plot::HistogramOptions") {
  std::cout << plot::histogram(K::random_normal({1000}));
}

EXAMPLE("plot::heat_map plot::HeatMapOptions") {
  plot::heat_map(K::random_normal({8, 8}),
                 {.title = "Weights", .colors = "viridis"})
      .save("weights.svg");
  std::cout << plot::heat_map(K::constant({{0., 1.}, {2., 3.}}));
}

EXAMPLE("plot::confusion_matrix plot::ConfusionMatrixOptions") {
  std::cout << plot::confusion_matrix(K::constant({0, 1, 1}),
                                      K::constant({0, 1, 0}));
}

EXAMPLE("plot::image_grid plot::ImageGridOptions") {
  plot::image_grid(K::random_uniform({8, 6, 6, 1}), {.columns = 4})
      .save("images.svg");
  std::cout << "images.svg";
}

EXAMPLE("plot::grid plot::GridOptions plot::Figure plot::PngOptions") {
  plot::Figure page =
      plot::grid({plot::lines({1, 4, 9}), plot::histogram(K::random_normal({100}))},
                 {.title = "A run", .columns = 2});
  page.save("run.png", {.dark = true});
  std::cout << "run.png";
}

EXAMPLE("plot::Annotation plot::Rule") {
  plot::lines({1, 4, 2},
              {.annotations = {{"minimum", 0, 1}}, .horizontal = {{2., "chance"}}})
      .save("marks.svg");
  std::cout << "marks.svg";
}

EXAMPLE("Tensor") {
  Tensor x = K::constant({{1., 2.}, {3., 4.}});
  std::cout << x.shape() << " " << x.dtype() << " " << x.item<float>(1, 0) << "\n"
            << x * 10 - x[0];
}

EXAMPLE("Variable") {
  Variable w = K::variable({1.f, 2.f}, {.name = "w"});
  Tensor loss = K::sum(w * w);
  K::update_sub(w, 0.1f * K::gradients(loss, {w})[0]);
  std::cout << w;
}

EXAMPLE("Shape") {
  Shape shape{2, 3};
  std::cout << shape << " " << shape[-1] << " " << (shape == Shape{2, 3});
}

EXAMPLE("DType dtype_of") {
  ktape::DType d = "float32";
  std::cout << d.name() << " " << (ktape::dtype_of<int>() == "int32");
}

EXAMPLE("Axes") {
  Tensor x = K::ones({2, 3, 4});
  std::cout << K::sum(x, {0, 2}) << " " << K::sum(x, None);
}

EXAMPLE("Slice Index Indices All NewAxis Ellipsis None") {
  Tensor x = K::reshape(K::arange(6), {2, 3});
  std::cout << x[{All, Slice(None, None, -1)}] << " "
            << x[{ktape::NewAxis, 1}].shape() << " " << x[{ktape::Ellipsis, 0}];
}

EXAMPLE("GradientTape GradientTapeOptions") {
  Variable w = K::variable({2.f});
  ktape::GradientTape tape;
  Tensor y = K::sum(w * w * w);
  std::cout << tape.gradient(y, w);
}

EXAMPLE("NoGrad EnableGrad") {
  Variable w = K::variable({2.f});
  ktape::NoGrad guard;
  std::cout << K::is_tensor(w * w) << " nothing is recorded";
}

EXAMPLE("gradcheck GradcheckOptions GradcheckReport") {
  std::cout << ktape::gradcheck(
                   [](const std::vector<Tensor>& in) { return K::sin(in[0]); },
                   {K::constant({0.5, 1.}, {.dtype = "float64"})})
                   .ok;
}

EXAMPLE("Error ValueError TypeError IOError") {
  try {
    K::reshape(K::ones({2, 3}), {4, 2});
  } catch (const ktape::ValueError& error) {
    std::cout << error.what();
  }
}

EXAMPLE("view") {
  Tensor x = K::constant({1., 2., 3.});
  std::cout << ktape::view<float>(x)(1);
}

EXAMPLE("memory_stats MemoryStats empty_cache") {
  Tensor x = K::zeros({1000, 1000});
  std::cout << (ktape::memory_stats().live_bytes > 0);
  ktape::empty_cache();
}

EXAMPLE("tape Tape") {
  Variable w = K::variable({2.f});
  Tensor y = K::sum(K::square(w));
  std::cout << ktape::tape().summary();
}

EXAMPLE("log::set_level log::enabled log::Level") {
  ktape::log::set_level(ktape::log::Level::Warn);
  std::cout << ktape::log::enabled(ktape::log::Level::Info);
}
