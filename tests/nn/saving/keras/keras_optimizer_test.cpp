#include "../../../hdf5.hpp"
#include "../../../ops/check.hpp"
#include "../../data/files.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/saving/keras/keras_optimizer.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace saving = ktape::nn::saving;
using ktape::Shape, ktape::Tensor;

// The order in which Keras lists the variables of its optimizers.
namespace {

using Shapes = std::vector<Shape>;
const Shape w{2, 3}, b{3}, one{};  // a kernel, a bias, a number

nn::Sequential trained(const nn::Optimizer& optimizer) {
  const nn::Sequential model({nn::Input({2}), nn::Dense(3)});
  model.compile({.optimizer = optimizer, .loss = "mse"});
  for (int step = 0; step < 3; ++step)
    model.train_on_batch(normal({4, 2}, 1, "float32"), normal({4, 3}, 2, "float32"));
  return model;
}

/// Returns the shapes of the state after the iterations and, where there is one, after the learning rate.
Shapes shapes_of(const std::vector<ktape::Variable>& variables, std::size_t head) {
  Shapes shapes;
  for (std::size_t i = head; i < variables.size(); ++i) shapes.push_back(variables[i].shape());
  return shapes;
}

const std::vector<std::pair<nn::Value, Shapes>>& cases() {
  static const auto config = [](const char* name, const nn::Config& options) {
    return nn::Value(nn::Config{{"class_name", name}, {"config", options}});
  };
  static const std::vector<std::pair<nn::Value, Shapes>> all = {
      {config("SGD", {{"momentum", 0.9}}), {w, b}},
      {config("Adam", {}), {w, w, b, b}},
      {config("Adam", {{"amsgrad", true}}), {w, w, b, b, w, b}},
      {config("AdamW", {{"amsgrad", true}}), {w, w, b, b, w, b}},
      {config("Adamax", {}), {w, w, b, b}},
      {config("Nadam", {}), {w, w, b, b, one}},
      {config("RMSprop", {}), {w, b}},
      {config("RMSprop", {{"momentum", 0.9}}), {w, b, w, b}},
      {config("RMSprop", {{"momentum", 0.9}, {"centered", true}}), {w, b, w, b, w, b}},
      {config("Adadelta", {}), {w, w, b, b}},
      {config("Adagrad", {}), {w, b}},
      {config("Ftrl", {}), {w, w, b, b}},
      {config("Lion", {}), {w, b}},
      {config("Adafactor", {}), {Shape{2}, Shape{3}, w, one, one, b}}};
  return all;
}

}  // namespace

TEST_CASE("the state of an optimizer stands in Keras's order") {
  for (const auto& [given_config, shapes] : cases()) {
    const auto& config = given_config;
    CAPTURE(nn::to_json(config));
    const nn::Sequential model = trained(nn::Optimizer(config));
    CHECK(shapes_of(saving::optimizer_variables(model), 2) == shapes);
    Shapes without_numbers;
    for (const Shape& shape : shapes)
      if (shape != one) without_numbers.push_back(shape);
    CHECK(shapes_of(saving::keras2_optimizer_variables(model), 1) == without_numbers);
  }
}

TEST_CASE("the state of an optimizer is restored from Keras's files, and the training resumes" * needs_hdf5) {
  const Files files;
  const Tensor x = normal({4, 2}, 1, "float32"), y = normal({4, 3}, 2, "float32");
  for (const auto& [given_config, shapes] : cases())
    for (const std::string name : {"model.keras", "model.h5"}) {
      const auto& config = given_config;
      CAPTURE(nn::to_json(config));
      CAPTURE(name);
      if (name == "model.h5" && shapes.back() == one) continue;  // Keras 2's Nadam does not keep its product
      const nn::Sequential model = trained(nn::Optimizer(config));
      model.save(files.folder() + '/' + name);
      const nn::Model again = nn::load_model(files.folder() + '/' + name);
      model.train_on_batch(x, y);
      again.train_on_batch(x, y);
      for (std::size_t i = 0; i < 2; ++i)
        CHECK(values(again.get_weights()[i]) == values(model.get_weights()[i]));
    }
}

TEST_CASE("the product of Keras 3.0's Nadam is the first variable") {
  const nn::Sequential model = trained(nn::Nadam()), other = trained(nn::Nadam());
  saving::NamedTensors state;
  std::vector<ktape::Variable> variables = saving::optimizer_variables(model);
  std::rotate(variables.begin() + 2, variables.end() - 1, variables.end());
  for (std::size_t i = 0; i < variables.size(); ++i)
    state.emplace_back(std::to_string(i), variables[i].value() * 2);
  saving::restore_optimizer(other, "old.keras", state);
  const std::vector<ktape::Variable> restored = saving::optimizer_variables(other);
  CHECK(restored.back().value().item() == 2 * variables[2].value().item());
  CHECK(values(restored[2]) == values(variables[3].value() * 2));
}
