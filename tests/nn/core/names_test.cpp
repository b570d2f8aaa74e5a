#include <doctest/doctest.h>
#include <ktape/nn/core/names.hpp>

using namespace ktape;

TEST_CASE("names of objects are Keras's") {
  CHECK(nn::to_snake_case("Dense") == "dense");
  CHECK(nn::to_snake_case("Conv2DTranspose") == "conv2d_transpose");
  CHECK(nn::to_snake_case("GlobalMaxPooling1D") == "global_max_pooling1d");
  CHECK(nn::to_snake_case("LSTM") == "lstm");
  CHECK(nn::to_snake_case("ReLU") == "re_lu");
  CHECK(nn::to_snake_case("MultiHeadAttention") == "multi_head_attention");
  CHECK(nn::to_snake_case("my_layer") == "my_layer");
}

TEST_CASE("a word begins at a capital after a small letter or before one, and after no underscore") {
  CHECK(nn::to_snake_case("PReLU") == "p_re_lu");
  CHECK(nn::to_snake_case("RMSprop") == "rm_sprop");
  CHECK(nn::to_snake_case("My_Layer") == "my_layer");
  CHECK(nn::to_snake_case("Block3Net") == "block3_net");
  CHECK(nn::to_snake_case("_Private") == "_private");
  CHECK(nn::to_snake_case("KLDivergence") == "kl_divergence");
}

TEST_CASE("characters that are neither letters nor digits are left out of a name") {
  CHECK(nn::to_snake_case("ns::Layer<3>") == "ns_layer3");
  CHECK(nn::to_snake_case("<Layer>") == "layer");
  CHECK(nn::to_snake_case("") == "");
}
