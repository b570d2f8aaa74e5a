// Starts programs of several processes, and ends some of the processes: checks that all end, with a message.
//
//     distributed_launch_tests       KTAPE_WORKER names the program, KTAPE_MPIRUN what starts it
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace K = ktape::backend;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

struct Run {
  int status = 0;
  double seconds = 0;
  std::string text;

  int count(const std::string& words) const {
    int found = 0;
    for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos; at += words.size()) ++found;
    return found;
  }
};

std::string host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// A new folder that is removed at the end. The path is short, for Open MPI puts sockets into temporary folders.
class Folder {
 public:
  Folder() {
    path_ = (fs::temp_directory_path() / "ktape_XXXXXX").string();
    REQUIRE(mkdtemp(path_.data()));
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const char* name) const { return path_ + '/' + name; }

 private:
  std::string path_;
};

/// Starts a program of several processes and reads the output. Each launcher gets a temporary folder: a launcher
/// that ends removes the folder that the launchers of a user share, also while another launcher creates it.
class Program {
 public:
  Program(int processes, const std::string& arguments, const std::string& environment = "")
      : began_(Clock::now()),
        output_(popen(("TMPDIR=" + temporary_.path() + ' ' + environment + " exec " KTAPE_MPIRUN " -n " +
                       std::to_string(processes) + " " KTAPE_WORKER " " + arguments + " 2>&1")
                          .c_str(),
                      "r")) {
    REQUIRE(output_);
  }
  bool line(std::string& out) {
    std::array<char, 4096> buffer;
    if (!std::fgets(buffer.data(), buffer.size(), output_)) return false;
    out = buffer.data();
    text_ += out;
    return true;
  }
  Run end() {
    for (std::string rest; line(rest);) {
    }
    const int status = pclose(output_);
    return {status, std::chrono::duration<double>(Clock::now() - began_).count(), text_};
  }

 private:
  Folder temporary_;
  Clock::time_point began_;
  FILE* output_;
  std::string text_;
};

Run run(int processes, const std::string& arguments, const std::string& environment = "") {
  return Program(processes, arguments, environment).end();
}

/// Returns whether the process ends soon. A dead process whose parent has not waited for it is still listed,
/// in state Z.
bool ends(pid_t process) {
  for (int round = 0; round < 100; ++round) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (text.empty() || text.find(") Z ") != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

struct Killed {
  std::chrono::milliseconds moment{};
  Run run;
  double seconds = 0;  ///< until all had ended
  bool all_ended = true;
};

/// Kills one of two processes of an endless training and returns the end of both.
Killed killed(std::chrono::milliseconds moment, std::size_t victim) {
  Program program(2, "endless");
  std::vector<pid_t> processes;
  for (std::string line; processes.size() < 2 && program.line(line);)
    if (line.starts_with("process ")) processes.push_back(std::stoi(line.substr(8)));
  if (processes.size() < 2) return {moment, program.end()};
  std::this_thread::sleep_for(moment);
  const auto began = Clock::now();
  kill(processes[victim], SIGKILL);
  Killed out{moment, program.end()};
  out.seconds = std::chrono::duration<double>(Clock::now() - began).count();
  for (const pid_t process : processes) out.all_ended = out.all_ended && ends(process);
  return out;
}

double distance(const std::string& a, const std::string& b) {
  const auto left = ktape::data::load_npz(a), right = ktape::data::load_npz(b);
  REQUIRE(left.size() == right.size());
  double most = 0;
  for (auto x = left.begin(), y = right.begin(); x != left.end(); ++x, ++y)
    most = std::max(most, K::max(K::abs(x->second - y->second)).item<double>());
  return most;
}

}  // namespace

TEST_CASE("without mpirun the program is one process") {
  const Folder folder;
  FILE* alone =
      popen((KTAPE_WORKER " train " + folder / "alone.npz" + ' ' + folder / "a" + " 2").c_str(), "r");
  REQUIRE(pclose(alone) == 0);
  REQUIRE(run(2, "train " + folder / "two.npz" + ' ' + folder / "b" + " 2").status == 0);
  CHECK(distance(folder / "alone.npz", folder / "two.npz") < 1e-5);
}

TEST_CASE("a training resumes with another number of processes, between epochs and within an epoch") {
  const Folder folder;
  REQUIRE(run(1, "train " + folder / "expected.npz" + ' ' + folder / "whole" + " 6").status == 0);
  const std::string arguments = "train " + folder / "received.npz" + ' ' + folder / "backup";
  SUBCASE("between epochs") {}
  SUBCASE("within an epoch") {
    const Run killed = run(2, arguments + " 3", "DIES_BEFORE=8");
    CHECK(killed.status != 0);
    CHECK(fs::exists(folder / "backup/latest.safetensors"));
  }
  REQUIRE(run(2, arguments + " 3").status == 0);
  REQUIRE(run(4, arguments + " 5").status == 0);
  REQUIRE(run(1, arguments + " 6").status == 0);
  CHECK(distance(folder / "expected.npz", folder / "received.npz") < 1e-5);
}

TEST_CASE("one message says which process failed, where and why") {
  const std::string where = "[distributed] rank 1 on " + host();
  const auto check = [&](const char* how, const std::string& message, double seconds) {
    const Run ended = run(2, std::string(how) + " 1");
    INFO(how, ": ", ended.text);
    CHECK(ended.status != 0);
    CHECK(ended.count("[distributed]") == 1);
    CHECK(ended.count(message) == 1);
    CHECK(ended.seconds < seconds);
  };
  SUBCASE("that throws in a training") { check("throw", where + " failed: the disk is on fire\n", 60); }
  SUBCASE("that throws elsewhere") { check("uncaught", where + " failed: nobody caught this\n", 60); }
  SUBCASE("that leaves") { check("leave", where + " left while others wait for it\n", 60); }
  SUBCASE("that does not respond") {
    check("lag", where + " does not respond: rank 0 on " + host() + " has waited 2", 25);
  }
}

TEST_CASE("an error in all processes is reported once") {
  const Run ended = run(4, "mismatch 2");
  INFO(ended.text);
  CHECK(ended.status != 0);
  CHECK(ended.count("[distributed] rank 0 on " + host() +
                    " failed: [compile] all processes must agree: "
                    "received 'hidden/kernel' of float32 and shape (12, 25) in rank 2 on ") == 1);
  CHECK(ended.count("[distributed]") == 1);
}

TEST_CASE("a process that is killed at any time ends all processes") {
  constexpr int rounds = 10, at_once = 5;  // a launcher takes a second to end, mostly asleep
  std::mt19937 random(7);
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::future<Killed>> running;
    for (int i = 0; i < at_once; ++i) {
      // Many early moments: the exchange before the first step takes some milliseconds.
      const std::chrono::milliseconds moment(random() % (i % 2 ? 1000 : 40));
      running.push_back(std::async(std::launch::async, killed, moment, random() % 2));
    }
    for (std::future<Killed>& one : running) {
      const Killed killed = one.get();
      INFO("killed after ", killed.moment.count(), " ms: ", killed.run.text);
      CHECK(killed.seconds < 15);
      CHECK(killed.run.status != 0);
      CHECK(killed.run.count("exited on signal 9 (Killed)") == 1);
      CHECK(killed.run.count("on node " + host()) >= 1);
      CHECK(killed.run.count("noticed that process rank ") == 1);
      CHECK(killed.all_ended);
    }
  }
}
