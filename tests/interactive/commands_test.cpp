#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "prompt.hpp"

namespace fs = std::filesystem;

TEST_CASE("%plot draws with characters") {
  Prompt prompt;
  CHECK(prompt.line("%plot vector<int>{1, 4, 9}").find("⠤") != std::string::npos);
  prompt.line("Tensor m = K::constant({{1.f, 2.f}, {3.f, 4.f}});");
  CHECK(prompt.line("%plot m") == prompt.line("plot::heat_map(m)"));
  CHECK(prompt.line("%plot").find("ValueError: [%plot] a value must be named: received nothing") == 0);
  CHECK(prompt.line("%plot K::ones({2, 2, 2})")
            .find("ValueError: [%plot] the tensor must be numbers (n), a matrix") == 0);
  CHECK(prompt.line("%plot nonsense").find("error: use of undeclared identifier 'nonsense'") == 0);
  prompt.line("nn::Sequential model({nn::Dense(1)}); model.compile({.loss = \"mse\"});");
  prompt.line("auto history = model.fit(K::ones({8, 2}), K::ones({8, 1}), {.epochs = 3, .verbose = 0});");
  CHECK(prompt.line("%plot history").find("loss") != std::string::npos);
}

TEST_CASE("a session is saved as a program, which runs like the session") {
  const std::string home = Prompt::fresh_home(), program = home + "/session.cpp";
  Prompt prompt(home);
  for (const char* line : {"int x = 2;", "int twice() { return 2 * x; }", "x = 5;", "twice()",
                           "x = nonsense;", "double x = 0.5;", "x + twice()", "#include <bitset>"})
    prompt.line(line);
  CHECK(prompt.line("%save " + program) == "");
  CHECK(prompt.line("%load " + program) == "10\n10.5");
  // Loaded cells are saved, too, unchanged.
  CHECK(prompt.line("%reset") == "");
  std::ofstream(home + "/loaded.cpp") << "int loaded[] = {3, 7};\nloaded[0] += 1;\nloaded\n";
  CHECK(prompt.line("%load " + home + "/loaded.cpp") == "{4, 7}");
  CHECK(prompt.line("%save " + program) == "");
  CHECK(prompt.line("%load " + program) == "4\n7");
}

TEST_CASE("files and lines run, and return their status") {
  const std::string home = Prompt::fresh_home(), file = home + "/file.cpp";
  const auto run = [&](const std::vector<std::string>& arguments, const std::string& says) {
    std::vector<std::string> command{KTAPE_PROMPT};
    command.insert(command.end(), arguments.begin(), arguments.end());
    Terminal terminal(command, home);
    CHECK_NOTHROW(terminal.until(says));
    return terminal.wait();
  };
  CHECK(run({"-e", "cout << 6 * 7 << endl;"}, "42\r\n") == 0);
  CHECK(run({"-e", "6 * 7"}, "42\r\n") == 0);
  CHECK(run({"-e", "K::dot(K::ones({2}), K::ones({2}))"}, "ValueError: [dot] ") == 1);
  CHECK(run({"-e", "cout << \"out\" << endl; exit(3);"}, "out\r\n") == 3);
  for (const char* open :
       {"int f() { return 1;", "struct W { int x : ", "namespace {", "_Pragma(\"once", "f("})
    CHECK(run({"-e", open}, "error: ") == 1);
  std::ofstream(file) << "#include <ktape/ktape.hpp>\nint main(int n, char** words) {\n  std::cout << "
                         "words[n - 1] << std::endl;\n  return n;\n}\n";
  CHECK(run({file, "first", "second"}, "second\r\n") == 3);
  std::ofstream(file) << "int n = 1;\ncout << n << endl;\nnonsense;\n";
  CHECK(run({file}, file + ":3:1: error: use of undeclared identifier 'nonsense'") == 1);
  CHECK(run({home + "/none.cpp"}, "IOError: " + home + "/none.cpp cannot be read") == 2);
}

TEST_CASE("the documentation of a header is wrapped to the width of the terminal") {
  const std::string home = Prompt::fresh_home();
  Terminal terminal({KTAPE_PROMPT}, home, "dumb", 60);
  terminal.until(">>> ");
  std::istringstream lines(terminal.line("?K::dot"));
  int prose = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("/// ") && !line.starts_with("///     ")) {  // code stays as it is
      INFO(line);
      CHECK(line.size() <= 60);
      ++prose;
    }
  CHECK(prose > 8);
}

TEST_CASE("commands and questions") {
  Prompt prompt;
  CHECK(prompt.line("?K::dot").find("ktape/ops/linalg/linalg.hpp:") == 0);
  CHECK(
      prompt.line("?K::no_such_op") ==
      "ValueError: [?] the name must be that of a public function, type or variable: received K::no_such_op");
  CHECK(prompt.line("%nothing").find("ValueError: [prompt] the command must be one of") == 0);
  CHECK(prompt.line("%time") == "ValueError: [%time] code must be given: received nothing");
  CHECK(prompt.line("DType::Int8") == "int8");
  prompt.line("double size_of_it = 3;");
  CHECK(prompt.line("%who") == "size_of_it  variable  double");
  CHECK(prompt.line("%time size_of_it = 4;").find("to compile)") != std::string::npos);
  CHECK(prompt.line("size_of_it") == "4.0");
  prompt.line("%reset");
  CHECK(prompt.line("size_of_it").find("error: use of undeclared identifier 'size_of_it'") == 0);
}

TEST_CASE("%who leaves out what headers declare") {
  Prompt prompt;
  prompt.line("#include <sys/stat.h>");
  prompt.line("int mine = 1;");
  CHECK(prompt.line("%who") == "mine  variable  int");
}

