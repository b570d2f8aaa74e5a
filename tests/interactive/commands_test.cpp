#include <fstream>
#include <sstream>

#include "prompt.hpp"

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
    if (line.starts_with("/// ")) {
      INFO(line);
      CHECK(line.size() <= 60);
      ++prose;
    }
  CHECK(prose > 8);
}

TEST_CASE("commands and questions") {
  Prompt prompt;
  CHECK(prompt.line("?K::dot").find("ktape/ops/linalg/linalg.hpp:") == 0);
  CHECK(prompt.line("?K::no_such_op") == "ValueError: [?] the name must be known: received K::no_such_op");
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
