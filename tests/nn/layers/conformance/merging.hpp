#pragma once
#include "row.hpp"

inline std::vector<Row> merging_rows() {
  return {
      {"Add", [] { return nn::Add(); }, {{4, 5}, {4, 5}}, {4, 5}, {}, Mask::Ends, {{4, 5}, {4, 3}}},
      {"Subtract", [] { return nn::Subtract(); }, {{4, 5}, {4, 5}}, {4, 5}, {}, Mask::Ends, {{4, 5}}},
      {"Multiply", [] { return nn::Multiply(); }, {{4, 5}, {4, 1}}, {4, 5}, {}, Mask::Ends, {{4, 5}}},
      {"Average", [] { return nn::Average(); }, {{4, 5}, {4, 5}, {4, 5}}, {4, 5}, {}, Mask::Ends, {{4, 5}}},
      {"Maximum", [] { return nn::Maximum(); }, {{4, 5}, {4, 5}}, {4, 5}, {}, Mask::Ends, {{4, 5}}},
      {"Minimum", [] { return nn::Minimum(); }, {{4, 5}, {4, 5}}, {4, 5}, {}, Mask::Ends, {{4, 5}}},
      {"Concatenate",
       [] { return nn::Concatenate(); },
       {{4, 5}, {4, 2}},
       {4, 7},
       {},
       Mask::Ends,
       {{4, 5}, {3, 5}}},
      {"Dot", [] { return nn::Dot(1); }, {{4, 5}, {4, 5}}, {4, 1}, {}, Mask::Ends, {{4, 5}}},
  };
}
