#include <ktape/autograd/base/error.hpp>
#include <ktape/autograd/base/log.hpp>
#include <ktape/ops/kernels/engine/engine.hpp>
#include <ktape/ops/settings/internal/config_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

namespace ktape::backend {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns the backends of Keras itself, which stand for the default engine.
const std::vector<std::string>& backends_of_keras() {
  static const std::vector<std::string> names{"tensorflow", "jax", "torch", "numpy", "openvino"};
  return names;
}

/// Lists the allowed backends for messages.
std::string backends() {
  std::string text;
  for (const auto& names : {engines(), backends_of_keras()})
    for (const std::string& name : names) text += "'" + name + "', ";
  return text + "or a shared library (a path, or a name with .so)";
}

std::string engine_of(const std::string& backend) {
  return contains(backends_of_keras(), backend) ? std::string() : backend;
}

bool is_backend(const std::string& name) {
  return contains(backends_of_keras(), name) || contains(engines(), name) || kernels::is_library(name);
}

/// An iterator over characters for the JSON parser that counts lines.
class LineCounter {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  LineCounter(const char* at, int* line) : at_(at), line_(line) {}
  reference operator*() const { return *at_; }
  LineCounter& operator++() {
    if (*at_++ == '\n') ++*line_;
    return *this;
  }
  friend bool operator==(const LineCounter& a, const LineCounter& b) { return a.at_ == b.at_; }
  friend bool operator!=(const LineCounter& a, const LineCounter& b) { return !(a == b); }

 private:
  const char* at_;
  int* line_;
};

/// Receives the parser's events. A key is reported directly after its closing quote, so the lines counted so
/// far give the line of the key.
class ConfigReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  ConfigReader(const std::string& file, const std::optional<std::string>& backend, const int& line)
      : file_(file), line_(line), backend_fixed_(backend.has_value()) {
    if (backend) config.backend = engine_of(*backend);
  }

  bool null() override { return set("null"); }
  bool number_integer(number_integer_t value) override {
    return number(static_cast<double>(value), std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return number(static_cast<double>(value), std::to_string(value));
  }
  bool number_float(number_float_t value, const string_t& text) override { return number(value, text); }
  bool binary(binary_t&) override { return set("binary data"); }
  bool start_array(std::size_t) override { return set("an array"); }
  bool end_array() override { return true; }
  bool end_object() override { return true; }
  bool start_object(std::size_t) override {
    if (started_) return set("an object");
    return started_ = true;
  }

  bool key(string_t& name) override {
    key_ = name;
    key_line_ = line_;
    if (!contains({"backend", "epsilon", "floatx", "image_data_format", "nnx_enabled"}, name))
      reject<ValueError>(key_line_, "the keys are 'backend', 'epsilon', 'floatx' and 'image_data_format'",
                         '\'' + name + '\'');
    return true;
  }

  bool string(string_t& value) override {
    if (key_ == "floatx" && contains({"float16", "bfloat16", "float32", "float64"}, value))
      config.floatx = DType(value);
    else if (key_ == "image_data_format" && contains({"channels_first", "channels_last"}, value))
      config.image_data_format = value;
    else if (key_ == "backend" && backend_fixed_) return true;
    else if (key_ == "backend" && is_backend(value)) config.backend = engine_of(value);
    else return set('\'' + value + '\'');
    return true;
  }

  bool boolean(bool value) override {
    return key_ == "nnx_enabled" || set(value ? "true" : "false");  // a switch of Keras's JAX backend
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    const char* reason = std::strstr(error.what(), "syntax error");
    reject<IOError>(line_, "the file must hold a JSON object", reason ? reason : error.what());
  }

  Config config;

 private:
  bool number(double value, const std::string& text) {
    if (key_ != "epsilon" || !(value > 0) || !std::isfinite(value)) return set(text);
    config.epsilon = value;
    return true;
  }

  /// Handles a value: the base case refuses a value of a type that no key takes.
  bool set(const std::string& received) {
    if (!started_) reject<IOError>(line_, "the file must hold a JSON object", received);
    if (key_ == "backend" && backend_fixed_) return true;
    const std::string allowed = key_ == "floatx"    ? "'float16', 'bfloat16', 'float32' or 'float64'"
                                : key_ == "epsilon" ? "a finite number above 0"
                                : key_ == "backend" ? backends()
                                                    : "'channels_first' or 'channels_last'";
    reject<ValueError>(key_line_, "'" + key_ + "' must be " + allowed, received);
  }

  template <class E>
  [[noreturn]] void reject(int line, const std::string& rule, const std::string& received) const {
    fail<E>("[keras.json] ", rule, ": received ", received, " in ", file_, ", line ", line);
  }

  const std::string& file_;
  const int& line_;
  bool backend_fixed_, started_ = false;
  std::string key_;
  int key_line_ = 1;
};

/// Returns an environment variable; none for an empty variable, as in Keras.
std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (!value || !*value) return {};
  return value;
}

/// Warns of a file that is not read, and returns none.
std::nullopt_t ignored(const std::string& file, const char* reason) {
  log::write(log::Level::Warn,
             "[keras.json] the file must be a regular one that can be read, and is ignored: received " +
                 file + " (" + reason + ')');
  return std::nullopt;
}

std::optional<std::string> read_file(const std::string& file) {
  // O_NONBLOCK: opening a pipe would otherwise wait for a writer.
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return ignored(file, std::strerror(errno));
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(fdopen(descriptor, "rb"), &std::fclose);
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return ignored(file, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return ignored(file, "no regular file");
  std::string text;
  char buffer[4096];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, in.get())) text.append(buffer, n);
  if (std::ferror(in.get())) return ignored(file, std::strerror(errno));
  return text;
}

}  // namespace

std::vector<std::string> engines() { return kernels::built_in_engines(); }

Config parse_config(std::string_view text, const std::string& file,
                    const std::optional<std::string>& backend) {
  int line = 1;
  ConfigReader reader(file, backend, line);
  nlohmann::json::sax_parse(LineCounter(text.data(), &line), LineCounter(text.data() + text.size(), &line),
                            &reader);
  return reader.config;
}

Config load_config() {
  const std::optional<std::string> backend = environment("KERAS_BACKEND");
  if (backend && !is_backend(*backend))
    fail("[backend] KERAS_BACKEND must be ", backends(), ": received '", *backend, "'");
  std::string file;
  if (const auto folder = environment("KERAS_HOME")) file = *folder + "/keras.json";
  else if (const auto home = environment("HOME")) file = *home + "/.keras/keras.json";
  if (const auto text = file.empty() ? std::nullopt : read_file(file))
    return parse_config(*text, file, backend);
  Config config;
  if (backend) config.backend = engine_of(*backend);
  return config;
}

}  // namespace ktape::backend
