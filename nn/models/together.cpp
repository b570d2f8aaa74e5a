#include <ktape/nn/models/together.hpp>
#include <ktape/ops/random.hpp>
#include <ktape/ops/support/random_scope.hpp>

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
  if (all == 0 || trainer_.stop) return {};
  if (last_.x.empty())
    ktape::fail("[fit] there must be samples for each of the ", replicas_.size(),
                " processes: received none for rank ", replicas_.rank());
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
  replicas_.broadcast(entries);
  State of_first(std::move(entries));
  logs_state(of_first, "logs", all);

  std::vector<double> sums{samples};
  for (const auto& [name, value] : all) sums.push_back(logs.contains(name) ? logs.at(name) * samples : 0);
  replicas_.sum(sums);
  std::size_t i = 0;
  for (const auto& [name, value] : Logs(all)) all.set(name, sums[++i] / sums[0]);
  trainer_.merge_measured(replicas_);
  for (const auto& [name, value] : trainer_.results())
    if (all.contains(name)) all.set(name, value);
  return all;
}

/// The sum of a number.
double Together::agreed(double number, bool interrupted) {
  std::array<double, 3> all{number, trainer_.stop ? 1. : 0., interrupted ? 1. : 0.};
  replicas_.sum(all);
  interrupted_ = all[2] > 0;
  trainer_.stop = all[1] > 0 || interrupted_;
  return all[0];
}

}  // namespace ktape::nn
