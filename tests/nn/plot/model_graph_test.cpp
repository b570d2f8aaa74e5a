#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"

namespace nn = ktape::nn;
using ktape::Tensor, ktape::ValueError;

namespace {

nn::Model network() {
  const Tensor in = nn::Input({4}, {.name = "in"});
  const nn::Sequential head({nn::Dense(3, {.activation = "relu", .name = "inner"})}, {.name = "head"});
  return nn::Model(in, nn::Add({.name = "sum"})({head(in), nn::Dense(3, {.name = "direct"})(in)}));
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

}  // namespace

TEST_CASE("a drawing has a box for each layer and an arrow for each connection") {
  const std::string svg = nn::model_to_svg(network(), {.show_layer_names = true});
  for (const char* name : {">in<", ">head<", ">direct<", ">sum<", ">Add<"}) CHECK(contains(svg, name));
  CHECK(count(svg, "marker-end") == 4);
  CHECK_FALSE(contains(svg, "inner"));
  CHECK_FALSE(contains(svg, "None"));
}

TEST_CASE("a drawing has the classes of layers, and their names if they are asked for") {
  const std::string svg = nn::model_to_svg(network());
  CHECK(contains(svg, ">Add<"));
  CHECK(contains(svg, ">Dense<"));
  for (const char* name : {">head<", ">direct<", ">sum<"}) CHECK_FALSE(contains(svg, name));
}

TEST_CASE("a drawing shows the parts that its options ask for") {
  const std::string svg = nn::model_to_svg(network(), {.show_shapes = true,
                                                       .show_dtype = true,
                                                       .show_layer_names = true,
                                                       .expand_nested = true,
                                                       .show_layer_activations = true,
                                                       .show_trainable = true});
  for (const char* text : {"(None, 4) → (None, 3)", "(None, 3), (None, 3) → (None, 3)", "float32", ">inner<",
                           "Dense · relu", "trainable"})
    CHECK(contains(svg, text));
  CHECK(count(svg, "marker-end") == 5);
}

TEST_CASE("the text for Graphviz holds the graph, with an inner model as a cluster") {
  const std::string dot =
      nn::model_to_dot(network(), {.show_layer_names = true, .rankdir = "LR", .expand_nested = true});
  CHECK(dot.starts_with("digraph \"model"));
  for (const char* text : {"rankdir=LR", "n0 [label=\"in\\nInputLayer\"]", "subgraph cluster_1",
                           "n1_1 [label=\"inner\\nDense\"]", "n0 -> n1_0 [lhead=cluster_1]",
                           "n1_1 -> n3 [ltail=cluster_1]", "n2 -> n3;"})
    CHECK_MESSAGE(contains(dot, text), text, " in ", dot);
}

TEST_CASE("characters that SVG or Graphviz would read are escaped") {
  const Tensor in = nn::Input({4}, {.name = "a<b&\"c\""});
  const nn::Model model(in, nn::Dense(1)(in));
  CHECK(contains(nn::model_to_svg(model, {.show_layer_names = true}), "a&lt;b&amp;&quot;c&quot;"));
  CHECK(contains(nn::model_to_dot(model, {.show_layer_names = true}), "a<b&\\\"c\\\""));
}

TEST_CASE("data that cannot be drawn are an error") {
  CHECK_THROWS_WITH_AS(nn::plot_model(network(), "model.png"),
                       "[plot_model] to_file must end in .svg, .dot or .gv: received to_file=model.png",
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::model_to_svg(network(), {.rankdir = "BT"}),
                       "[plot_model] rankdir must be TB or LR: received rankdir=BT", ValueError);
  CHECK_THROWS_WITH_AS(nn::plot_model(network(), "/no/such/folder/model.svg"),
                       "[plot_model] the file must be writable: received /no/such/folder/model.svg (No such "
                       "file or directory)",
                       ktape::IOError);
}
