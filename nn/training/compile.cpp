#include <ktape/nn/training/compile.hpp>

#include <algorithm>

namespace ktape::nn {

JitCompile::JitCompile(const char* text) : wanted_(true) {
  if (!text || std::string_view(text) != "auto")
    fail("[compile] jit_compile must be true, false or \"auto\": received jit_compile=",
         text ? text : "null");
}

OutputMetrics::Entry::Entry(std::initializer_list<Listed> metrics) {
  const Listed* given = metrics.begin();
  if (metrics.size() == 2 && !given[0].name().empty() && given[1].function()) {
    metrics_ = {Metric(given[0].name(), given[1].function())};
    return;
  }
  is_list_ = true;
  for (const Listed& metric : metrics) metrics_.push_back(metric.metric());
}

void OutputMetrics::take(const std::vector<Entry>& entries) {
  if (std::any_of(entries.begin(), entries.end(), [](const Entry& entry) { return entry.is_list(); }))
    for (const Entry& entry : entries) by_output_.push_back(entry.metrics());
  else
    for (const Entry& entry : entries) all_.push_back(entry.metrics()[0]);
}

}  // namespace ktape::nn
