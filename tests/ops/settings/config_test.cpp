#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ktape/ktape.hpp>
#include <ktape/ops/settings/internal/config_file.hpp>
#include <limits>
#include <thread>

#include "../catalogue.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::IOError, ktape::ValueError;

namespace {

/// A scope that restores the settings at its end.
struct RestoredSettings {
  double epsilon = K::epsilon();
  ktape::DType floatx = K::floatx();
  std::string data_format = K::image_data_format();
  ~RestoredSettings() {
    K::set_epsilon(epsilon);
    K::set_floatx(floatx);
    K::set_image_data_format(data_format);
  }
};

K::Config parsed(const std::string& text, const std::optional<std::string>& backend = {}) {
  return K::parse_config(text, "home/keras.json", backend);
}

/// Runs the test "config file reader" of this program in a process with its own environment; returns what it
/// printed.
std::string report_of_process(const std::string& environment) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = "env -u KERAS_HOME -u KERAS_BACKEND " + environment + " '" + program +
                              "' --no-skip --test-case='config file reader' 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string report;
  char line[512];
  while (std::fgets(line, sizeof line, pipe)) report += line;
  CHECK(WEXITSTATUS(pclose(pipe)) == 0);
  return report;
}

struct TemporaryFolder {
  std::filesystem::path path;
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ktape-config-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((path / file).parent_path());
    std::ofstream(path / file) << text;
  }
};

}  // namespace

TEST_CASE("epsilon, floatx and image_data_format have Keras's defaults and setters") {
  RestoredSettings restored;
  CHECK(K::floatx() == "float32");
  CHECK(K::epsilon() == 1e-7);
  CHECK(K::image_data_format() == "channels_last");
  for (const char* name : {"float16", "float32", "float64"}) {
    K::set_floatx(name);
    CHECK(K::floatx() == name);
  }
  K::set_floatx(std::string("float64"));
  K::set_floatx(K::floatx());
  CHECK(K::floatx() == "float64");
  K::set_epsilon(1e-5);
  CHECK(K::epsilon() == 1e-5);
  K::set_image_data_format("channels_first");
  CHECK(K::image_data_format() == "channels_first");
}

TEST_CASE("setters refuse values that are not allowed and change nothing") {
  RestoredSettings restored;
  CHECK_THROWS_WITH_AS(
      K::set_floatx("float12"),
      "[set_floatx] floatx must be 'float16', 'bfloat16', 'float32' or 'float64': received value='float12'",
      ValueError);
  CHECK_THROWS_WITH_AS(K::set_floatx(ktape::DType::Int32), Contains("int32"), ValueError);
  CHECK_THROWS_WITH_AS(K::set_image_data_format("channels_middle"), Contains("channels_last"), ValueError);
  CHECK_THROWS_AS(K::set_image_data_format(""), ValueError);
  for (double bad : {0.0, -1e-7, std::numeric_limits<double>::infinity(), std::nan("")})
    CHECK_THROWS_WITH_AS(K::set_epsilon(bad), Contains("finite and above 0"), ValueError);
  CHECK_THROWS_WITH_AS(K::set_learning_phase(2),
                       Contains("learning_phase must be 0 (test) or 1 (train): received value=2"),
                       ValueError);
  CHECK_THROWS_AS(K::learning_phase_scope(-1), ValueError);
  CHECK(K::floatx() == "float32");
  CHECK(K::image_data_format() == "channels_last");
  CHECK(K::epsilon() == 1e-7);
  CHECK(K::learning_phase() == 0);
}

TEST_CASE("the backend is one of the engines") {
  bool found = false;
  for (const std::string& engine : K::engines()) found = found || engine == K::backend();
  CHECK_MESSAGE(found, K::backend());
}

TEST_CASE("uids are counted per prefix until they are reset") {
  K::reset_uids();
  CHECK(K::get_uid("dense") == 1);
  CHECK(K::get_uid("dense") == 2);
  CHECK(K::get_uid() == 1);
  CHECK(K::get_uid("conv") == 1);
  K::set_learning_phase(1);
  K::clear_session();
  CHECK(K::learning_phase() == 0);
  CHECK(K::get_uid("dense") == 1);
  K::reset_uids();

  std::thread other([] {
    for (int i = 0; i < 1000; ++i) K::get_uid("shared");
  });
  for (int i = 0; i < 1000; ++i) K::get_uid("shared");
  other.join();
  CHECK(K::get_uid("shared") == 2001);
  K::reset_uids();
}

TEST_CASE("the learning phase is restored at the end of a scope") {
  CHECK(K::learning_phase() == 0);
  {
    K::learning_phase_scope train(1);
    CHECK(K::learning_phase() == 1);
    K::learning_phase_scope test(0);
    CHECK(K::learning_phase() == 0);
  }
  CHECK(K::learning_phase() == 0);
}

