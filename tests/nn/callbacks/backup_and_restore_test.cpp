#include "../../interrupts.hpp"
#include "../../ops/check.hpp"
#include "../data/files.hpp"
#include "scripted.hpp"

#include <ktape/nn/saving/safetensors/safetensors.hpp>

#include <csignal>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
namespace fs = std::filesystem;
using doctest::Contains;
using ktape::IOError, ktape::Tensor, ktape::ValueError, ktape::Variable;

namespace {

/// Ends a training by an error after some batches.
struct CrashImpl : nn::CallbackImpl {
  int left;
  explicit CrashImpl(int left) : left(left) {}
  void on_train_batch_end(std::int64_t, const nn::Logs&) override {
    if (--left == 0) throw std::runtime_error("crash");
  }
};
using Crash = nn::CallbackOf<CrashImpl>;

/// A training program.
struct Program {
  std::string folder;
  nn::Frequency save_freq = "epoch";
  bool from_dataset = false;
  std::optional<std::int64_t> steps_per_epoch = {};
  int epochs = 4;

  struct Outcome {
    std::vector<std::pair<std::string, std::vector<double>>> history;
    std::vector<std::vector<float>> weights;
    std::string log;
    bool operator==(const Outcome&) const = default;
  };

  std::string backup() const { return folder + "/backup"; }

  /// Runs the training, which crashes after `crash_after` batches; 0: no crash.
  Outcome run(int crash_after = 0) const {
    K::set_random_seed(11);
    const Tensor x = K::random_normal({40, 5}), y = K::cast(K::random_uniform({40}, {.maxval = 3}), "int32");
    nn::Sequential model({nn::Dense(6, {.activation = "relu"}), nn::BatchNormalization(), nn::Dropout(0.3),
                          nn::Dropout(0.2, {.seed = 5}), nn::Dense(3, {.activation = "softmax"})});
    model.compile({.optimizer = nn::Adam({.learning_rate = 0.02, .use_ema = true}),
                   .loss = "sparse_categorical_crossentropy",
                   .metrics = {"accuracy"}});
    nn::FitOptions options{
        .epochs = epochs,
        .verbose = 0,
        .callbacks =
            {nn::BackupAndRestore(backup(), {.save_freq = save_freq}),
             nn::ReduceLROnPlateau({.monitor = "loss", .factor = 0.5, .patience = 1, .min_delta = 0.05}),
             nn::EarlyStopping(
                 {.monitor = "val_loss", .min_delta = 0.02, .patience = 2, .restore_best_weights = true}),
             nn::LearningRateScheduler([](int, double rate) { return 0.9 * rate; }),
             nn::CSVLogger(folder + "/log.csv"), Crash(crash_after)},
        .steps_per_epoch = steps_per_epoch};
    const nn::History history = [&] {
      if (!from_dataset) {
        options.batch_size = 8;
        options.validation_split = 0.25;
        return model.fit(x, y, options);
      }
      const auto noisy = [](const data::Element& e) {
        return data::Element{e[0] + K::random_normal(e[0].shape(), {.stddev = 0.1}), e[1]};
      };
      auto train = data::Dataset::from_tensor_slices({x, y}).shuffle(40).map(noisy).batch(8).prefetch(2);
      if (steps_per_epoch) train = train.repeat();
      options.validation_data = data::Dataset::from_tensor_slices({x, y}).batch(16);
      return model.fit(train, options);
    }();
    Outcome outcome;
    for (const std::string& name : history.names()) outcome.history.emplace_back(name, history[name]);
    for (const Tensor& weight : model.get_weights()) outcome.weights.push_back(values<float>(weight));
    outcome.log = content(folder + "/log.csv");
    return outcome;
  }

  Outcome crashing_run(std::initializer_list<int> batches) const {
    for (const int batch : batches) CHECK_THROWS_WITH_AS(run(batch), "crash", std::runtime_error);
    return run();
  }
};

/// Returns a model with one weight, trained with a backup in the folder.
nn::Sequential small_model(std::int64_t units = 1) {
  nn::Sequential model({nn::Input({2}), nn::Dense(units, {.kernel_initializer = "ones", .name = "only"})});
  model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
  return model;
}
nn::History fit(const nn::Sequential& model, const nn::Callback& backup, int epochs = 4,
                int crash_after = 0) {
  const Tensor x = K::ones({6, 2}), y = K::zeros({6, 1});
  return model.fit(
      x, y, {.batch_size = 2, .epochs = epochs, .verbose = 0, .callbacks = {Crash(crash_after), backup}});
}

}  // namespace

