#include "examples.hpp"

EXAMPLE(
    "nn::BinaryCrossentropy nn::losses::binary_crossentropy "
    "nn::BinaryCrossentropyOptions "
    "nn::losses::BinaryCrossentropyFunctionOptions") {
  Tensor y = K::constant({{0., 1.}, {1., 0.}}),
         p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::BinaryCrossentropy()(y, p) << " "
            << nn::losses::binary_crossentropy(y, p);
}

EXAMPLE(
    "nn::BinaryFocalCrossentropy nn::losses::binary_focal_crossentropy "
    "nn::BinaryFocalCrossentropyOptions "
    "nn::losses::BinaryFocalCrossentropyFunctionOptions") {
  Tensor y = K::constant({{0., 1.}, {1., 0.}}),
         p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::BinaryFocalCrossentropy()(y, p) << " "
            << nn::losses::binary_focal_crossentropy(y, p);
}

EXAMPLE(
    "nn::CategoricalCrossentropy nn::losses::categorical_crossentropy "
    "nn::CategoricalCrossentropyOptions "
    "nn::losses::CategoricalCrossentropyFunctionOptions") {
  Tensor y = K::constant({{0., 1.}, {1., 0.}}),
         p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::CategoricalCrossentropy()(y, p) << " "
            << nn::losses::categorical_crossentropy(y, p);
}

EXAMPLE(
    "nn::CategoricalFocalCrossentropy nn::losses::categorical_focal_crossentropy "
    "nn::CategoricalFocalCrossentropyOptions "
    "nn::losses::CategoricalFocalCrossentropyFunctionOptions") {
  Tensor y = K::constant({{0., 1.}, {1., 0.}}),
         p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::CategoricalFocalCrossentropy()(y, p) << " "
            << nn::losses::categorical_focal_crossentropy(y, p);
}

EXAMPLE(
    "nn::CategoricalGeneralizedCrossEntropy "
    "nn::losses::categorical_generalized_cross_entropy "
    "nn::CategoricalGeneralizedCrossEntropyOptions") {
  Tensor y = K::constant({1, 0}), p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::CategoricalGeneralizedCrossEntropy()(y, p) << " "
            << nn::losses::categorical_generalized_cross_entropy(y, p);
}

EXAMPLE("nn::CategoricalHinge nn::losses::categorical_hinge") {
  Tensor y = K::constant({{0., 1.}, {1., 0.}}),
         p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::CategoricalHinge()(y, p) << " "
            << nn::losses::categorical_hinge(y, p);
}

EXAMPLE(
    "nn::CosineSimilarity nn::losses::cosine_similarity "
    "nn::CosineSimilarityOptions "
    "nn::losses::CosineSimilarityFunctionOptions") {
  Tensor y = K::constant({{0., 1.}, {1., 0.}}),
         p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::CosineSimilarity()(y, p) << " "
            << nn::losses::cosine_similarity(y, p);
}

EXAMPLE("nn::Hinge nn::losses::hinge") {
  Tensor y = K::constant({{0., 1.}, {1., 0.}}),
         p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::Hinge()(y, p) << " " << nn::losses::hinge(y, p);
}

EXAMPLE("nn::SquaredHinge nn::losses::squared_hinge") {
  Tensor y = K::constant({{0., 1.}, {1., 0.}}),
         p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::SquaredHinge()(y, p) << " " << nn::losses::squared_hinge(y, p);
}

EXAMPLE(
    "nn::Huber nn::losses::huber nn::HuberOptions "
    "nn::losses::HuberFunctionOptions") {
  Tensor y = K::constant({{0., 1.}, {1., 0.}}),
         p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::Huber()(y, p) << " " << nn::losses::huber(y, p);
}

EXAMPLE("nn::KLDivergence nn::losses::kl_divergence") {
  Tensor y = K::constant({{0., 1.}, {1., 0.}}),
         p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::KLDivergence()(y, p) << " " << nn::losses::kl_divergence(y, p);
}

