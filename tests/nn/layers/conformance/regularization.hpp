#pragma once
#include "row.hpp"

inline std::vector<Row> regularization_rows() {
  return {
      {"Dropout", [] { return nn::Dropout(0.3); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
      {"SpatialDropout1D",
       [] { return nn::SpatialDropout1D(0.3); },
       {{4, 5, 2}},
       {4, 5, 2},
       {},
       Mask::Passes,
       {{4, 5}}},
      {"SpatialDropout2D",
       [] { return nn::SpatialDropout2D(0.3, {.data_format = "channels_last", .seed = {}}); },
       {{4, 5, 3, 2}},
       {4, 5, 3, 2},
       {},
       Mask::Passes,
       {{4, 5}}},
      {"SpatialDropout3D",
       [] { return nn::SpatialDropout3D(0.3); },
       {{4, 2, 3, 2, 2}},
       {4, 2, 3, 2, 2},
       {},
       Mask::Passes,
       {{4, 5}}},
      {"GaussianDropout", [] { return nn::GaussianDropout(0.3); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
      {"GaussianNoise", [] { return nn::GaussianNoise(0.3); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
      {"AlphaDropout", [] { return nn::AlphaDropout(0.3); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
      {"ActivityRegularization",
       [] { return nn::ActivityRegularization({.l2 = 0.1}); },
       {{4, 5}},
       {4, 5},
       {},
       Mask::Passes},
  };
}
