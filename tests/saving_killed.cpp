// Kills a program that saves a model over and over, at random moments and after every system call of a save:
// the file is a complete model each time, the old model or the new, and can be written again.
//
//     saving_killed [how many random moments]
#include <ktape/ktape.hpp>

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <thread>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace fs = std::filesystem;
using ktape::Tensor, ktape::Variable;

namespace {

[[noreturn]] void fail(const std::string& text) {
  std::printf("saving_killed: %s\n", text.c_str());
  std::exit(1);
}

/// Returns all variables that a save writes to the file.
std::vector<Variable> variables(const nn::Model& model) {
  std::vector<Variable> all = model.weights();
  for (const Variable& variable : model.optimizer().variables()) all.push_back(variable);
  return all;
}

nn::Model made() {
  const nn::Sequential model({nn::Input({128}), nn::Dense(256, {.activation = "relu"}), nn::Dense(16)});
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.train_on_batch(K::ones({1, 128}), K::ones({1, 16}));
  return model;
}

/// Writes the number into every element without calling ops: the function runs after a fork, in one thread.
void fill(const nn::Model& model, int number) {
  for (Variable variable : variables(model)) {
    const Tensor value = Tensor::empty(variable.shape(), variable.dtype());
    if (variable.dtype().is_floating())
      std::fill_n(value.pointer<float>(), value.size(), static_cast<float>(number));
    else std::fill_n(value.pointer<std::int64_t>(), value.size(), number);
    variable.assign(value);
  }
}

/// Returns the number in all elements of the file.
int number_in(const std::string& path) {
  const nn::Model model = nn::load_model(path);
  const int number = model.optimizer().iterations().item<int>();
  for (const Variable& variable : variables(model)) {
    const double least = K::min(variable).item<double>(), most = K::max(variable).item<double>();
    if (least != number || most != number)
      fail("'" + variable.name() + "' is of another save than the rest of the file");
  }
  return number;
}

pid_t begin(const std::function<void()>& program) {
  const pid_t child = fork();
  if (child < 0) fail("there must be another process");
  if (child == 0) {
    try {
      program();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "saving_killed: %s\n", error.what());
      _exit(2);
    }
    _exit(0);
  }
  return child;
}

/// Saves again and again, with a higher number each time, until it is killed after some time.
void kill_after(std::chrono::microseconds delay, const nn::Model& model, const std::string& path, int from) {
  const pid_t child = begin([&] {
    for (int number = from;; ++number) {
      fill(model, number);
      model.save(path);
    }
  });
  std::this_thread::sleep_for(delay);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFSIGNALED(status)) fail("saving must not end by itself");
}

/// Saves once in a child that is killed after `count` entries to, or returns from, system calls. Returns
/// false if the save makes fewer calls, or if calls cannot be watched on this system.
bool kill_at_call(int count, const nn::Model& model, const std::string& path, int number) {
  fill(model, number);
  const pid_t child = begin([&] {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(0);
    raise(SIGSTOP);
    model.save(path);
  });
  int status = 0;
  waitpid(child, &status, 0);
  for (; count > 0 && WIFSTOPPED(status); --count) {
    ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    waitpid(child, &status, 0);
  }
  if (!WIFSTOPPED(status)) return false;
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return true;
}

int count_files(const std::string& folder) {
  return static_cast<int>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

int main(int argc, char** argv) {
  const int moments = argc > 1 ? std::atoi(argv[1]) : 200;
  std::string folder = (fs::temp_directory_path() / "ktape-killed-XXXXXX").string();
  if (!mkdtemp(folder.data())) fail("there must be a folder for temporary files");
  const std::string path = folder + "/model.ktape";
  const nn::Model model = made();
  int number = 1;
  const auto start = std::chrono::steady_clock::now();
  constexpr int tries = 5;
  for (; number <= tries; ++number) {
    fill(model, number);
    model.save(path);
  }
  const auto time = (std::chrono::steady_clock::now() - start) / tries;

  // The time of a save varies: moments are spread over a few of them.
  std::mt19937 random(1);
  std::uniform_real_distribution<double> share(0, 3);
  int saved = 0, left = 0;
  // A busy machine may need more moments until enough of them lie within saves.
  const auto enough = [&] { return saved >= moments / 10 && left >= moments / 10; };
  for (int i = 0; i < moments || (!enough() && i < 5 * moments); ++i) {
    const int before = number_in(path), files = count_files(folder);
    kill_after(std::chrono::duration_cast<std::chrono::microseconds>(time * share(random)), model, path,
               before + 1);
    const int after = number_in(path);
    if (after < before) fail("an older file must not come back");
    saved += after > before;
    left += count_files(folder) > files;
  }
  if (!enough())
    fail("the kills must hit the saves: " + std::to_string(saved) + " killed after a save, " +
         std::to_string(left) + " within a save");

  int calls = 0;
  for (number = number_in(path) + 1; kill_at_call(calls, model, path, number); ++calls) {
    const int found = number_in(path);
    if (found == number) ++number;
    else if (found != number - 1) fail("the file must be the file from before or after a save");
  }

  fill(model, 1000000);
  model.save(path);
  if (number_in(path) != 1000000) fail("the file must be written again");
  std::printf("killed %d times at random, %d of them within a save, and after %d system calls\n", moments,
              left, calls);
  fs::remove_all(folder);
}
