#pragma once
#include <ktape/nn/layers/normalization/layer_scale.hpp>
#include "row.hpp"

inline std::vector<Row> normalization_rows() {
  return {
      {"BatchNormalization",
       [] { return nn::BatchNormalization(); },
       {{4, 5}},
       {4, 5},
       {"gamma", "beta", "moving_mean", "moving_variance"},
       Mask::Passes},
      {"LayerNormalization",
       [] { return nn::LayerNormalization(); },
       {{4, 5}},
       {4, 5},
       {"gamma", "beta"},
       Mask::Passes},
      {"GroupNormalization",
       [] { return nn::GroupNormalization({.groups = 2}); },
       {{4, 5, 6}},
       {4, 5, 6},
       {"gamma", "beta"},
       Mask::Passes,
       {{4, 5, 3}}},
      {"RMSNormalization", [] { return nn::RMSNormalization(); }, {{4, 5}}, {4, 5}, {"scale"}, Mask::Passes},
      {"UnitNormalization", [] { return nn::UnitNormalization(); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
      {"LayerScale",
       [] { return nn::LayerScale(5, {.init_values = 0.5}); },
       {{4, 5}},
       {4, 5},
       {"gamma"},
       Mask::Ends},
  };
}
