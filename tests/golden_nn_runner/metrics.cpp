#include <ktape/nn/metrics/metric.hpp>

#include "kinds.hpp"

namespace golden_nn {
namespace {

void run_metric(Run& run) {
  const ktape::nn::Metric metric(Value(Config{{"class_name", run.at("metric")}, {"config", run.config()}}));
  const Value::List& updates = run.at("updates").list();
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const Config& update = updates[i].config();
    if (update.get("reset", false).boolean()) metric.reset_state();
    metric.update_state(run.tensor(update.get("y_true")),
                        run.tensor(update.contains("values") ? update.at("values") : update.at("y_pred")),
                        {.sample_weight = run.tensor(update.get("sample_weight"))});
    run.compare("result " + std::to_string(i), metric.result(), run.at("results").list().at(i));
  }
}

}  // namespace

void add_metrics(Table& table) { table["metric"] = run_metric; }

}  // namespace golden_nn
