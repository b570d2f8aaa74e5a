#include <ktape/nn/training/internal/distributed_training.hpp>
#include <ktape/ops/random/random.hpp>
#include <ktape/ops/random/random_scope.hpp>

#include <algorithm>
#include <array>

namespace ktape::nn {
namespace K = backend;

void logs_state(Archive& state, const std::string& name, Logs& logs) {
  std::vector<std::string> names;
  std::vector<double> values;
  for (const auto& [key, value] : logs) names.push_back(key), values.push_back(value);
  state.part(name, [&] {
    state("names", names);
    state("values", values, names.size());
  });
  if (!state.sets()) return;
  logs = Logs();
  for (std::size_t i = 0; i < names.size(); ++i) logs.set(names[i], values[i]);
}

namespace {

/// Returns the tensors of a batch as entries. A name gives the part (x, y or w), whether the tensor is
/// defined (+ or -), and the name of the tensor.
std::vector<Archive::Entry> entries_of(const Batch& batch) {
  std::vector<Archive::Entry> entries;
  const auto add = [&](char part, const NamedTensors& tensors) {
    const std::vector<std::string> names = tensors.names();
    for (std::size_t i = 0; i < tensors.size(); ++i)
      entries.emplace_back(
          std::string{part, tensors[i].defined() ? '+' : '-'} + (tensors.named() ? names[i] : ""),
          tensors[i].defined() ? tensors[i].detach() : Tensor::empty({0}, DType::Float32));
  };
  add('x', batch.x), add('y', batch.y), add('w', batch.sample_weight);
  return entries;
}

Batch batch_of(const std::vector<Archive::Entry>& entries) {
  const auto part = [&](char part) {
    std::vector<Tensor> tensors;
    std::vector<std::string> names;
    bool named = false;
    for (const auto& [name, tensor] : entries) {
      if (name[0] != part) continue;
      tensors.push_back(name[1] == '+' ? tensor : Tensor());
      names.push_back(name.substr(2));
      named = named || !names.back().empty();
    }
    return named ? NamedTensors(std::move(tensors), std::move(names)) : NamedTensors(std::move(tensors));
  };
  return {part('x'), part('y'), part('w')};
}

}  // namespace

void DistributedTraining::expect_same_rows(std::int64_t rows) const {
  group_.expect_same("fit", {"arrays of " + std::to_string(rows) + " rows"});
}

int DistributedTraining::first_with(bool something) {
  std::vector<double> have(static_cast<std::size_t>(group_.size()));
  have[static_cast<std::size_t>(group_.rank())] = something;
  group_.sum(have);
  return static_cast<int>(std::find_if(have.begin(), have.end(), [](double n) { return n > 0; }) -
                          have.begin());
}

Batch DistributedTraining::shared(const Batch& batch) {
  const int from = first_with(!batch.x.empty());
  if (from == group_.size()) ktape::fail("[fit] the data must have samples: received none in all processes");
  std::vector<Archive::Entry> entries = entries_of(batch);
  group_.broadcast(entries, from);
  return batch.x.empty() ? batch_of(entries) : batch;
}

Batch DistributedTraining::any_batch(BatchSource& source) {
  return shared(source.more() ? source.next() : Batch());
}

void DistributedTraining::start(TrainingRun& training) {
  training.build();
  trainer_.expect_same(group_);
  share_state(training);
  agree(false);
}

void DistributedTraining::share_state(TrainingRun& training) {
  Archive mine;
  training.state(mine);
  std::vector<Archive::Entry> entries = mine.entries();
  group_.broadcast(entries);
  if (first()) return;
  Archive of_first(std::move(entries));
  training.state(of_first);
  trainer_.reset();  // the measurements of the first process must count once
}

std::optional<Batch> DistributedTraining::next_batch(BatchSource& source, bool interrupted) {
  const bool more = source.more();
  if (more) last_ = source.next();
  counted_ = more ? samples_of(last_) : 0;
  const double all = agreed(counted_, interrupted);
  if (trainer_.stop) return {};
  if (some_lack_batches_) last_ = shared(last_);
  if (all == 0) return {};
  group_.weigh(counted_, all);
  samples_ += counted_;
  return last_;
}

Logs DistributedTraining::train_step(ModelImpl& model, const Batch& batch, int epoch, std::int64_t step) {
  const K::RandomState random = K::random_state();
  const auto rank = static_cast<std::uint64_t>(group_.rank());
  std::uint64_t key = random.seed;
  for (const std::uint64_t part :
       {random.drawn, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(step), rank})
    key = K::random_key(static_cast<std::int64_t>(key * 0x9e3779b97f4a7c15 + part));
  const K::RandomScope scope(key, rank);
  const auto train = [&] { return model.trainer().train(batch); };
  const Logs logs = counted_ > 0 ? train() : trainer_.unmeasured(train);
  group_.weigh(1, group_.size());
  return logs;
}

Logs DistributedTraining::train_on_batch(ModelImpl& model, const Batch& batch) {
  counted_ = samples_of(batch);
  double all = counted_;
  group_.sum({&all, 1});
  group_.weigh(counted_, all);
  return train_step(model, batch, 0, model.optimizer().impl().calls());
}

Logs DistributedTraining::end_epoch(const Logs& logs) {
  const Logs all = merged(logs, std::exchange(samples_, 0));
  trainer_.average_statistics(group_);
  return all;
}

Logs DistributedTraining::merged(const Logs& logs, double samples) {
  Archive mine;
  Logs all = logs;
  logs_state(mine, "logs", all);
  std::vector<Archive::Entry> entries = mine.entries();
  const int from = first_with(samples > 0) % group_.size();
  group_.broadcast(entries, from);
  Archive of_first(std::move(entries));
  logs_state(of_first, "logs", all);

  std::vector<double> sums{samples};
  for (const auto& [name, value] : all) sums.push_back(logs.contains(name) ? logs.at(name) * samples : 0);
  group_.sum(sums);
  std::size_t i = 0;
  for (const auto& [name, value] : Logs(all)) all.set(name, sums[++i] / sums[0]);
  trainer_.merge_measured(group_, from);
  for (const auto& [name, value] : trainer_.results())
    if (all.contains(name)) all.set(name, value);
  return all;
}

/// Returns the sum of the numbers of all processes. Stops or interrupts the training in all processes if the
/// training of any process stops or is interrupted.
double DistributedTraining::agreed(double number, bool interrupted) {
  std::array<double, 4> all{number, trainer_.stop ? 1. : 0., interrupted ? 1. : 0.,
                            last_.x.empty() ? 1. : 0.};
  group_.sum(all);
  some_lack_batches_ = all[3] > 0;
  interrupted_ = all[2] > 0;
  trainer_.stop = all[1] > 0 || interrupted_;
  return all[0];
}

}  // namespace ktape::nn
