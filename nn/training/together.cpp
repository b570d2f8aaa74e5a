#include <ktape/nn/training/together.hpp>
#include <ktape/ops/random.hpp>
#include <ktape/ops/support/random_scope.hpp>

#include <algorithm>
#include <array>

namespace ktape::nn {
namespace K = backend;

void logs_state(State& state, const std::string& name, Logs& logs) {
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

/// A batch under names that tell its parts and the places without a tensor.
std::vector<State::Entry> entries_of(const Batch& batch) {
  std::vector<State::Entry> entries;
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

Batch batch_of(const std::vector<State::Entry>& entries) {
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

void Together::expect_same_rows(std::int64_t rows) const {
  replicas_.expect_same("fit", {"arrays of " + std::to_string(rows) + " rows"});
}

int Together::first_with(bool something) {
  std::vector<double> have(static_cast<std::size_t>(replicas_.size()));
  have[static_cast<std::size_t>(replicas_.rank())] = something;
  replicas_.sum(have);
  return static_cast<int>(std::find_if(have.begin(), have.end(), [](double n) { return n > 0; }) -
                          have.begin());
}

Batch Together::shared(const Batch& batch) {
  const int from = first_with(!batch.x.empty());
  if (from == replicas_.size())
    ktape::fail("[fit] the data must have samples: received none in all processes");
  std::vector<State::Entry> entries = entries_of(batch);
  replicas_.broadcast(entries, from);
  return batch.x.empty() ? batch_of(entries) : batch;
}

Batch Together::any_batch(Feed& feed) { return shared(feed.more() ? feed.next() : Batch()); }

void Together::start(Resumable& training) {
  training.build();
  trainer_.expect_same(replicas_);
  share_state(training);
  agree(false);
}

void Together::share_state(Resumable& training) {
  State mine;
  training.state(mine);
  std::vector<State::Entry> entries = mine.entries();
  replicas_.broadcast(entries);
  if (first()) return;
  State of_first(std::move(entries));
  training.state(of_first);
  trainer_.reset();  // what the first has measured is to be counted once
}

std::optional<Batch> Together::next_batch(Feed& feed, bool interrupted) {
  const bool more = feed.more();
  if (more) last_ = feed.next();
  counted_ = more ? samples_of(last_) : 0;
  const double all = agreed(counted_, interrupted);
  if (trainer_.stop) return {};
  if (some_lack_batches_) last_ = shared(last_);
  if (all == 0) return {};
  replicas_.weigh(counted_, all);
  samples_ += counted_;
  return last_;
}

Logs Together::train_step(ModelImpl& model, const Batch& batch, int epoch, std::int64_t step) {
  const K::RandomState random = K::random_state();
  const auto rank = static_cast<std::uint64_t>(replicas_.rank());
  std::uint64_t key = random.seed;
  for (const std::uint64_t part :
       {random.drawn, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(step), rank})
    key = K::random_key(static_cast<std::int64_t>(key * 0x9e3779b97f4a7c15 + part));
  const K::RandomScope scope(key, rank);
  const auto train = [&] { return model.train_step(batch); };
  const Logs logs = counted_ > 0 ? train() : trainer_.unmeasured(train);
  replicas_.weigh(1, replicas_.size());
  return logs;
}

Logs Together::train_on_batch(ModelImpl& model, const Batch& batch) {
  counted_ = samples_of(batch);
  double all = counted_;
  replicas_.sum({&all, 1});
  replicas_.weigh(counted_, all);
  return train_step(model, batch, 0, model.optimizer().impl().calls());
}

Logs Together::end_epoch(const Logs& logs) {
  const Logs all = merged(logs, std::exchange(samples_, 0));
  trainer_.average_statistics(replicas_);
  return all;
}

Logs Together::merged(const Logs& logs, double samples) {
  State mine;
  Logs all = logs;
  logs_state(mine, "logs", all);
  std::vector<State::Entry> entries = mine.entries();
  const int from = first_with(samples > 0) % replicas_.size();
  replicas_.broadcast(entries, from);
  State of_first(std::move(entries));
  logs_state(of_first, "logs", all);

  std::vector<double> sums{samples};
  for (const auto& [name, value] : all) sums.push_back(logs.contains(name) ? logs.at(name) * samples : 0);
  replicas_.sum(sums);
  std::size_t i = 0;
  for (const auto& [name, value] : Logs(all)) all.set(name, sums[++i] / sums[0]);
  trainer_.merge_measured(replicas_, from);
  for (const auto& [name, value] : trainer_.results())
    if (all.contains(name)) all.set(name, value);
  return all;
}

/// The sum of a number.
double Together::agreed(double number, bool interrupted) {
  std::array<double, 4> all{number, trainer_.stop ? 1. : 0., interrupted ? 1. : 0.,
                            last_.x.empty() ? 1. : 0.};
  replicas_.sum(all);
  some_lack_batches_ = all[3] > 0;
  interrupted_ = all[2] > 0;
  trainer_.stop = all[1] > 0 || interrupted_;
  return all[0];
}

}  // namespace ktape::nn
