#pragma once
#include "row.hpp"

inline std::vector<Row> activation_rows() {
  return {
      {"ReLU", [] { return nn::ReLU(); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
      {"LeakyReLU", [] { return nn::LeakyReLU(); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
      {"PReLU", [] { return nn::PReLU(); }, {{4, 5}}, {4, 5}, {"alpha"}, Mask::Passes},
      {"ELU", [] { return nn::ELU(); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
      {"Softmax", [] { return nn::Softmax(); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
  };
}
