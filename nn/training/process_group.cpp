#include <ktape/nn/optimizers/process_group.hpp>
#include <ktape/nn/training/trainer.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>

#include <algorithm>
#include <sstream>

/// The member functions of Trainer for several processes that train one model.
namespace ktape::nn {
namespace K = backend;
namespace {

/// Returns a description of a model for comparisons, in lines: the layers and, once the model is built, the
/// weights.
std::vector<std::string> description(const ModelImpl& model) {
  std::vector<std::string> lines{model.class_name()};
  for (const Layer& layer : model.layers()) lines.push_back(layer.class_name() + " '" + layer.name() + '\'');
  for (const Variable& weight : model.weights()) {
    std::ostringstream line;
    line << '\'' << weight.name() << "' of " << weight.dtype() << " and shape " << weight.shape();
    if (!weight.trainable()) line << ", not trainable";
    lines.push_back(line.str());
  }
  return lines;
}

/// Returns the numbers of an entry; empty for an entry of another dtype.
std::span<double> numbers_of(const Archive::Entry& entry) {
  if (entry.second.dtype() != DType::Float64) return {};
  return {entry.second.pointer<double>(), static_cast<std::size_t>(entry.second.size())};
}

}  // namespace

void Trainer::expect_same(ProcessGroup& process_group) const {
  process_group.expect_same("compile", description(model_));
}

/// Sums the accumulators of losses and metrics over all processes, so that the results equal the results of
/// one process with all samples. A process without samples may lack accumulators; it takes their names and
/// shapes from the process `from`.
void Trainer::merge_measured(ProcessGroup& process_group, int from) {
  Archive mine;
  measured(mine);
  std::vector<Archive::Entry> all = mine.entries();
  process_group.broadcast(all, from);
  std::vector<double> sums;
  for (const Archive::Entry& entry : all) {
    const auto own = std::find_if(mine.entries().begin(), mine.entries().end(),
                                  [&](const Archive::Entry& e) { return e.first == entry.first; });
    const std::size_t size = numbers_of(entry).size();
    if (own != mine.entries().end() && numbers_of(*own).size() == size)
      sums.insert(sums.end(), numbers_of(*own).begin(), numbers_of(*own).end());
    else sums.resize(sums.size() + size);
  }
  process_group.sum(sums);
  const double* sum = sums.data();
  for (const Archive::Entry& entry : all)
    for (double& number : numbers_of(entry)) number = *sum++;
  Archive combined(std::move(all));
  measured(combined);
}

/// Computes the mean as the value of the first process plus the mean difference from that value, so that the
/// mean of equal values is exactly this value.
void Trainer::average_statistics(ProcessGroup& process_group) {
  std::vector<Variable> statistics;
  for (const Variable& weight : model_.non_trainable_weights())
    if (!weight.trainable() && weight.dtype().is_floating()) statistics.push_back(weight);
  if (statistics.empty()) return;
  std::vector<Archive::Entry> first;
  for (const Variable& weight : statistics) first.emplace_back(weight.name(), weight.value().detach());
  process_group.broadcast(first);
  const NoGrad off;
  std::vector<double> distances;
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    const Tensor distance =
        K::as_dtype(statistics[i].value(), DType::Float64) - K::as_dtype(first[i].second, DType::Float64);
    const double* numbers = distance.pointer<double>();
    distances.insert(distances.end(), numbers, numbers + distance.size());
  }
  process_group.sum(distances);
  const double* distance = distances.data();
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    const Tensor mean = Tensor::empty(statistics[i].shape(), DType::Float64);
    for (std::int64_t k = 0; k < mean.size(); ++k)
      mean.pointer<double>()[k] = *distance++ / process_group.size();
    const Tensor moved = K::as_dtype(first[i].second, DType::Float64) + mean;
    statistics[i].assign(K::as_dtype(moved, statistics[i].dtype()));
  }
}

}  // namespace ktape::nn
