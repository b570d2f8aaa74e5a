#include <ktape/nn/program_options.hpp>

#include <ktape/autograd/base/error.hpp>
#include <ktape/nn/core/dtype_policy.hpp>
#include <ktape/nn/files/folders.hpp>

#include <charconv>

namespace ktape::nn {

namespace {

int whole_number(const std::string& name, const std::string& text, int least) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < least)
    fail("[program_options] ", name, " must be a whole number from ", least, " on: received ", name, "=",
         text);
  return number;
}

}  // namespace

ProgramOptions program_options(int argc, const char* const* argv, const ProgramOptions& defaults) {
  ProgramOptions options = defaults;
  int epochs = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&]() -> std::string {
      if (++i == argc) fail("[program_options] ", name, " must be followed by its value: received nothing");
      return argv[i];
    };
    if (name == "--epochs") epochs = whole_number(name, value(), 1);
    else if (name == "--seed") options.seed = whole_number(name, value(), 0);
    else if (name == "--data") options.data = value();
    else if (name == "--out") options.out = value();
    else if (name == "--quick") options.quick = true;
    else if (name == "--policy") options.policy = value();
    else
      fail(
          "[program_options] the options are --epochs N, --seed N, --data PATH, --out FOLDER, --policy NAME "
          "and --quick: received ",
          name);
  }
  if (epochs > 0) options.epochs = epochs;
  else if (options.quick) options.epochs = options.quick_epochs;
  if (!options.policy.empty()) set_dtype_policy(options.policy);
  if (!options.out.empty()) make_folder("program_options", options.out);
  return options;
}

}  // namespace ktape::nn
