#include "examples.hpp"

EXAMPLE("nn::activations::celu nn::activations::AlphaOptions") {
  std::cout << nn::activations::celu(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::elu") {
  std::cout << nn::activations::elu(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::exponential") {
  std::cout << nn::activations::exponential(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::gelu nn::activations::GeluOptions") {
  std::cout << nn::activations::gelu(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::hard_shrink nn::activations::ShrinkOptions") {
  std::cout << nn::activations::hard_shrink(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::hard_sigmoid nn::activations::HardSigmoidOptions") {
  std::cout << nn::activations::hard_sigmoid(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::hard_silu") {
  std::cout << nn::activations::hard_silu(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::hard_tanh") {
  std::cout << nn::activations::hard_tanh(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::leaky_relu nn::activations::NegativeSlopeOptions") {
  std::cout << nn::activations::leaky_relu(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::linear") {
  std::cout << nn::activations::linear(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::log_sigmoid") {
  std::cout << nn::activations::log_sigmoid(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::mish") {
  std::cout << nn::activations::mish(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::relu nn::activations::ReluOptions") {
  std::cout << nn::activations::relu(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::relu6") {
  std::cout << nn::activations::relu6(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::selu") {
  std::cout << nn::activations::selu(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::sigmoid") {
  std::cout << nn::activations::sigmoid(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::silu") {
  std::cout << nn::activations::silu(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::soft_shrink") {
  std::cout << nn::activations::soft_shrink(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::softplus") {
  std::cout << nn::activations::softplus(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::softsign") {
  std::cout << nn::activations::softsign(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::sparse_plus") {
  std::cout << nn::activations::sparse_plus(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::sparse_sigmoid") {
  std::cout << nn::activations::sparse_sigmoid(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::squareplus nn::activations::SquareplusOptions") {
  std::cout << nn::activations::squareplus(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::tanh") {
  std::cout << nn::activations::tanh(K::constant({-2., 0., 1.}));
}

EXAMPLE("nn::activations::tanh_shrink") {
  std::cout << nn::activations::tanh_shrink(K::constant({-2., 0., 1.}));
}

EXAMPLE(
    "nn::activations::softmax nn::activations::log_softmax "
    "nn::activations::sparsemax "
    "nn::activations::AxisOptions") {
  Tensor x = K::constant({{1., 2., 3.}});
  std::cout << nn::activations::softmax(x) << "\n"
            << nn::activations::log_softmax(x) << "\n"
            << nn::activations::sparsemax(x);
}

EXAMPLE("nn::activations::glu") {
  std::cout << nn::activations::glu(K::constant({1., 2., 0., 100.}));
}

EXAMPLE("nn::activations::threshold nn::activations::ThresholdOptions") {
  std::cout << nn::activations::threshold(K::constant({-2., 0.5, 3.}),
                                          {.threshold = 1, .default_value = 0});
}

EXAMPLE("nn::activations::name_of") {
  std::cout << nn::activations::name_of(nn::any_function(nn::activations::relu));
}

EXAMPLE("nn::ActivationFunction") {
  nn::ActivationFunction f = "relu";
  std::cout << f(K::constant({-1., 2.}));
}

EXAMPLE("nn::GlorotUniform") {
  nn::GlorotUniform initializer({.seed = 7});
  std::cout << initializer({2, 2});
}

EXAMPLE("nn::GlorotNormal") {
  nn::GlorotNormal initializer({.seed = 7});
  std::cout << initializer({2, 2});
}

EXAMPLE("nn::HeUniform") {
  nn::HeUniform initializer({.seed = 7});
  std::cout << initializer({2, 2});
}

EXAMPLE("nn::HeNormal") {
  nn::HeNormal initializer({.seed = 7});
  std::cout << initializer({2, 2});
}

EXAMPLE("nn::LecunUniform") {
  nn::LecunUniform initializer({.seed = 7});
  std::cout << initializer({2, 2});
}

EXAMPLE("nn::LecunNormal nn::SeedOptions") {
  nn::LecunNormal initializer({.seed = 7});
  std::cout << initializer({2, 2});
}

EXAMPLE("nn::RandomNormal nn::RandomNormalOptions") {
  nn::RandomNormal initializer({.stddev = 0.1, .seed = 7});
  std::cout << initializer({2, 2});
}

EXAMPLE("nn::RandomUniform nn::RandomUniformOptions") {
  nn::RandomUniform initializer({.minval = 0, .maxval = 1, .seed = 7});
  std::cout << initializer({2, 2});
}

EXAMPLE("nn::TruncatedNormal") {
  nn::TruncatedNormal initializer({.seed = 7});
  std::cout << initializer({2, 2});
}

EXAMPLE("nn::VarianceScaling nn::VarianceScalingOptions") {
  nn::VarianceScaling initializer({.scale = 2, .mode = "fan_in", .seed = 7});
  std::cout << initializer({2, 2});
}

EXAMPLE("nn::Orthogonal nn::OrthogonalOptions") {
  nn::Orthogonal initializer({.seed = 7});
  std::cout << initializer({2, 2});
}

EXAMPLE("nn::Constant nn::ConstantOptions") {
  nn::Constant initializer({.value = 0.5});
  std::cout << initializer({2, 2});
}

EXAMPLE("nn::Zeros") {
  nn::Zeros initializer;
  std::cout << initializer({2, 2});
}

EXAMPLE("nn::Ones") {
  nn::Ones initializer;
  std::cout << initializer({2, 2});
}

EXAMPLE("nn::IdentityInitializer nn::IdentityInitializerOptions") {
  nn::IdentityInitializer initializer({.gain = 2});
  std::cout << initializer({2, 2});
}

EXAMPLE("nn::STFT nn::STFTOptions") {
  nn::STFT initializer;
  std::cout << initializer({8, 1, 5}).shape();
}

EXAMPLE("nn::Initializer") {
  nn::Initializer initializer = "ones";
  std::cout << initializer({2});
}

EXAMPLE("nn::L1 nn::L1Options") {
  nn::L1 penalty(0.1);
  std::cout << penalty(K::constant({{1., -2.}, {1., 2.}}));
}

EXAMPLE("nn::L2 nn::L2Options") {
  nn::L2 penalty(0.1);
  std::cout << penalty(K::constant({{1., -2.}, {1., 2.}}));
}

EXAMPLE("nn::L1L2 nn::L1L2Options") {
  nn::L1L2 penalty({.l1 = 0.1, .l2 = 0.1});
  std::cout << penalty(K::constant({{1., -2.}, {1., 2.}}));
}

EXAMPLE("nn::OrthogonalRegularizer nn::OrthogonalRegularizerOptions") {
  nn::OrthogonalRegularizer penalty({.factor = 0.1});
  std::cout << penalty(K::constant({{1., -2.}, {1., 2.}}));
}

EXAMPLE("nn::Regularizer") {
  nn::Regularizer penalty = "l2";
  std::cout << penalty(K::constant({{1., -2.}}));
}

EXAMPLE("nn::MaxNorm nn::MaxNormOptions") {
  nn::MaxNorm constraint({.max_value = 1, .axis = 1});
  std::cout << constraint(K::constant({{3., -4.}}));
}

EXAMPLE("nn::MinMaxNorm nn::MinMaxNormOptions") {
  nn::MinMaxNorm constraint({.min_value = 1, .max_value = 2, .axis = 1});
  std::cout << constraint(K::constant({{3., -4.}}));
}

EXAMPLE("nn::UnitNorm nn::UnitNormOptions") {
  nn::UnitNorm constraint({.axis = 1});
  std::cout << constraint(K::constant({{3., -4.}}));
}

EXAMPLE("nn::NonNeg") {
  nn::NonNeg constraint;
  std::cout << constraint(K::constant({{3., -4.}}));
}

EXAMPLE("nn::Constraint") {
  nn::Constraint constraint = "non_neg";
  std::cout << constraint(K::constant({-1., 2.}));
}
