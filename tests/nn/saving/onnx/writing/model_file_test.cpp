#include <ktape/nn/saving/onnx/messages.hpp>
#include <ktape/nn/saving/onnx/writing/model_file.hpp>

#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

namespace onnx = ktape::nn::onnx;
using ktape::None;

TEST_CASE("onnx: a model file is read again, with its second file or without") {
  const Files files;
  onnx::GraphWriter graph(19);
  const std::string x = graph.unique("x");
  const ktape::Tensor large = normal({40, 30}), small = normal({3});
  graph.nodes("Sum", {x, graph.constant(large, "large"), graph.constant(small, "small")},
              {{"note", std::string("n")}}, 1);
  for (const std::uint64_t most : {std::uint64_t{0}, std::uint64_t{1} << 30}) {
    CAPTURE(most);
    const std::string path = files.folder() + "/m" + std::to_string(most) + ".onnx";
    onnx::write_model("test", path, graph,
                      {.name = "net",
                       .doc_string = "text",
                       .metadata = {{"k", "v"}},
                       .inputs = {{x, {None, 30}, "float64", {"batch", ""}}},
                       .outputs = {{"Sum", {None, 30}, "float64"}},
                       .most_inside = most});
    CHECK(std::filesystem::exists(path + ".data") == (most == 0));
    const onnx::ModelProto model = onnx::read_model("test", path);
    CHECK(model.opsets.at("") == 19);
    CHECK(model.graph.name == "net");
    CHECK(model.graph.inputs == std::vector<std::string>{"x"});
    CHECK(model.graph.input_types == std::vector<std::int64_t>{11});
    REQUIRE(model.graph.initializers.size() == 2);
    CHECK(values(model.graph.initializers[0].second) == values(large));
    CHECK(values(model.graph.initializers[1].second) == values(small));
    REQUIRE(model.graph.nodes.size() == 1);
    CHECK(model.graph.nodes[0].attributes.at("note").text == "n");
    CHECK(exported::content_of(path).find("batch") != std::string::npos);
  }
}
