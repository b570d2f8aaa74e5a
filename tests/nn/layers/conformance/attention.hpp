#pragma once
#include "row.hpp"

inline std::vector<Row> attention_rows() {
  return {
      {"Attention",
       [] { return nn::Attention({.use_scale = true}); },
       {{4, 5, 3}, {4, 6, 3}},
       {4, 5, 3},
       {"scale"},
       Mask::Passes,
       {{4, 5, 3}}},
      {"AdditiveAttention",
       [] { return nn::AdditiveAttention(); },
       {{4, 5, 3}, {4, 6, 3}},
       {4, 5, 3},
       {"scale"},
       Mask::Passes,
       {{4, 5, 3}, {4, 6, 2}}},
      {"MultiHeadAttention",
       [] { return nn::MultiHeadAttention(2, 3); },
       {{4, 5, 3}, {4, 6, 2}},
       {4, 5, 3},
       {"kernel", "bias", "kernel", "bias", "kernel", "bias", "kernel", "bias"},
       Mask::Passes,
       {{4, 5, 3}}},
      {"GroupQueryAttention",
       [] { return nn::GroupQueryAttention(3, 4, 2); },
       {{4, 5, 3}, {4, 6, 3}},
       {4, 5, 3},
       {"kernel", "bias", "kernel", "bias", "kernel", "bias", "kernel", "bias"},
       Mask::Passes,
       {{4, 5, 3}}},
  };
}
