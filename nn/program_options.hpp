#pragma once
#include <string>

namespace ktape::nn {

/// The command line options of a program that trains a model, see `program_options`.
struct ProgramOptions {
  int epochs = 1;
  int quick_epochs = 1;  ///< the number of epochs with `--quick`; not set by an option
  int seed = 1;          ///< the seed of all random numbers
  std::string data = {};
  std::string out = {};     ///< a folder for pictures and reports; empty: nothing is written
  bool quick = false;       ///< a small run, to check that everything works
  std::string policy = {};  ///< the dtype policy that was set; empty: none
};

/// Reads a program's command line over its defaults:
///
///   --epochs N     how often the data are gone through; quick_epochs with --quick, unless given
///   --seed N       for K::set_random_seed
///   --data PATH    the file or folder to learn from
///   --out FOLDER   where to write to; made where it is missing
///   --quick        a small run
///   --policy NAME  the dtype policy of all layers, for `set_dtype_policy`: "mixed_bfloat16", "mixed_float16",
///                  "float32", ...
///
///     const auto options = nn::program_options(argc, argv, {.epochs = 20, .data = "digits.csv.gz"});
///
/// Throws ValueError, which lists the options, for any other argument, an option without its value, epochs
/// below 1, a seed that is not a whole number of at least 0, and an unknown policy; IOError if the folder
/// cannot be created.
///
///     const char* arguments[] = {"digits", "--epochs", "3"};
///     auto options =
///         nn::program_options(3, const_cast<char**>(arguments), {.epochs = 20});
///     std::cout << options.epochs;
ProgramOptions program_options(int argc, const char* const* argv, const ProgramOptions& defaults = {});

}  // namespace ktape::nn
