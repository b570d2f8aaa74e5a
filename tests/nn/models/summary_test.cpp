#include "../../ops/check.hpp"

#include <cctype>
#include <ktape/ktape.hpp>
#include <ktape/nn/core/text.hpp>
#include <ktape/nn/models/summary_table.hpp>
#include <map>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Tensor;

TEST_CASE("a summary is Keras's table") {
  const Tensor a = nn::Input({3}, {.name = "a"}), b = nn::Input({3}, {.name = "b"});
  const nn::Dense shared(2, {.name = "shared"});
  const nn::Model model({a, b}, nn::Add({.name = "sum"})({shared(a), shared(b)}), {.name = "pair"});
  std::vector<std::string> lines;
  model.summary({.print_fn = [&](const std::string& line) { lines.push_back(line); }});
  CHECK(lines[0] == "Model: \"pair\"");
  const auto holds = [&](const char* text) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return line.find(text) != std::string::npos; });
  };
  CHECK(holds("Connected to"));
  CHECK(holds("│ a (InputLayer)"));
  CHECK(holds("│ (None, 3)"));
  CHECK(holds("shared (Dense)"));
  CHECK(holds("│ a[0][0],"));
  CHECK(holds("│ shared[0][0],"));
  CHECK(holds("│ shared[1][0] "));
  CHECK(holds(" Total params: 8 (32.00 B)"));
  CHECK(holds(" Non-trainable params: 0 (0.00 B)"));

  const nn::Sequential unbuilt({nn::Dense(2000, {.name = "wide"})});
  lines.clear();
  unbuilt.summary({.print_fn = [&](const std::string& line) { lines.push_back(line); }});
  CHECK(holds("│ wide (Dense)"));
  CHECK(holds("0 (unbuilt)"));
  CHECK(holds("?"));
  CHECK(!holds("Connected to"));
  unbuilt.build({ktape::None, 999});
  lines.clear();
  unbuilt.summary({.print_fn = [&](const std::string& line) { lines.push_back(line); }});
  CHECK(holds("2,000,000 │"));
  CHECK(holds(" Total params: 2,000,000 (7.63 MB)"));
  CHECK(!holds("Optimizer params"));

  const nn::Sequential trained({nn::Dense(1)});
  trained.compile({.optimizer = nn::SGD({.momentum = 0.9}), .loss = "mse"});
  trained.train_on_batch(K::ones({2, 3}), K::ones({2, 1}));
  lines.clear();
  trained.summary({.print_fn = [&](const std::string& line) { lines.push_back(line); }});
  CHECK(holds(" Total params: 10 (44.00 B)"));
  CHECK(holds(" Trainable params: 4 (16.00 B)"));
  CHECK(holds(" Optimizer params: 6 (28.00 B)"));
}

TEST_CASE("a summary fits into a terminal, and loses no letter") {
  const Tensor image = nn::Input({224, 224, 3}, {.name = "a_picture_of_something"});
  const Tensor left =
      nn::Conv2D(64, 3, {.padding = "same", .name = "first_convolution_of_the_left_tower"})(image);
  const Tensor right = nn::SeparableConv2D(64, 3, {.padding = "same", .name = "right"})(image);
  const nn::Model model(image, nn::Concatenate({.name = "both_towers_together"})({left, right}),
                        {.name = "towers"});
  const auto lines_in = [&](std::optional<std::size_t> columns) {
    std::vector<std::string> lines;
    const nn::SummaryOptions options{.show_trainable = true};
    nn::print_summary(
        model, options, [&](const std::string& line) { lines.push_back(line); }, columns);
    return lines;
  };
  const auto letters = [](const std::vector<std::string>& lines) {
    std::map<char, int> counts;
    for (const std::string& line : lines)
      for (const char c : line)
        if (std::isalnum(static_cast<unsigned char>(c)) ||
            std::string_view("_()[],").find(c) != std::string_view::npos)
          ++counts[c];
    return counts;
  };
  const auto whole = letters(lines_in({}));
  for (const std::size_t columns : {50, 64, 80, 120, 200}) {
    CAPTURE(columns);
    const std::vector<std::string> lines = lines_in(columns);
    std::size_t widest = 0;
    for (const std::string& line : lines) widest = std::max(widest, nn::text_width(line));
    CHECK(widest <= columns);
    CHECK(letters(lines) == whole);
  }
  std::string text;
  for (const std::string& line : lines_in(64)) text += line + '\n';
  CHECK(text.find("(Conv2D)") != std::string::npos);
  CHECK(text.find(" Total params: ") != std::string::npos);
}

TEST_CASE("the summary of a user's class shows the outputs of its inner models") {
  struct PairImpl : nn::ModelImpl {
    nn::Sequential first = add_layer(nn::Sequential({nn::Input({4}), nn::Dense(3)}, {.name = "first"}));
    Tensor call(const Tensor& x) override { return first(x); }
  };
  std::string text;
  nn::ModelOf<PairImpl>().summary({.print_fn = [&](const std::string& line) { text += line + '\n'; }});
  CHECK(text.find("first (Sequential)") != std::string::npos);
  CHECK(text.find("(None, 3)") != std::string::npos);
}
