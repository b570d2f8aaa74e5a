#include <ktape/nn/optimizers/process_group.hpp>
#include <ktape/nn/training/trainer.hpp>

#include <barrier>
#include <thread>

#include "line.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor, ktape::ValueError, ktape::Variable;

namespace {

/// The data that the threads of a group share. Each thread stands for a process.
struct Board {
  explicit Board(int size)
      : size(size), meet(size), lines(static_cast<std::size_t>(size)), sums(lines.size()) {}
  int size;
  std::barrier<> meet;
  std::vector<std::vector<std::string>> lines;
  std::vector<std::vector<double>> sums;
  std::vector<nn::Archive::Entry> entries;
};

/// Returns a copy of a tensor, like a tensor that was sent to another process.
Tensor copied(const Tensor& x) {
  const Tensor out = Tensor::empty(x.shape(), x.dtype());
  ktape::convert(out.raw(), x.dtype(), x.raw(), x.dtype(), x.size());
  return out;
}

/// A group of threads with the functions that a trainer uses.
class ThreadGroup : public nn::ProcessGroup {
 public:
  ThreadGroup(Board& board, int rank) : board_(board), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return board_.size; }
  void expect_same(const char* op, const std::vector<std::string>& lines) override {
    board_.lines[place()] = lines;
    board_.meet.arrive_and_wait();
    const bool same = std::all_of(board_.lines.begin(), board_.lines.end(),
                                  [&](const auto& other) { return other == board_.lines[0]; });
    board_.meet.arrive_and_wait();
    if (!same) ktape::fail("[", op, "] the lines differ");
  }
  void broadcast(std::vector<nn::Archive::Entry>& entries, int from) override {
    if (rank_ == from) {
      board_.entries.clear();
      for (const auto& [name, value] : entries) board_.entries.emplace_back(name, copied(value));
    }
    board_.meet.arrive_and_wait();
    entries.clear();
    for (const auto& [name, value] : board_.entries) entries.emplace_back(name, copied(value));
    board_.meet.arrive_and_wait();
  }
  void sum(std::span<double> numbers) override {
    board_.sums[place()].assign(numbers.begin(), numbers.end());
    board_.meet.arrive_and_wait();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = 0;
      for (const auto& each : board_.sums) numbers[i] += each.at(i);
    }
    board_.meet.arrive_and_wait();
  }
  void weigh(double, double) override {}
  std::vector<nn::RowGradient> mean(std::vector<nn::RowGradient> gradients,
                                    const std::vector<Variable>&) override {
    return gradients;
  }
  std::vector<nn::RowGradient> mean_gradients(const Tensor&, const std::vector<Variable>&) override {
    return {};
  }
  [[noreturn]] void end(const std::string& cause) override { ktape::fail(cause); }

 private:
  std::size_t place() const { return static_cast<std::size_t>(rank_); }
  Board& board_;
  int rank_;
};

/// Runs f(model, group) for each model, at once.
template <class F>
void in_group(const std::vector<nn::Sequential>& models, F f) {
  Board board(static_cast<int>(models.size()));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < models.size(); ++i)
    threads.emplace_back([&, i] {
      ThreadGroup group(board, static_cast<int>(i));
      f(models[i], group);
    });
  for (std::thread& thread : threads) thread.join();
}

nn::Sequential measured_model(const char* name = "out") {
  const nn::Sequential model({nn::Input({2}), nn::Dense(1, {.kernel_initializer = "ones", .name = name})});
  model.compile({.optimizer = nn::SGD(0.), .loss = "mse", .metrics = {"mae"}});
  return model;
}

}  // namespace

TEST_CASE("the merged measurements equal the measurements of one process with all samples") {
  const Line line;
  const nn::Sequential whole = measured_model();
  const nn::Logs expected = whole.test_on_batch(line.x, line.y);
  const std::vector<nn::Sequential> models{measured_model(), measured_model(), measured_model()};
  const int ends[] = {0, 40, 64, 64};  // the last process has no samples
  in_group(models, [&](const nn::Sequential& model, nn::ProcessGroup& group) {
    const ktape::Slice part(ends[group.rank()], ends[group.rank() + 1]);
    if (group.rank() < 2) model.test_on_batch(line.x[{part}], line.y[{part}]);
    model.impl().trainer().merge_measured(group, 0);
  });
  for (const nn::Sequential& model : models) {
    const nn::Logs got = model.impl().trainer().results();
    for (const auto& [name, value] : expected) CHECK(got.at(name) == doctest::Approx(value));
  }
}

TEST_CASE("weights that are learned without gradients become their mean, exactly for equal values") {
  const auto made = [] {
    return nn::Sequential(
        {nn::Input({2}), nn::BatchNormalization({.name = "norm"}), nn::Dense(1, {.name = "out"})});
  };
  const std::vector<nn::Sequential> models{made(), made()};
  const double means[2][2] = {{1, 0.1}, {4, 0.1}};
  for (std::size_t i : {0, 1})
    models[i]
        .get_layer("norm")
        .weight("moving_mean")
        .assign(K::constant({means[i][0], means[i][1]}, {.dtype = "float32"}));
  const Values kernel = values(models[1].get_layer("out").get_weights()[0]);
  in_group(models, [](const nn::Sequential& model, nn::ProcessGroup& group) {
    model.impl().trainer().average_statistics(group);
  });
  for (const nn::Sequential& model : models) {
    CHECK(values(model.get_layer("norm").weight("moving_mean").value()) ==
          Values{2.5, static_cast<double>(0.1f)});
    CHECK(values(model.get_layer("norm").weight("moving_variance").value()) == Values{1, 1});
  }
  CHECK(values(models[1].get_layer("out").get_weights()[0]) == kernel);
}

TEST_CASE("processes must train models of equal layers and weights") {
  const auto text_of = [](const std::vector<nn::Sequential>& models) {
    std::string texts[2];
    in_group(models, [&](const nn::Sequential& model, nn::ProcessGroup& group) {
      try {
        model.impl().trainer().expect_same(group);
      } catch (const ValueError& error) {
        texts[group.rank()] = error.what();
      }
    });
    CHECK(texts[0] == texts[1]);
    return texts[0];
  };
  CHECK(text_of({measured_model(), measured_model()}) == "");
  CHECK(text_of({measured_model(), measured_model("other")}) == "[compile] the lines differ");
  const nn::Sequential frozen = measured_model();
  frozen.get_layer("out").set_trainable(false);
  CHECK(text_of({measured_model(), nn::Sequential({nn::Input({2}), nn::Dense(2, {.name = "out"})})}) ==
        "[compile] the lines differ");
}