TEST_CASE("name scopes nest, per thread") {
  CHECK(K::current_name_scope() == "");
  {
    K::name_scope outer("encoder");
    K::name_scope inner("dense");
    CHECK(K::current_name_scope() == "encoder/dense/");
    std::string elsewhere = "unset";
    std::thread([&] { elsewhere = K::current_name_scope(); }).join();
    CHECK(elsewhere == "");
    {
      K::name_scope replaced("decoder/");
      CHECK(K::current_name_scope() == "decoder/");
      K::name_scope none("");
      CHECK(K::current_name_scope() == "");
    }
    CHECK(K::current_name_scope() == "encoder/dense/");
  }
  CHECK(K::current_name_scope() == "");
}

TEST_CASE("sessions are there and do nothing") { CHECK_NOTHROW(K::set_session(K::get_session())); }

TEST_CASE("symbolic and eager call functions of plain values at once; manual initialization is a setting") {
  CHECK_FALSE(K::manual_variable_initialization());
  K::manual_variable_initialization(true);
  CHECK(K::manual_variable_initialization());
  K::manual_variable_initialization(false);
  const auto twice = [](int x) { return 2 * x; };
  CHECK(K::symbolic(twice)(4) == 8);
  CHECK(K::eager(twice)(4) == 8);
}

TEST_CASE("a configuration file sets any of the four keys") {
  const K::Config empty = parsed("{}");
  CHECK(empty.floatx == "float32");
  CHECK(empty.epsilon == 1e-7);
  CHECK(empty.image_data_format == "channels_last");
  CHECK(empty.backend == "");
  const K::Config full = parsed(
      "{\n  \"image_data_format\": \"channels_first\",\n  \"epsilon\": 1e-05,\n"
      "  \"floatx\": \"float64\",\n  \"backend\": \"xtensor\"\n}\n");
  CHECK(full.floatx == "float64");
  CHECK(full.epsilon == 1e-5);
  CHECK(full.image_data_format == "channels_first");
  CHECK(full.backend == "xtensor");
  for (const std::string backend : {"tensorflow", "jax", "torch", "numpy", "openvino"})
    CHECK(parsed("{\"backend\": \"" + backend + "\", \"nnx_enabled\": false}").backend == "");
  CHECK(parsed("{\"epsilon\": 1}").epsilon == 1);
  CHECK(parsed("{\"backend\": \"theano\"}", "xtensor").backend == "xtensor");
  CHECK(parsed("{\"backend\": 7}", "tensorflow").backend == "");
  CHECK(parsed("{\"backend\": \"folder/engine\"}").backend == "folder/engine");
  CHECK(parsed("{\"backend\": \"libengine.so.1\"}").backend == "libengine.so.1");
}

TEST_CASE("a bad configuration file is an error with file, line and the allowed values") {
  CHECK_THROWS_WITH_AS(
      parsed("{\n  \"epsilon\": 1e-7,\n  \"floatx\": \"float12\"\n}"),
      "[keras.json] 'floatx' must be 'float16', 'bfloat16', 'float32' or 'float64': received 'float12' in "
      "home/keras.json, line 3",
      ValueError);
  CHECK_THROWS_WITH_AS(
      parsed("{\n\n\"flotx\": \"float32\"}"),
      "[keras.json] the keys are 'backend', 'epsilon', 'floatx' and 'image_data_format': received 'flotx' "
      "in home/keras.json, line 3",
      ValueError);
  CHECK_THROWS_WITH_AS(parsed("{\"image_data_format\": \"tf\"}"),
                       Contains("'channels_first' or 'channels_last'"), ValueError);
  CHECK_THROWS_WITH_AS(parsed("{\"backend\":\n \"theano\"}"), Contains(".so): received 'theano' in"),
                       ValueError);
  CHECK_THROWS_WITH_AS(parsed("{\"backend\":\n \"theano\"}"), Contains("'xtensor'"), ValueError);
  CHECK_THROWS_WITH_AS(parsed("{\"epsilon\": -1\n}"),
                       Contains("a finite number above 0: received -1 in home/keras.json, line 1"),
                       ValueError);
  for (const char* value : {"0", "0.0", "\"1e-7\"", "null", "true", "[1]", "{}"})
    CHECK_THROWS_WITH_AS(parsed("{\"epsilon\": " + std::string(value) + "}"), Contains("'epsilon' must be"),
                         ValueError);
  for (const char* value : {"32", "null", "[\"float32\"]", "{\"floatx\": 1}"})
    CHECK_THROWS_WITH_AS(parsed("{\"floatx\": " + std::string(value) + "}"), Contains("'floatx' must be"),
                         ValueError);
}