TEST_CASE("BackupAndRestore: a training that crashed and resumed equals an uninterrupted training") {
  struct Case {
    nn::Frequency save_freq;
    bool from_dataset;
    std::optional<std::int64_t> steps_per_epoch;
  };
  for (const Case& c : {Case{"epoch", false, {}}, Case{3, false, {}}, Case{1, false, 3},
                        Case{"epoch", false, 3}, Case{"epoch", true, {}}, Case{2, true, 3}}) {
    const Files whole, parts;
    CAPTURE(c.from_dataset);
    CAPTURE(c.save_freq.by_epoch());
    CAPTURE(c.steps_per_epoch.value_or(0));
    const Program::Outcome expected =
        Program{whole.folder(), c.save_freq, c.from_dataset, c.steps_per_epoch}.run();
    const Program program{parts.folder(), c.save_freq, c.from_dataset, c.steps_per_epoch};
    CHECK(program.crashing_run({2, 4, 7}) == expected);
    CHECK(!fs::exists(program.backup()));
  }
}

TEST_CASE("BackupAndRestore: the last backup records an early stop") {
  const Files whole, parts;
  const Program::Outcome expected = Program{.folder = whole.folder(), .epochs = 60}.run();
  REQUIRE(expected.history[0].second.size() < 60);  // stopped
  CHECK(Program{.folder = parts.folder(), .epochs = 60}.crashing_run({9, 8}) == expected);
}

