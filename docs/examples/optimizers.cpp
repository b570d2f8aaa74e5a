#include "examples.hpp"

EXAMPLE("nn::SGD nn::SGDOptions") {
  Variable w = K::variable({1.f, -2.f});
  nn::SGD optimizer({.learning_rate = 0.1});
  for (int step = 0; step < 3; ++step)
    optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
  std::cout << w;
}

EXAMPLE("nn::Adam nn::AdamOptions") {
  Variable w = K::variable({1.f, -2.f});
  nn::Adam optimizer({.learning_rate = 0.1});
  for (int step = 0; step < 3; ++step)
    optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
  std::cout << w;
}

EXAMPLE("nn::AdamW nn::AdamWOptions") {
  Variable w = K::variable({1.f, -2.f});
  nn::AdamW optimizer({.learning_rate = 0.1});
  for (int step = 0; step < 3; ++step)
    optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
  std::cout << w;
}

EXAMPLE("nn::Adamax nn::AdamaxOptions") {
  Variable w = K::variable({1.f, -2.f});
  nn::Adamax optimizer({.learning_rate = 0.1});
  for (int step = 0; step < 3; ++step)
    optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
  std::cout << w;
}

EXAMPLE("nn::Nadam nn::NadamOptions") {
  Variable w = K::variable({1.f, -2.f});
  nn::Nadam optimizer({.learning_rate = 0.1});
  for (int step = 0; step < 3; ++step)
    optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
  std::cout << w;
}

EXAMPLE("nn::Lamb nn::LambOptions") {
  Variable w = K::variable({1.f, -2.f});
  nn::Lamb optimizer({.learning_rate = 0.1});
  for (int step = 0; step < 3; ++step)
    optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
  std::cout << w;
}

EXAMPLE("nn::Adagrad nn::AdagradOptions") {
  Variable w = K::variable({1.f, -2.f});
  nn::Adagrad optimizer({.learning_rate = 0.1});
  for (int step = 0; step < 3; ++step)
    optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
  std::cout << w;
}

EXAMPLE("nn::Adadelta nn::AdadeltaOptions") {
  Variable w = K::variable({1.f, -2.f});
  nn::Adadelta optimizer({.learning_rate = 0.1});
  for (int step = 0; step < 3; ++step)
    optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
  std::cout << w;
}

EXAMPLE("nn::RMSprop nn::RMSpropOptions") {
  Variable w = K::variable({1.f, -2.f});
  nn::RMSprop optimizer({.learning_rate = 0.1});
  for (int step = 0; step < 3; ++step)
    optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
  std::cout << w;
}

EXAMPLE("nn::Adafactor nn::AdafactorOptions") {
  Variable w = K::variable({1.f, -2.f});
  nn::Adafactor optimizer({.learning_rate = 0.1});
  for (int step = 0; step < 3; ++step)
    optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
  std::cout << w;
}

EXAMPLE("nn::Ftrl nn::FtrlOptions") {
  Variable w = K::variable({1.f, -2.f});
  nn::Ftrl optimizer({.learning_rate = 0.1});
  for (int step = 0; step < 3; ++step)
    optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
  std::cout << w;
}

EXAMPLE("nn::Lion nn::LionOptions") {
  Variable w = K::variable({1.f, -2.f});
  nn::Lion optimizer({.learning_rate = 0.1});
  for (int step = 0; step < 3; ++step)
    optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
  std::cout << w;
}

EXAMPLE("nn::Optimizer nn::OptimizerOptions") {
  nn::Optimizer optimizer = "adam";
  Variable w = K::variable({1.f});
  optimizer.apply(K::gradients(K::sum(w * w), {w}), {w});
  std::cout << w;
}

EXAMPLE("nn::ExponentialDecay nn::ExponentialDecayOptions") {
  nn::ExponentialDecay schedule(
      {.initial_learning_rate = 0.1, .decay_steps = 10, .decay_rate = 0.5});
  for (int step : {0, 5, 10}) std::cout << schedule(step) << " ";
}

EXAMPLE("nn::InverseTimeDecay nn::InverseTimeDecayOptions") {
  nn::InverseTimeDecay schedule(
      {.initial_learning_rate = 0.1, .decay_steps = 10, .decay_rate = 0.5});
  for (int step : {0, 5, 10}) std::cout << schedule(step) << " ";
}

EXAMPLE("nn::CosineDecay nn::CosineDecayOptions") {
  nn::CosineDecay schedule({.initial_learning_rate = 0.1, .decay_steps = 10});
  for (int step : {0, 5, 10}) std::cout << schedule(step) << " ";
}

EXAMPLE("nn::CosineDecayRestarts nn::CosineDecayRestartsOptions") {
  nn::CosineDecayRestarts schedule(
      {.initial_learning_rate = 0.1, .first_decay_steps = 10});
  for (int step : {0, 5, 10}) std::cout << schedule(step) << " ";
}

EXAMPLE("nn::PolynomialDecay nn::PolynomialDecayOptions") {
  nn::PolynomialDecay schedule({.initial_learning_rate = 0.1, .decay_steps = 10});
  for (int step : {0, 5, 10}) std::cout << schedule(step) << " ";
}

EXAMPLE("nn::PiecewiseConstantDecay nn::PiecewiseConstantDecayOptions") {
  nn::PiecewiseConstantDecay schedule({.boundaries = {5}, .values = {0.1, 0.01}});
  for (int step : {0, 5, 10}) std::cout << schedule(step) << " ";
}

EXAMPLE("nn::Schedule nn::LearningRate") {
  nn::Adam optimizer(
      nn::CosineDecay({.initial_learning_rate = 0.1, .decay_steps = 10}));
  std::cout << optimizer.learning_rate();
}
