#include <doctest/doctest.h>
#include <ktape/autograd/base/error.hpp>
#include <ktape/nn/core/dtype_policy.hpp>
#include <ktape/nn/program_options.hpp>

#include <filesystem>
#include <vector>

using namespace ktape::nn;

static ProgramOptions read(std::vector<const char*> words, const ProgramOptions& defaults = {}) {
  words.insert(words.begin(), "program");
  return program_options(static_cast<int>(words.size()), words.data(), defaults);
}

TEST_CASE("a program's options are read over its defaults") {
  const ProgramOptions defaults{.epochs = 20, .quick_epochs = 2, .data = "digits.csv"};
  const ProgramOptions none = read({}, defaults);
  CHECK(none.epochs == 20);
  CHECK(none.seed == 1);
  CHECK(none.data == "digits.csv");
  CHECK(none.out.empty());
  CHECK_FALSE(none.quick);

  const auto folder = std::filesystem::temp_directory_path() / "ktape_program_options" / "run";
  const ProgramOptions all =
      read({"--seed", "7", "--data", "mine", "--epochs", "5", "--out", folder.c_str()}, defaults);
  CHECK(all.epochs == 5);
  CHECK(all.seed == 7);
  CHECK(all.data == "mine");
  CHECK(all.out == folder);
  CHECK(!all.quick);
  CHECK(std::filesystem::is_directory(folder));
  std::filesystem::remove_all(folder.parent_path());
}

TEST_CASE("--quick takes fewer epochs, unless they are given") {
  const ProgramOptions defaults{.epochs = 20, .quick_epochs = 2};
  CHECK(read({"--quick"}, defaults).quick);
  CHECK(read({"--quick"}, defaults).epochs == 2);
  CHECK(read({"--epochs", "9", "--quick"}, defaults).epochs == 9);
}

TEST_CASE("--policy sets the dtype policy of layers") {
  CHECK(read({}).policy.empty());
  CHECK(read({"--policy", "mixed_float16"}).policy == "mixed_float16");
  CHECK(dtype_policy() == "mixed_float16");
  set_dtype_policy(ktape::None);
  CHECK_THROWS_WITH_AS(read({"--policy", "half"}), doctest::Contains("'mixed_float16', 'mixed_bfloat16'"),
                       ktape::ValueError);
  CHECK(dtype_policy() == "float32");
}

TEST_CASE("an unknown option is refused with a list of the known options") {
  using ktape::ValueError;
  CHECK_THROWS_WITH_AS(read({"--fast"}),
                       "[program_options] the options are --epochs N, --seed N, --data PATH, --out FOLDER, "
                       "--policy NAME and --quick: received --fast",
                       ValueError);
  CHECK_THROWS_WITH_AS(read({"--seed"}),
                       "[program_options] --seed must be followed by its value: received nothing",
                       ValueError);
  CHECK_THROWS_WITH_AS(read({"--epochs", "0"}),
                       "[program_options] --epochs must be a whole number from 1 on: received --epochs=0",
                       ValueError);
  CHECK_THROWS_WITH_AS(read({"--seed", "1x"}),
                       "[program_options] --seed must be a whole number from 0 on: received --seed=1x",
                       ValueError);
}
