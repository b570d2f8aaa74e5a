#include "../../ops/check.hpp"
#include "../policies.hpp"
#include "../saving/changes.hpp"
#include "conformance/table.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/core/loading.hpp>

/// The abilities that every layer must have. A layer is a row of its family in conformance/; the tests below
/// go through all rows, and one test names the registered layers without a row.
namespace K = ktape::backend;
using ktape::Variable;

namespace {

std::vector<Tensor> inputs_of(const Row& row, ktape::DType dtype, int seed = 1) {
  std::vector<Tensor> inputs;
  for (const Shape& shape : row.inputs)
    inputs.push_back(row.classes > 0
                         ? K::random_uniform(shape, {.maxval = row.classes, .dtype = "int32", .seed = seed})
                         : normal(shape, seed++, dtype));
  return inputs;
}

std::vector<Shape> with_unknown_batch(std::vector<Shape> shapes) {
  for (Shape& shape : shapes) shape[0] = None;
  return shapes;
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('/') + 1); }

}  // namespace

TEST_CASE("each layer has its weights and gives its shape, in its dtype") {
  for (const Row& row : table()) {
    CAPTURE(row.name);
    for (const char* dtype : {"float32", "float64"}) {
      const nn::Config config = with_dtype(row.make().get_config(), dtype);
      const nn::Layer layer = nn::Layer::from_value(nn::Config{{"class_name", row.name}, {"config", config}});
      const std::vector<Tensor> outputs = layer.apply(inputs_of(row, dtype));
      CHECK(outputs[0].shape() == row.output);
      CHECK(outputs[0].dtype() == dtype);
      std::vector<std::string> names;
      for (const Variable& weight : layer.weights()) {
        names.push_back(last_part(weight.name()));
        CHECK(weight.name().starts_with(layer.name() + '/'));
        CHECK((weight.dtype() == dtype || weight.dtype().is_integer()));
      }
      CHECK(names == row.weights);
    }
  }
}

TEST_CASE("each layer gives equal results symbolically and eagerly") {
  for (const Row& row : table()) {
    CAPTURE(row.name);
    const nn::Layer layer = row.make();
    const std::vector<Tensor> inputs = inputs_of(row, "float32");
    const std::vector<Tensor> outputs = layer.apply(inputs);
    CHECK(layer.compute_output_shapes(with_unknown_batch(row.inputs))[0] ==
          with_unknown_batch({row.output})[0]);

    std::vector<Tensor> in;
    for (const Tensor& x : inputs)
      in.push_back(nn::Input(Shape(x.shape().begin() + 1, x.ndim() - 1), {.dtype = x.dtype()}));
    const nn::Model model(in, layer.apply(in));
    CHECK(values(model.apply(inputs)[0]) == values(outputs[0]));
  }
}

TEST_CASE("each layer can be remade from its config") {
  for (const Row& row : table()) {
    CAPTURE(row.name);
    const nn::Layer layer = row.make();
    const std::vector<Tensor> inputs = inputs_of(row, "float32");
    const Tensor expected = layer.apply(inputs)[0];
    const nn::Value json = nn::from_json(nn::to_json(layer.to_value()));
    const nn::Layer again = nn::Layer::from_value(json);
    CHECK(again.name() == layer.name());
    CHECK(again.get_config() == layer.get_config());
    again.apply(inputs);
    again.set_weights(layer.get_weights());
    CHECK(values(again.apply(inputs)[0]) == values(expected));
  }
}

