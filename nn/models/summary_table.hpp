#pragma once
#include <ktape/nn/models/summary.hpp>

/// Internal: sources only.
namespace ktape::nn {

/// The table that `summary` prints.
struct SummaryTable {
  struct Total {
    std::string what, count, bytes;
  };
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows = {};  ///< a cell may have several lines
  std::vector<Total> totals = {};
};

SummaryTable summary_table(const Model& model, const SummaryOptions& options = {});

}  // namespace ktape::nn