TEST_CASE("text that is no JSON object is an IOError with the line") {
  CHECK_THROWS_WITH_AS(parsed("{\n  \"floatx\": \"float32\"\n  \"epsilon\": 1\n}"),
                       Contains("in home/keras.json, line 3"), IOError);
  for (const char* text :
       {"", "{", "[]", "3", "\"floatx\"", "{\"epsilon\": 1e999}", "{'epsilon': 1}", "{} {}", "\xff{}"})
    CHECK_THROWS_WITH_AS(parsed(text), Contains("home/keras.json, line 1"), IOError);
}

TEST_CASE("config file reader" * doctest::skip()) {
  try {
    std::printf("backend=%s floatx=%s epsilon=%g format=%s\n", K::backend().c_str(), K::floatx().name(),
                K::epsilon(), K::image_data_format().c_str());
    if (const char* home = std::getenv("KERAS_HOME"))
      std::ofstream(std::string(home) + "/keras.json")
          << R"({"epsilon": 0.5, "image_data_format": "channels_last"})";
    std::printf("later epsilon=%g format=%s\n", K::epsilon(), K::image_data_format().c_str());
    K::set_floatx("float16");
    std::printf("then floatx=%s\n", K::floatx().name());
  } catch (const ktape::Error& error) {
    std::printf("error: %s\n", error.what());
  }
}

TEST_CASE("the file is read from KERAS_HOME, then from HOME, and KERAS_BACKEND goes first") {
  TemporaryFolder folder;
  const std::string home = "HOME='" + folder.path.string() + "'",
                    keras_home = "KERAS_HOME='" + folder.path.string() + "/own'";
  CHECK(report_of_process(home).find("floatx=float32 epsilon=1e-07 format=channels_last") !=
        std::string::npos);
  CHECK(std::filesystem::is_empty(folder.path));

  folder.write(".keras/keras.json", "{\"floatx\": \"float64\", \"backend\": \"theano\"}");
  CHECK(report_of_process(home).find("received 'theano' in") != std::string::npos);
  const std::string report = report_of_process(home + " KERAS_BACKEND=xtensor");
  CHECK(report.find("backend=xtensor floatx=float64") != std::string::npos);
  CHECK(report.find("then floatx=float16") != std::string::npos);
  CHECK(report_of_process("KERAS_BACKEND=cntk").find("KERAS_BACKEND must be ") != std::string::npos);

  folder.write("own/keras.json", "{\"epsilon\": 1e-4, \"image_data_format\": \"channels_first\"}");
  // The reader changes the file after its first use: that is for the next process.
  const std::string own = report_of_process(home + ' ' + keras_home);
  CHECK(own.find("floatx=float32 epsilon=0.0001 format=channels_first") != std::string::npos);
  CHECK(own.find("later epsilon=0.0001 format=channels_first") != std::string::npos);
  CHECK(report_of_process(home + ' ' + keras_home).find("floatx=float32 epsilon=0.5 format=channels_last") !=
        std::string::npos);
}

TEST_CASE("a configuration file that is no regular one, or cannot be read, is ignored with a warning") {
  TemporaryFolder folder;
  folder.write(".keras/keras.json", "{}");
  const std::filesystem::path file = folder.path / ".keras/keras.json";
  const auto ignored = [&](const char* reason) {
    CAPTURE(reason);
    const std::string report = report_of_process("KTAPE_LOG=warn HOME='" + folder.path.string() + "'");
    CHECK(report.find("and is ignored: received " + file.string() + " (" + reason + ")") !=
          std::string::npos);
    CHECK(report.find("floatx=float32 epsilon=1e-07 format=channels_last") != std::string::npos);
    std::filesystem::remove(file);
  };
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  ignored("no regular file");
  REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  ignored("no regular file");
  std::filesystem::create_symlink("/dev/zero", file);
  ignored("no regular file");
  std::filesystem::create_symlink("keras.json", file);
  ignored("Too many levels of symbolic links");
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      // Settings and state.
      {"backend", no_gradient}, {"epsilon", no_gradient}, {"set_epsilon", no_gradient},
      {"floatx", no_gradient}, {"set_floatx", no_gradient}, {"image_data_format", no_gradient},
      {"set_image_data_format", no_gradient}, {"get_uid", no_gradient}, {"reset_uids", no_gradient},
      {"clear_session", no_gradient}, {"get_session", no_gradient}, {"set_session", no_gradient},
      {"learning_phase", no_gradient}, {"set_learning_phase", no_gradient},
      {"learning_phase_scope", no_gradient}, {"name_scope", no_gradient}, {"current_name_scope", no_gradient},
      {"manual_variable_initialization", no_gradient}, {"set_deterministic", no_gradient},
      {"deterministic", no_gradient},
  };
});
// clang-format on

}  // namespace