TEST_CASE("a changed config of a layer throws or works, and never crashes") {
  for (const Row& row : table()) {
    CAPTURE(row.name);
    std::vector<Tensor> in;
    for (const Shape& shape : row.inputs) in.push_back(nn::Input(Shape(shape.begin() + 1, shape.rank() - 1)));
    each_change(row.make().get_config(), [&](const nn::Value& config) {
      const nn::weight_limit_scope limit(100'000);
      try {
        nn::Layer::from_value(nn::Config{{"class_name", row.name}, {"config", config}}).apply(in);
      } catch (const ktape::Error&) {
        return;
      }
    });
  }
}

TEST_CASE("a few steps down the slope lower the loss of each layer with weights") {
  for (const Row& row : table()) {
    CAPTURE(row.name);
    K::set_random_seed(3);
    const nn::Layer layer = row.make();
    const std::vector<Tensor> inputs = inputs_of(row, "float32");
    const Tensor target = normal(row.output, 9, "float32");
    const auto loss = [&] { return K::mean(K::square(layer.apply(inputs)[0] - target)); };
    const double before = loss().item();
    const std::vector<Variable> weights = layer.trainable_weights();
    for (int step = 0; step < 20; ++step) {
      const std::vector<Tensor> slopes = ktape::gradients(loss(), weights);
      for (std::size_t i = 0; i < weights.size(); ++i) K::update_sub(weights[i], 0.05f * slopes[i]);
    }
    if (!weights.empty()) CHECK(loss().item() < before);
  }
}

TEST_CASE("each layer passes a mask on, or ends it") {
  for (const Row& row : table()) {
    CAPTURE(row.name);
    const nn::Layer layer = row.make();
    std::vector<Tensor> inputs = inputs_of(row, "float32");
    const Tensor mask = K::cast(K::ones({4, row.inputs[0][1]}), "bool");
    inputs[0] = nn::with_mask(inputs[0], mask);
    const Tensor y = layer.apply(inputs)[0];
    CHECK(nn::mask_of(y).defined() == (row.mask == Mask::Passes || row.name == "Concatenate"));
    CHECK(nn::mask_of(inputs[0]).get() == mask.get());
  }
}

TEST_CASE("each layer refuses bad inputs, with its name, and stays unbuilt") {
  for (const Row& row : table()) {
    if (row.bad_inputs.empty()) continue;
    CAPTURE(row.name);
    const nn::Layer layer = row.make();
    std::vector<Tensor> bad;
    for (const Shape& shape : row.bad_inputs) bad.push_back(K::ones(shape));
    CHECK_THROWS_WITH_AS(layer.apply(bad), doctest::Contains(layer.name().c_str()), ktape::ValueError);
    CHECK(!layer.built());
    CHECK(layer.weights().empty());
    CHECK(layer.apply(inputs_of(row, "float32"))[0].shape() == row.output);
  }
}

TEST_CASE("each layer of strings has a name and a config that remakes it, and refuses tensors") {
  for (const StringRow& row : string_rows()) {
    CAPTURE(row.name);
    const nn::Layer layer = row.make();
    CHECK(layer.class_name() == row.name);
    CHECK(layer.name().starts_with(nn::to_snake_case(row.name)));
    const Tensor expected = row.call(layer);
    CHECK(expected.shape() == row.output);
    const nn::Layer again = nn::Layer::from_value(nn::from_json(nn::to_json(layer.to_value())));
    CHECK(again.name() == layer.name());
    CHECK(again.get_config() == layer.get_config());
    CHECK(values(row.call(again)) == values(expected));
    const std::string rule = '[' + layer.name() + "] the layer takes strings";
    CHECK_THROWS_WITH_AS(layer(K::ones({2, 3})), doctest::Contains(rule.c_str()), ktape::TypeError);
    CHECK_THROWS_WITH_AS(layer.adapt(K::ones({2, 3})), doctest::Contains(rule.c_str()), ktape::TypeError);
  }
}

TEST_CASE("every registered layer has a row") {
  for (const std::string& name : nn::registered_names("layer")) {
    const bool model = name == "Functional" || name == "Sequential" || name == "InputLayer";
    const bool own =
        name == "Affine" || model;  // of other tests: of models, in nn/serialization/model_config_test.cpp
    const auto has = [&](const auto& rows) {
      return std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
    };
    const bool found = has(table()) || has(string_rows());
    CHECK_MESSAGE((own || found), name);
  }
}
