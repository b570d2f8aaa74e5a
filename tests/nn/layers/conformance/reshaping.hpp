#pragma once
#include "row.hpp"

inline std::vector<Row> reshaping_rows() {
  return {
      {"Flatten", [] { return nn::Flatten(); }, {{4, 5, 2}}, {4, 10}, {}},
      {"Reshape",
       [] {
         return nn::Reshape({2, -1});
       },
       {{4, 6}},
       {4, 2, 3},
       {},
       Mask::Ends,
       {{4, 5}}},
      {"Permute",
       [] {
         return nn::Permute({2, 1});
       },
       {{4, 5, 2}},
       {4, 2, 5},
       {},
       Mask::Ends,
       {{4, 5}}},
      {"RepeatVector", [] { return nn::RepeatVector(3); }, {{4, 5}}, {4, 3, 5}, {}, Mask::Ends, {{4, 5, 2}}},
  };
}
