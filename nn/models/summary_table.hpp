#pragma once
#include <ktape/nn/models/summary.hpp>

#include <optional>

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

/// Passes the lines of the summary to `out`. If the number of columns of a terminal is given, cells are broken
/// so that the table fits.
void print_summary(const Model& model, const SummaryOptions& options,
                   const std::function<void(const std::string&)>& out, std::optional<std::size_t> columns);

}  // namespace ktape::nn
