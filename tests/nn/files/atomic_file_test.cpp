#include "../../hdf5.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/files/atomic_file.hpp>

#include "../data/files.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

using doctest::Contains;
using ktape::IOError, ktape::nn::saving::AtomicFile;
namespace fs = std::filesystem;
namespace nn = ktape::nn;

namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& text) {
  AtomicFile file("save", path);
  file.write(text);
  file.commit();
}

int count(const std::string& folder) {
  return static_cast<int>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

void check_error(const std::string& path, const char* reason) {
  CAPTURE(path);
  CHECK_THROWS_WITH_AS(write(path, "new"), Contains(reason), IOError);
  CHECK_THROWS_WITH_AS(write(path, "new"),
                       Contains(("[save] the file must be writable: received " + path + " (").c_str()),
                       IOError);
}

/// A scope in which no file can become longer, as on a full disk.
class NoRoom {
 public:
  explicit NoRoom(rlim_t bytes) {
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit limit{bytes, before_.rlim_max};
    handler_ = signal(SIGXFSZ, SIG_IGN);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~NoRoom() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_;
  void (*handler_)(int);
};

/// A scope in which root, who may write everywhere, is another user, who owns these files.
class NotRoot {
 public:
  explicit NotRoot(const std::vector<std::string>& files) : before_(geteuid()) {
    constexpr uid_t nobody = 65534;
    if (before_ != 0) return;
    for (const std::string& file : files) REQUIRE(chown(file.c_str(), nobody, nobody) == 0);
    REQUIRE(seteuid(nobody) == 0);
  }
  ~NotRoot() { CHECK(seteuid(before_) == 0); }

 private:
  uid_t before_;
};

}  // namespace

TEST_CASE("AtomicFile: the old file is there until the new one is committed") {
  const Files files;
  const std::string path = files.write("model", "old");
  {
    AtomicFile file("save", path);
    file.write("ne");
    file.write("w");
    CHECK(file.size() == 3);
    CHECK(content(path) == "old");
    CHECK(content(file.temporary()) == "new");
    CHECK(fs::path(file.temporary()).parent_path() == files.folder());
    file.commit();
  }
  CHECK(content(path) == "new");
  CHECK(count(files.folder()) == 1);
}

TEST_CASE("AtomicFile: without a commit no file remains") {
  const Files files;
  const std::string path = files.write("model", "old");
  AtomicFile("save", path).write("new");
  CHECK(content(path) == "old");
  CHECK(count(files.folder()) == 1);
}

TEST_CASE("AtomicFile: two writers of one name do not disturb each other") {
  const Files files;
  const std::string path = files.folder() + "/model";
  AtomicFile first("save", path), second("save", path);
  first.write("first");
  second.write("second");
  second.commit();
  CHECK(content(path) == "second");
  first.commit();
  CHECK(content(path) == "first");
}

TEST_CASE("AtomicFile: a file that cannot be written is an error that names the file") {
  const Files files;
  const std::string old = files.write("old", "old");
  check_error(files.folder() + "/none/model", "No such file or directory");
  check_error(files.folder(), "Is a directory");
  check_error(files.folder() + "/", "Is a directory");
  check_error(old + "/model", "Not a directory");
  check_error("", "No such file or directory");
  check_error(files.folder() + "/" + std::string(300, 'x'), "File name too long");
  check_error("/dev/null", "it is not a regular file");
  CHECK(count(files.folder()) == 1);
}

TEST_CASE("AtomicFile: files and folders without permission") {
  const Files files;
  const std::string path = files.write("folder/model", "old"), folder = files.folder() + "/folder";
  fs::permissions(files.folder(), fs::perms(0755));
  fs::permissions(path, fs::perms(0444));
  {
    const NotRoot user({path, folder});
    check_error(path, "Permission denied");
    fs::permissions(path, fs::perms(0644));
    fs::permissions(folder, fs::perms(0555));
    check_error(path, "Permission denied");
    fs::permissions(folder, fs::perms(0755));
    CHECK(content(path) == "old");
    write(path, "new");
  }
  CHECK(content(path) == "new");
}

TEST_CASE("AtomicFile: a full disk leaves the old file") {
  const Files files;
  const std::string path = files.write("model", "old");
  {
    const NoRoom full(1000);
    CHECK_THROWS_WITH_AS(write(path, std::string(1001, 'n')), Contains("(File too large)"), IOError);
    CHECK(content(path) == "old");
    write(path, std::string(1000, 'n'));
  }
  CHECK(content(path) == std::string(1000, 'n'));
  CHECK(count(files.folder()) == 1);
}

TEST_CASE("AtomicFile: links and permissions do not change") {
  const Files files;
  const std::string path = files.write("folder/model", "old"), link = files.folder() + "/link";
  fs::permissions(path, fs::perms(0640));
  fs::create_symlink("folder/model", link);
  write(link, "new");
  CHECK(fs::is_symlink(link));
  CHECK(content(path) == "new");
  CHECK(fs::status(path).permissions() == fs::perms(0640));
}

TEST_CASE("AtomicFile: the next writer removes the temporary files of killed writers") {
  const Files files;
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  waitpid(gone, nullptr, 0);
  files.write(".ktape-" + std::to_string(gone) + "-0", "half");
  files.write(".ktape-" + std::to_string(gone) + "-12", "half");
  const std::string other = files.write(".ktape-" + std::to_string(gone) + "-12.txt", "a file of the user's"),
                    alive = files.write(".ktape-" + std::to_string(getpid()) + "-99", "of this program");
  write(files.folder() + "/model", "new");
  CHECK(count(files.folder()) == 3);
  CHECK(fs::exists(other));
  CHECK(fs::exists(alive));
}

TEST_CASE("a full disk is an error of every format, and the old file stays" * needs_hdf5) {
  const Files files;
  const nn::Sequential model({nn::Input({100}), nn::Dense(100)});
  for (const std::string name :
       {"m.h5", "m.keras", "m.ktape", "m.weights.h5", "m.safetensors", "m.npz", "m/model.json"}) {
    CAPTURE(name);
    const std::string path = files.folder() + '/' + name;
    const bool whole = name == "m.h5" || name == "m.keras" || name == "m.ktape" || name == "m/model.json";
    const auto save = [&] { whole ? model.save(path) : model.save_weights(path); };
    save();
    const std::string before = content(path);
    {
      const NoRoom full(1000);
      CHECK_THROWS_WITH_AS(save(), Contains(path.substr(0, path.rfind('/')).c_str()), IOError);
    }
    CHECK(content(path) == before);
    CHECK_NOTHROW(whole ? (void)nn::load_model(path) : model.load_weights(path));
  }
}

TEST_CASE("writers of one TensorFlow.js model take turns") {
  const Files files;
  const std::string path = files.folder() + "/model.json";
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer)
    writers.emplace_back([&, writer] {
      const nn::Constant same(writer);
      const nn::Sequential model(
          {nn::Input({8}), nn::Dense(8, {.kernel_initializer = same, .bias_initializer = same})});
      for (int i = 0; i < 5; ++i) model.save(path);
    });
  for (std::thread& writer : writers) writer.join();
  const nn::Model last = nn::load_model(path);
  CHECK(last.get_weights()[0].item(0, 0) == last.get_weights()[1].item(0));
  CHECK(count(files.folder()) == 2);
}
