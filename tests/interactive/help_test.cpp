#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "prompt.hpp"

namespace {

bool holds(const std::string& said, const std::string& text) { return said.find(text) != std::string::npos; }

}  // namespace

TEST_CASE("a class is described by its own text, its options and its family") {
  Prompt prompt;
  const std::string said = prompt.line("?nn::Conv2D");
  CAPTURE(said);
  for (const char* text :
       {"convolutional/convolution.hpp:", "class Conv2D : public KernelLayer {", "std::int64_t filters,",
        "nn::Conv2D(filters, kernel_size, {...}) with options in this order (ConvOptions):",
        "  .padding = \"valid\" ", "\"valid\" or \"same\"", "  .kernel_initializer = \"glorot_uniform\" ",
        "makes the first values of the kernel", ".use_bias = true", "whether a bias is added",
        ".trainable = true", "whether training changes the weights",
        "This family of classes:", "nn::Conv2D(16, 3, {.strides = 2"})
    CHECK(holds(said, text));
  CHECK(!holds(said, "class Conv1D"));
  CHECK(!holds(said, ".by_name"));
}

TEST_CASE("every layer, loss, optimizer, metric and callback that is asked for has its own text") {
  Prompt prompt;
  for (const char* name : {"nn::Dense",
                           "nn::Conv1D",
                           "nn::Conv2D",
                           "nn::Conv3D",
                           "nn::Conv2DTranspose",
                           "nn::DepthwiseConv2D",
                           "nn::MaxPooling2D",
                           "nn::LSTM",
                           "nn::Dropout",
                           "nn::BatchNormalization",
                           "nn::Embedding",
                           "nn::Maximum",
                           "nn::ConvLSTM2D",
                           "nn::MeanSquaredError",
                           "nn::BinaryCrossentropy",
                           "nn::SparseCategoricalCrossentropy",
                           "nn::Hinge",
                           "nn::Huber",
                           "nn::Dice",
                           "nn::Adam",
                           "nn::SGD",
                           "nn::RMSprop",
                           "nn::EarlyStopping",
                           "nn::ModelCheckpoint",
                           "nn::CSVLogger",
                           "nn::Ones"}) {
    std::istringstream lines(prompt.line(std::string("?") + name));
    CAPTURE(name);
    std::string place, comment, line;
    std::getline(lines, place);
    std::getline(lines, comment);
    CHECK(holds(place, ".hpp:"));
    CHECK(begins(comment, "/// "));
    // The comment belongs to the class alone: the declaration follows at once.
    while (std::getline(lines, line) && line.starts_with("///")) {
    }
    CHECK(begins(line, std::string("class ") + (name + 4) + ' '));
  }
}

TEST_CASE("functions, methods and the session's names are described") {
  const std::string home = Prompt::fresh_home();
  Prompt prompt(home);
  CHECK(holds(prompt.line("?K::dot"), "Tensor dot(const Tensor& x, const Tensor& y);"));
  prompt.line(
      "nn::Sequential m({nn::Dense(3)}); auto held = make_unique<nn::Sequential>(m); int number = 3;");
  for (const char* name : {"?m.fit", "?held->fit", "?nn::Sequential::fit", "?nn::Model::fit"}) {
    const std::string said = prompt.line(name);
    CAPTURE(name);
    CHECK(holds(said, "History fit("));
    CHECK(holds(said, "(FitOptions):"));
    CHECK(holds(said, "  .epochs = 1"));
  }
  CHECK(holds(prompt.line("?m.layers().back"), "back()"));
  CHECK(holds(prompt.line("?m.no_such_method"),
              "ValueError: [?] the name must be that of a public function, type or variable"));
  CHECK(holds(prompt.line("?number.fit"),
              "ValueError: [?] the name must be that of a public function, type or variable"));
  CHECK(holds(prompt.line("?number"), "variable number  int"));
  std::ofstream(home + "/twice.cpp")
      << "/// Doubles a number.\n"
         "double twice(double x, int times = 1) {\n  return 2 * x * times;\n}\n";
  prompt.line("%load " + home + "/twice.cpp");
  const std::string said = prompt.line("?twice");
  CAPTURE(said);
  CHECK(holds(said, "function twice  double (double, int)"));
  CHECK(holds(said, "double twice(double x, int times = 1) {"));
  CHECK(holds(said, "/// Doubles a number."));
}

TEST_CASE("tables of options fit into the terminal") {
  for (const unsigned short columns : {50, 80, 120, 200}) {
    Terminal terminal({KTAPE_PROMPT}, Prompt::fresh_home(), "dumb", columns);
    terminal.until(">>> ");
    std::istringstream lines(terminal.line("?nn::Adam"));
    bool table = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.empty()) table = false;
      CAPTURE(line);
      if (table) CHECK(line.size() <= columns);
      table = table || line.find(") with options in this order") != std::string::npos;
    }
  }
}

TEST_CASE("summaries and lines of progress fit into terminals of 50 to 200 columns") {
  for (const unsigned short columns : {50, 80, 120, 200}) {
    Terminal terminal({KTAPE_PROMPT}, Prompt::fresh_home(), "xterm", columns);
    terminal.until(">>> ");
    terminal.type(
        "nn::Sequential m({nn::Input({28, 28, 1}), nn::Conv2D(32, 3, {.name = "
        "\"a_convolution_with_a_name\"}), "
        "nn::Flatten(), nn::Dense(10, {.activation = \"softmax\"})});\n");
    terminal.until(">>> ");
    terminal.type(
        "m.compile({.loss = \"sparse_categorical_crossentropy\", .metrics = "
        "{\"sparse_categorical_accuracy\"}}); "
        "Tensor x = K::ones({512, 28, 28, 1}), y = K::zeros({512});\n");
    terminal.until(">>> ");
    terminal.type(
        "cout << \"be\" << \"gin\" << endl; m.summary(); "
        "auto h = m.fit(x, y, {.epochs = 2, .validation_split = 0.5}); cout << \"e\" << \"nd\" << endl;\n");
    terminal.raw_until("begin\r\n", 60);
    const std::string said = terminal.raw_until("end\r\n", 120);
    std::size_t widest = 0, column = 0;
    for (const char c : said) {
      column = c == '\r' || c == '\n' ? 0 : column + ((static_cast<unsigned char>(c) & 0xc0) != 0x80);
      widest = std::max(widest, column);
    }
    CAPTURE(said);
    CHECK(widest <= columns);
    for (const char* text :
         {"Output Shape", "Total params: ", "- val_sparse_categorical_accuracy: ", "- loss: "})
      CHECK(holds(said, text));
  }
}

TEST_CASE("K::help returns the text that a question shows") {
  Prompt prompt;
  // The prompt breaks lines at the width of the terminal, and continues comments with slashes.
  const auto bare = [](const std::string& text) {
    std::string out;
    for (const char c : text)
      if (!std::isspace(static_cast<unsigned char>(c)) && c != '/') out += c;
    return out;
  };
  for (const char* name :
       {"K::conv2d", "K::relu", "K::sum", "nn::Conv2D", "nn::Dense", "nn::LSTM", "nn::Adam",
        "nn::EarlyStopping", "plot::heat_map", "ops::svd", "K::gradients", "data::Dataset"}) {
    CAPTURE(name);
    const std::string shown = bare(prompt.line(std::string("?") + name));
    CHECK(!shown.empty());
    CHECK(shown == bare(prompt.line(std::string("std::cout << K::help(\"") + name + "\");")));
    CHECK(shown == bare(prompt.line(std::string("K::help(\"") + name + "\")")));
  }
}
