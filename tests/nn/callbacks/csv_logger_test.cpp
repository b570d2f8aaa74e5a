#include "../data/files.hpp"
#include "scripted.hpp"

namespace nn = ktape::nn;
using doctest::Contains;
using ktape::IOError, ktape::ValueError;

TEST_CASE("CSVLogger writes a row for each epoch, with the names of the first in order") {
  const Files files;
  const std::string path = files.folder() + "/runs/log.csv";
  const Scripted model(
      std::vector<nn::Logs>{{{"loss", 0.5}, {"acc", 1}}, {{"loss", 1e-7}}, {{"new", 3}, {"acc", 2}}});
  run(model, {nn::CSVLogger(path)});
  CHECK(content(path) == "epoch,acc,loss\n0,1.0,0.5\n1,NA,1e-07\n2,2.0,NA\n");
  run(Scripted(std::vector<nn::Logs>{{{"loss", 1}}}), {nn::CSVLogger(path, {.separator = ";"})});
  CHECK(content(path) == "epoch;loss\n0;1.0\n");
}

TEST_CASE("CSVLogger quotes names, and appends to a file of equal columns") {
  const Files files;
  const std::string path = files.folder() + "/log.csv";
  const nn::CSVLogger logger(path, {.append = true});
  const std::vector<nn::Logs> logs{{{"a,b", 1}, {"say \"x\"", 2}}};
  run(Scripted(logs), {logger});
  run(Scripted(logs), {logger});
  CHECK(content(path) == "epoch,\"a,b\",\"say \"\"x\"\"\"\n0,1.0,2.0\n0,1.0,2.0\n");
  CHECK_THROWS_WITH_AS(
      run(Scripted(std::vector<nn::Logs>{{{"loss", 1}}}), {logger}),
      Contains("[CSVLogger] the columns must be those of the file that is continued: received "
               "epoch,loss for '"),
      ValueError);
  CHECK(content(path).ends_with("0,1.0,2.0\n0,1.0,2.0\n"));
}

TEST_CASE("CSVLogger: the file is complete after each epoch") {
  const Files files;
  const std::string path = files.folder() + "/log.csv";
  std::vector<std::string> seen;
  run(Scripted(std::vector<nn::Logs>{{{"loss", 1}}, {{"loss", 2}}}),
      {nn::CSVLogger(path),
       nn::LambdaCallback({.on_epoch_end = [&](int, const nn::Logs&) { seen.push_back(content(path)); }})});
  CHECK(seen == std::vector<std::string>{"epoch,loss\n0,1.0\n", "epoch,loss\n0,1.0\n1,2.0\n"});
}

TEST_CASE("CSVLogger: bad files and columns are errors") {
  const Files files;
  for (const char* separator : {"", ",,", "\"", "\n"})
    CHECK_THROWS_WITH_AS(nn::CSVLogger("log.csv", {.separator = separator}),
                         Contains("[CSVLogger] separator must be one character"), ValueError);
  const Scripted model(std::vector<nn::Logs>{{{"loss", 1}}});
  CHECK_THROWS_WITH_AS(run(model, {nn::CSVLogger(files.folder())}),
                       Contains("[CSVLogger] the file must be writable: received '"), IOError);
  CHECK(model->step == 0);
  const std::string file = files.write("file", "");
  CHECK_THROWS_WITH_AS(run(model, {nn::CSVLogger(file + "/log.csv")}),
                       Contains("[CSVLogger] the folder must be writable: received '"), IOError);
}
