#include "examples.hpp"

EXAMPLE("nn::Rescaling") {
  nn::Rescaling layer(1 / 255.);
  std::cout << layer(K::constant({51., 255.}));
}

EXAMPLE("nn::Resizing nn::ResizingOptions") {
  nn::Resizing layer(6, 5);
  std::cout << layer(K::random_normal({1, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::CenterCrop") {
  nn::CenterCrop layer(4, 4);
  std::cout << layer(K::random_normal({1, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Normalization nn::NormalizationOptions") {
  nn::Normalization layer;
  layer.adapt(K::constant({{1.}, {3.}}));
  std::cout << layer(K::constant({{1.}, {2.}}));
}

EXAMPLE("nn::Discretization nn::DiscretizationOptions") {
  nn::Discretization layer({.bin_boundaries = std::vector{0., 1., 2.}});
  std::cout << layer(K::constant({-0.5, 0.5, 9.}));
}

EXAMPLE("nn::CategoryEncoding nn::CategoryEncodingOptions") {
  nn::CategoryEncoding layer(4, {.output_mode = "one_hot"});
  std::cout << layer(K::constant({0, 2}, {.dtype = "int32"}));
}

EXAMPLE("nn::StringLookup nn::StringLookupOptions") {
  nn::StringLookup lookup({.vocabulary = {"cat", "dog"}});
  std::cout << lookup({"dog", "owl", "cat"});
}

EXAMPLE("nn::IntegerLookup nn::IntegerLookupOptions") {
  nn::IntegerLookup lookup({.vocabulary = {10, 20}});
  std::cout << lookup(K::constant({20, 5}, {.dtype = "int64"}));
}

EXAMPLE("nn::TextVectorization nn::TextVectorizationOptions") {
  nn::TextVectorization layer({.output_sequence_length = 4});
  layer.adapt({"the cat sat", "the dog"});
  std::cout << layer({"the dog sat down"});
}

EXAMPLE("nn::RandomFlip") {
  nn::RandomFlip layer("horizontal", {.seed = 7});
  std::cout << layer(K::ones({1, 8, 8, 3}), {.training = true}).shape();
}

EXAMPLE("nn::RandomRotation") {
  nn::RandomRotation layer(0.1, {.seed = 7});
  std::cout << layer(K::ones({1, 8, 8, 3}), {.training = true}).shape();
}

EXAMPLE("nn::RandomZoom") {
  nn::RandomZoom layer(0.2, {.seed = 7});
  std::cout << layer(K::ones({1, 8, 8, 3}), {.training = true}).shape();
}

EXAMPLE("nn::RandomTranslation") {
  nn::RandomTranslation layer(0.1, 0.1, {.seed = 7});
  std::cout << layer(K::ones({1, 8, 8, 3}), {.training = true}).shape();
}

EXAMPLE("nn::RandomContrast") {
  nn::RandomContrast layer(0.2, {.seed = 7});
  std::cout << layer(K::ones({1, 8, 8, 3}), {.training = true}).shape();
}

EXAMPLE("nn::RandomBrightness") {
  nn::RandomBrightness layer(0.2, {.seed = 7});
  std::cout << layer(K::ones({1, 8, 8, 3}), {.training = true}).shape();
}

EXAMPLE("nn::RandomCrop") {
  nn::RandomCrop layer(6, 6, {.seed = 7});
  std::cout << layer(K::ones({1, 8, 8, 3}), {.training = true}).shape();
}