EXAMPLE("nn::LogCosh nn::losses::log_cosh") {
  Tensor y = K::constant({{0., 1.}, {1., 0.}}),
         p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::LogCosh()(y, p) << " " << nn::losses::log_cosh(y, p);
}

EXAMPLE("nn::MeanAbsoluteError nn::losses::mean_absolute_error") {
  Tensor y = K::constant({{0., 1.}, {1., 0.}}),
         p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::MeanAbsoluteError()(y, p) << " "
            << nn::losses::mean_absolute_error(y, p);
}

EXAMPLE(
    "nn::MeanAbsolutePercentageError nn::losses::mean_absolute_percentage_error") {
  Tensor y = K::constant({{0., 1.}, {1., 0.}}),
         p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::MeanAbsolutePercentageError()(y, p) << " "
            << nn::losses::mean_absolute_percentage_error(y, p);
}

EXAMPLE("nn::MeanSquaredError nn::losses::mean_squared_error") {
  Tensor y = K::constant({{0., 1.}, {1., 0.}}),
         p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::MeanSquaredError()(y, p) << " "
            << nn::losses::mean_squared_error(y, p);
}

EXAMPLE(
    "nn::MeanSquaredLogarithmicError nn::losses::mean_squared_logarithmic_error") {
  Tensor y = K::constant({{0., 1.}, {1., 0.}}),
         p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::MeanSquaredLogarithmicError()(y, p) << " "
            << nn::losses::mean_squared_logarithmic_error(y, p);
}

EXAMPLE("nn::Poisson nn::losses::poisson") {
  Tensor y = K::constant({{0., 1.}, {1., 0.}}),
         p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::Poisson()(y, p) << " " << nn::losses::poisson(y, p);
}

EXAMPLE("nn::Dice nn::losses::dice nn::DiceOptions") {
  Tensor y = K::constant({{0., 1.}, {1., 0.}}),
         p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::Dice()(y, p) << " " << nn::losses::dice(y, p);
}

EXAMPLE(
    "nn::Tversky nn::losses::tversky nn::TverskyOptions "
    "nn::losses::TverskyFunctionOptions") {
  Tensor y = K::constant({{0., 1.}, {1., 0.}}),
         p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::Tversky()(y, p) << " " << nn::losses::tversky(y, p);
}

EXAMPLE(
    "nn::SparseCategoricalCrossentropy nn::losses::sparse_categorical_crossentropy "
    "nn::SparseCategoricalCrossentropyOptions") {
  Tensor y = K::constant({1, 0}, {.dtype = "int32"}),
         p = K::constant({{0.2, 0.8}, {0.6, 0.4}});
  std::cout << nn::SparseCategoricalCrossentropy()(y, p) << " "
            << nn::losses::sparse_categorical_crossentropy(y, p);
}

EXAMPLE("nn::Circle nn::losses::circle nn::CircleOptions") {
  Tensor y = K::constant({0, 0, 1}, {.dtype = "int32"}),
         p = K::l2_normalize(K::constant({{1., 0.}, {0.9, 0.1}, {0., 1.}}), 1);
  std::cout << nn::Circle()(y, p) << " " << nn::losses::circle(y, p);
}

EXAMPLE("nn::CTC nn::losses::ctc") {
  Tensor labels = K::constant({{1, 2}}, {.dtype = "int32"});
  std::cout << nn::CTC()(labels, K::zeros({1, 4, 3})) << " "
            << nn::losses::ctc(labels, K::zeros({1, 4, 3}));
}

EXAMPLE("nn::Loss nn::LossOptions") {
  nn::Loss loss = "mse";
  std::cout << loss(K::constant({{1., 2.}}), K::constant({{1., 4.}}));
}

EXAMPLE("nn::losses::name_of") {
  std::cout << nn::losses::name_of(nn::any_function(nn::losses::huber));
}