TEST_CASE("BackupAndRestore keeps the backup of a complete training, and resumes for more epochs") {
  const Files files;
  const nn::BackupAndRestore backup(files.folder() + "/a/b", {.delete_checkpoint = false});
  const nn::Sequential straight = small_model(), model = small_model(), later = small_model();
  const nn::History expected = fit(straight, nn::LambdaCallback({}), 5);
  fit(model, backup, 3);
  CHECK(fs::exists(files.folder() + "/a/b/latest.safetensors"));
  const nn::History history = fit(later, backup, 5);
  CHECK(history["loss"] == expected["loss"]);
  CHECK(history.epoch() == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(values(later.get_weights()[0]) == values(straight.get_weights()[0]));
}

TEST_CASE("BackupAndRestore deletes its file, and nothing else") {
  const Files files;
  const std::string other = files.write("backup/notes.txt", "kept");
  fit(small_model(), nn::BackupAndRestore(files.folder() + "/backup"));
  CHECK(content(other) == "kept");
  CHECK(!fs::exists(files.folder() + "/backup/latest.safetensors"));
}

TEST_CASE("BackupAndRestore: after Ctrl-C the training resumes at the last complete epoch") {
  const Files files;
  const nn::BackupAndRestore backup(files.folder() + "/backup");
  int batches = 0;
  const auto interrupting = nn::LambdaCallback({.on_train_batch_end = [&](std::int64_t, const nn::Logs&) {
    if (++batches == 5) std::raise(SIGINT);
  }});
  const nn::Sequential model = small_model(), resumed = small_model(), straight = small_model();
  const Tensor x = K::ones({6, 2}), y = K::zeros({6, 1});
  const nn::History cut =
      model.fit(x, y, {.batch_size = 2, .epochs = 4, .verbose = 0, .callbacks = {interrupting, backup}});
  CHECK(cut["loss"].size() == 2);
  const nn::History expected = fit(straight, nn::LambdaCallback({})), history = fit(resumed, backup);
  CHECK(history["loss"] == expected["loss"]);
  CHECK(!fs::exists(files.folder() + "/backup"));
}

TEST_CASE("BackupAndRestore: user callbacks keep their state, new callbacks begin") {
  struct CounterImpl : nn::CallbackImpl {
    int epochs = 0;
    std::string class_name() const override { return "Counter"; }
    void on_epoch_end(int, const nn::Logs&) override { ++epochs; }
    void state(nn::Archive& state) override { state("epochs", epochs); }
  };
  const Files files;
  const nn::BackupAndRestore backup(files.folder() + "/backup");
  const auto train = [&](const std::vector<nn::Callback>& callbacks) {
    const Tensor x = K::ones({2, 2}), y = K::zeros({2, 1});
    std::vector<nn::Callback> all = callbacks;
    all.push_back(backup);
    small_model().fit(x, y, {.epochs = 4, .verbose = 0, .callbacks = all});
  };
  const auto first = std::make_shared<CounterImpl>(), again = std::make_shared<CounterImpl>(),
             added = std::make_shared<CounterImpl>();
  CHECK_THROWS(train({nn::Callback(first), Crash(3)}));
  CHECK(first->epochs == 2);
  train({nn::Callback(again), nn::Callback(added)});
  CHECK(again->epochs == 4);
  CHECK(added->epochs == 2);
}

TEST_CASE("BackupAndRestore: a user's train_step that trains some of the weights") {
  struct PartImpl : nn::ModelImpl {
    nn::Dense first = add_layer(nn::Dense(2, {.kernel_initializer = "ones"})),
              last = add_layer(nn::Dense(1, {.kernel_initializer = "ones"}));
    PartImpl() : nn::ModelImpl("Part") {}
    Tensor call(const Tensor& x) override { return last(first(x)); }
    nn::Logs train_step(const nn::Batch& batch) override {
      const Tensor loss = K::mean(K::square(apply(batch.x)[0]));
      optimizer().minimize(loss, last.trainable_weights());
      return {{"loss", loss}};
    }
  };
  const Files files;
  const auto train = [&](const nn::Callback& callback) {
    const nn::ModelOf<PartImpl> model;
    model.compile({.optimizer = "adam"});
    return model.fit(K::ones({2, 2}), {},
                     {.epochs = 5,
                      .verbose = 0,
                      .callbacks = {callback, nn::BackupAndRestore(files.folder() + "/backup")}});
  };
  const nn::History expected = train(nn::LambdaCallback({}));
  CHECK_THROWS(train(Crash(3)));
  CHECK(train(nn::LambdaCallback({}))["loss"] == expected["loss"]);
}

TEST_CASE("BackupAndRestore: the backup of another model is an error, and changes nothing") {
  const Files files;
  const std::string folder = files.folder() + "/backup";
  const nn::BackupAndRestore backup(folder);
  CHECK_THROWS(fit(small_model(), backup, 4, 5));
  const nn::Sequential other = small_model(3);
  const Values before = values(other.get_weights()[0]);
  const Tensor x = K::ones({6, 2});
  CHECK_THROWS_WITH_AS(
      other.fit(x, K::zeros({6, 3}), {.verbose = 0, .callbacks = {backup}}),
      Contains(
          ("[BackupAndRestore] the backup must be of this training, or be deleted: received '" + folder +
           "/latest.safetensors' ([Archive] 'weights/0' must be float32 of shape (2, 3) as 'only/kernel': "
           "received "
           "float32 of shape (2, 1))")
              .c_str()),
      ValueError);
  CHECK(values(other.get_weights()[0]) == before);
  files.write("backup/latest.safetensors", "no backup");
  CHECK_THROWS_WITH_AS(fit(small_model(), backup), Contains("latest.safetensors"), IOError);
  CHECK_THROWS_WITH_AS(nn::BackupAndRestore(""), Contains("[BackupAndRestore] backup_dir must name a folder"),
                       ValueError);
}

TEST_CASE(
    "BackupAndRestore: an interrupt or a foreign exception while restoring leaves the state of before") {
  struct BreaksImpl : nn::CallbackImpl {
    std::function<void()> broken;
    int epochs = 0;
    std::string class_name() const override { return "Breaks"; }
    void on_epoch_end(int, const nn::Logs&) override { ++epochs; }
    void state(nn::Archive& state) override {
      state("epochs", epochs);
      if (epochs > 0 && broken) std::exchange(broken, {})();
    }
  };
  const Files files;
  const nn::BackupAndRestore backup(files.folder() + "/backup");
  const auto train = [&](const nn::Sequential& model, const nn::Callback& breaks, const nn::Callback& crash) {
    model.fit(K::ones({2, 2}), K::zeros({2, 1}),
              {.epochs = 4, .verbose = 0, .callbacks = {breaks, crash, backup}});
  };
  CHECK_THROWS(train(small_model(), nn::Callback(std::make_shared<BreaksImpl>()), Crash(3)));
  const auto stays = [&](const std::function<void()>& broken) {
    const nn::Sequential model = small_model();
    const Values before = values(model.get_weights()[0]);
    const auto breaks = std::make_shared<BreaksImpl>();
    breaks->broken = broken;
    const auto restoring = [&] { train(model, nn::Callback(breaks), nn::LambdaCallback({})); };
    CHECK_THROWS(restoring());
    CHECK(values(model.get_weights()[0]) == before);
    CHECK(breaks->epochs == 0);
    restoring();
    CHECK(breaks->epochs == 4);
  };
  SUBCASE("without memory") {
    stays([] { throw std::bad_alloc(); });
  }
  SUBCASE("after Ctrl-C") {
    const AcceptsInterrupts accepts;
    stays([] {
      ktape::interrupt();
      ktape::check_interrupt();
    });
    CHECK_FALSE(ktape::clear_interrupt());
  }
}

TEST_CASE(
    "BackupAndRestore: a backup of which anything is missing or of another kind is an error or a backup") {
  const Files files;
  const std::string folder = files.folder() + "/backup", path = folder + "/latest.safetensors";
  const nn::BackupAndRestore backup(folder, {.save_freq = 1});
  CHECK_THROWS(fit(small_model(), backup, 4, 5));
  const auto entries = nn::load_safetensors(path);
  int refused = 0;
  for (std::size_t i = 0; i < entries.size(); ++i)
    for (const Tensor& value :
         {Tensor(), K::ones({3}), ints(-1, "int64"), ints(std::int64_t{1} << 62, "int64")}) {
      CAPTURE(entries[i].first);
      auto changed = entries;
      if (value.defined()) changed[i].second = value;
      else changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
      fs::create_directories(folder);
      nn::save_safetensors(path, changed);
      const nn::Sequential model = small_model();
      try {
        fit(model, backup);
      } catch (const ValueError& error) {
        ++refused;
        CHECK(std::string(error.what()).find(path) != std::string::npos);
        CHECK(values(model.get_weights()[0]) == Values{1, 1});
      }
    }
  CHECK(refused > 3 * std::ssize(entries) / 2);
}
