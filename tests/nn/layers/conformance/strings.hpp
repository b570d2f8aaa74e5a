#pragma once
#include "row.hpp"

inline std::vector<StringRow> string_rows() {
  return {
      {"StringLookup",
       [] {
         return nn::StringLookup({.vocabulary = {"cat", "dog"}});
       },
       [](const nn::Layer& layer) {
         return nn::StringLookup(layer)({"dog", "owl", "cat"});
       },
       {3}},
      {"TextVectorization",
       [] {
         return nn::TextVectorization({.vocabulary = {"cat", "dog"}});
       },
       [](const nn::Layer& layer) {
         return nn::TextVectorization(layer)({"A cat, a dog.", "Dog"});
       },
       {2, 4}},
  };
}