TEST_CASE("%history lists what was typed") {
  Prompt prompt;
  prompt.line("int a = 1;");
  prompt.type("int f() {\nreturn 2; }\n");
  prompt.until("\n>>> ");
  CHECK(prompt.line("%history") == "   1  int a = 1;\n   2  int f() {\n      return 2; }\n   3  %history");
  CHECK(prompt.line("%history 1") == "   4  %history 1");
  CHECK(prompt.line("%history many") ==
        "ValueError: [%history] the number of inputs must be a whole number: received many");
}

TEST_CASE("%edit runs what an editor makes of a cell") {
  Prompt prompt;
  // The editor: a program that replaces 1 by 40.
  prompt.line("setenv(\"EDITOR\", \"sed -i s/1/40/\", 1); unsetenv(\"VISUAL\");");
  prompt.line("int a = 1; a");
  CHECK(prompt.line("%edit") == "40");
  CHECK(prompt.line("a") == "40");
  CHECK(prompt.line("%edit 2") == "40");
  CHECK(prompt.line("%edit 99").find("ValueError: [%edit] the number must be one of %history, from 1 to ") ==
        0);
  const std::string file = (std::filesystem::temp_directory_path() / "it's.cpp").string();
  prompt.line("ofstream(\"" + file + "\") << \"int b = 11; b\";");
  CHECK(prompt.line("%edit " + file) == "401");
  std::filesystem::remove(file);
  prompt.line("setenv(\"EDITOR\", \"false\", 1);");
  CHECK(prompt.line("%edit") == "the command ended with status 1");
}

TEST_CASE("a history without epochs says so") {
  Prompt prompt;
  CHECK(prompt.line("nn::History()") == "<History of no epochs>");
  CHECK(prompt.line("%plot nn::History()") ==
        "ValueError: [%plot] the history must hold an epoch: received none");
}

TEST_CASE("shown values are known as _ and Out[n]") {
  const std::string home = Prompt::fresh_home(), program = home + "/session.cpp";
  Prompt prompt(home);
  constexpr Line lines[] = {
      {"1 + 1", "2"},
      {"_ + 5", "7"},
      {"Out[1] + Out[2]", "9"},
      {"string(\"ab\") + \"Out[1]\"", "\"abOut[1]\""},
      {"_.size()", "8"},
      {"K::ones({2})", "tensor([1., 1.], shape=(2,), dtype=float32)"},
      {"K::sum(_)", "tensor(2., shape=(), dtype=float32)"},
      {"vector<unique_ptr<int>>(1)", "{nullptr}"},
      {"struct Alone { vector<unique_ptr<int>> v; }; Alone alone; alone", "Alone{.v = {}}"},
      {"auto kept = [] { return Out[3]; };", ""},
      {"kept()", "9"}};
  for (const Line& line : lines) {
    INFO(std::string(line.typed));
    CHECK(prompt.line(line.typed) == line.says);
  }
  CHECK(begins(prompt.line("Out[77]"), "error: use of undeclared identifier 'Out'"));
  CHECK(begins(prompt.line("%out"), "Out[1]  int\nOut[2]  int\n"));
  CHECK(prompt.line("%save " + program) == "");
  CHECK(prompt.line("%load " + program).find("2\n7\n9\n") == 0);
  CHECK(prompt.line("string _ = \"mine\"; 3") == "3");
  CHECK(prompt.line("_") == "\"mine\"");
}

TEST_CASE("if and else may stand on separate lines") {
  const std::string home = Prompt::fresh_home(), program = home + "/session.cpp";
  Prompt prompt(home);
  constexpr Line lines[] = {{"int n = 7;", ""},
                            {"if (n == 1) cout << 1;", ""},
                            {"else if (n == 7) cout << 77;", "77"},
                            {"else cout << 9;", ""},
                            {"if (n > 7) { cout << 1; }", ""},
                            {"else { cout << 2; }", "2"},
                            {"if (n == 7) if (n == 8) cout << 3;", ""},
                            {"else cout << 4;", "4"}};
  for (const Line& line : lines) {
    INFO(std::string(line.typed));
    CHECK(prompt.line(line.typed) == line.says);
  }
  CHECK(begins(prompt.line("else cout << 5;"), "error: expected expression"));
  CHECK(prompt.line("%save " + program) == "");
  CHECK(prompt.line("%load " + program) == "7724");
}

TEST_CASE("commands of the system, folders and libraries") {
  const std::string home = Prompt::fresh_home();
  std::ofstream(home + "/seven.hpp") << "inline int seven() { return 7; }\n";
  Prompt prompt(home);
  CHECK(prompt.line("!echo hello") == "hello");
  CHECK(prompt.line("!exit 3") == "the command ended with status 3");
  CHECK(prompt.line("!") == "ValueError: [!] a command must be given: received nothing");
  CHECK(prompt.line("%cd") == fs::canonical(home).string());
  CHECK(begins(prompt.line("%cd /no/folder"), "IOError: [%cd] /no/folder: "));
  CHECK(prompt.line("%include .") == "");
  CHECK(prompt.line("#include <seven.hpp>") == "");
  CHECK(prompt.line("seven()") == "7");
  CHECK(begins(prompt.line("%include nowhere"), "ValueError: [%include] the path must be that of a folder"));
  CHECK(prompt.line("%lib libm.so.6") == "");
  CHECK(begins(prompt.line("%lib none.so"), "IOError: [%lib] none.so: "));
  CHECK(prompt.line("%timeit seven()").find(" per run (7 times ") != std::string::npos);
  prompt.type("!sleep 60\n");
  prompt.until("\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  prompt.type("\x03");
  CHECK(prompt.until(">>> ", 20).find("interrupted") != std::string::npos);
  prompt.type("quit\n");
  CHECK(prompt.wait() == 0);
}
