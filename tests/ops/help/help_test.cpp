#include <doctest/doctest.h>
#include <ktape/ktape.hpp>
#include <ktape/ops/help/declared_text.hpp>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "../catalogue.hpp"

namespace {

using namespace ktape;
namespace K = ktape::backend;

const Catalogue catalogue([]() -> Catalogue::Rows { return {{"help", no_gradient}}; });

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("help returns the comment, the declaration and the options of a function") {
  const std::string text = K::help("conv2d");
  CAPTURE(text);
  CHECK(text.starts_with("ktape/ops/nn/convolution.hpp:"));
  for (const char* part :
       {"\n/// Computes a convolution with one, two or three spatial axes",
        "\nTensor conv2d(const Tensor& x, const Tensor& kernel, const ConvOptions& options = {});\n",
        "\nK::conv2d(x, kernel, {...}) with options in this order (ConvOptions):\n", "\n  .strides = 1 ",
        "\n  .padding = \"valid\" "})
    CHECK(holds(text, part));
  CHECK(K::help("K::conv2d") == text);
  CHECK(K::help("ktape::backend::conv2d") == text);
}

TEST_CASE("help finds names in the namespaces that programs use, K first") {
  CHECK(holds(K::help("relu"), "ktape/ops/nn/activations.hpp:"));
  CHECK(holds(K::help("Dense"), "class Dense : public "));
  CHECK(K::help("Dense") == K::help("nn::Dense"));
  CHECK(holds(K::help("einsum"), "ktape/ops/linalg/linalg.hpp:"));
  CHECK(holds(K::help("svd"), "ktape/ops/keras/linalg/linalg.hpp:"));
  CHECK(holds(K::help("Dataset"), "class Dataset"));
  CHECK(holds(K::help("Tensor"), "class Tensor"));
  CHECK(holds(K::help("lines"), "Figure lines("));
  CHECK(holds(K::help("nn::losses::huber"), "Tensor huber("));
  CHECK(holds(K::help("nn::metrics::huber"), "ktape/nn/losses/functions.hpp:"));  // a using-declaration
  CHECK(holds(K::help("nn::applications::ResNet50"), "Model ResNet50("));
}

TEST_CASE("help describes classes with their family, and options that another struct explains") {
  const std::string text = K::help("nn::Conv2D");
  CAPTURE(text);
  for (const char* part : {"class Conv2D : public KernelLayer {", "nn::Conv2D(filters, kernel_size, {...})",
                           "makes the first values of the kernel", "whether training changes the weights",
                           "\nThis family of classes:\n/// Convolution layers"})
    CHECK(holds(text, part));
  CHECK(!holds(text, "class Conv1D"));
}

TEST_CASE("each option of a class has a meaning") {
  const std::regex declaration("class (\\w+) : public .*"), bare("  \\.\\w+( = \\S+)?");
  std::size_t classes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("nn")) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".hpp") || holds(path, "/internal/")) continue;
    std::ifstream header(path);
    for (std::string line; std::getline(header, line);) {
      std::smatch match;
      if (!std::regex_match(line, match, declaration)) continue;
      std::string text;
      try {
        text = K::help("nn::" + match[1].str());
      } catch (const ValueError&) {  // a class that programs do not see
        continue;
      }
      ++classes;
      std::istringstream lines(text);
      for (std::string option; std::getline(lines, option);) {
        CAPTURE(match[1]);
        CHECK_MESSAGE(!std::regex_match(option, bare), option);
      }
    }
  }
  CHECK(classes > 200);
}

TEST_CASE("every overload stands in the text") {
  const std::string text = K::help("gradients");
  CHECK(holds(text, "const TensorList& variables"));
  CHECK(holds(text, "const std::vector<V>& variables"));
}

TEST_CASE("help refuses an unknown name") {
  for (const char* name : {"nosuch", "", "K::", "nn::conv2d", "(", "\n"})
    CHECK_THROWS_WITH_AS(
        K::help(name),
        ("[help] a name must be one of the headers: received name=" + std::string(name)).c_str(), ValueError);
}

TEST_CASE("the parts of a declaration are found in its text") {
  using namespace help_text;
  CHECK(without_comment("int x = 1;  ///< a comment") == "int x = 1;");
  CHECK(without_comment("std::string s = \"//\";") == "std::string s = \"//\";");
  CHECK(declared_name("Tensor sum(const Tensor& x);") == "sum");
  CHECK(declared_name("template <class T>\nstd::vector<T> eval(const Tensor& x) {") == "eval");
  CHECK(declared_name("class Dense : public Layer {") == "Dense");
  CHECK(declared_name("using Axis = std::variant<int, float>;") == "Axis");
  CHECK(declared_name("inline constexpr NoneType None{};") == "None");
  CHECK(declared_name("Tensor operator+(const Tensor& x);").empty());
  CHECK(split_outside("a, f(b, c), {d, e}, \"g, h\", std::map<int, int>()", ',').size() == 5);
  const auto given = parameters("f(const std::map<int, int>& m, double x = g(1, 2), Options o = {})", 1);
  REQUIRE(given.size() == 3);
  CHECK((given[0].type == "const std::map<int, int>&" && given[0].name == "m"));
  CHECK((given[1].name == "x" && given[2].type == "Options"));
  const std::vector<std::string> lines = {"struct A {",
                                          "  int a = 1, b = 2;  ///< two",
                                          "  std::function<void(int)> f = {};",
                                          "  /// A comment; with a semicolon.",
                                          "  Shape s() const;",
                                          "};"};
  const auto fields = fields_of(lines, 0, 5);
  REQUIRE(fields.size() == 3);
  CHECK(
      (fields[0].first == "a" && fields[1].first == "b" && fields[2].first == "f" && fields[2].second == 2));
}
