#pragma once
#include "row.hpp"

inline std::vector<Row> core_rows() {
  return {
      {"Dense", [] { return nn::Dense(3); }, {{4, 5}}, {4, 3}, {"kernel", "bias"}, Mask::Passes, {{4}}},
      {"Activation", [] { return nn::Activation("tanh"); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
      {"Identity", [] { return nn::Identity(); }, {{4, 5, 2}}, {4, 5, 2}, {}, Mask::Passes},
      {"Embedding",
       [] { return nn::Embedding(7, 3); },
       {{4, 5}},
       {4, 5, 3},
       {"embeddings"},
       Mask::Ends,
       {},
       7},
      {"Masking", [] { return nn::Masking(); }, {{4, 5, 2}}, {4, 5, 2}, {}, Mask::Passes, {{4}}},
      {"EinsumDense",
       [] {
         return nn::EinsumDense("abc,cd->abd", {None, 3}, {.bias_axes = "d"});
       },
       {{4, 5, 2}},
       {4, 5, 3},
       {"kernel", "bias"},
       Mask::Ends,
       {{4, 5}}},
  };
}
