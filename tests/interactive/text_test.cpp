#include <algorithm>

#include "prompt.hpp"

TEST_CASE("unbalanced text is an error, and names the bracket that is open") {
  Prompt prompt;
  struct Text {
    std::string typed, says;
  };
  const Text texts[] = {{"int f() { return 1;", "error: expected '}'"},
                        {"struct A { int x;", "error: expected '}'"},
                        {"namespace q { int y = 1;", "error: expected '}'"},
                        {"auto l = [] { return 1;", "error: expected '}'"},
                        {"std::vector<int> v{1, 2", "error: expected '}'"},
                        {"while (true) { (", "error: expected ')'"},
                        {"#define OPEN {\nint g() OPEN return 1;", "error: expected '}'"},
                        {"struct Q { int f() { return 1; int g() { return 2; } };", "error: expected '}'"}};
  for (const Text& text : texts) {
    INFO(text.typed);
    prompt.type(text.typed + '\n');
    const auto lines = 1 + std::count(text.typed.begin(), text.typed.end(), '\n');
    for (std::ptrdiff_t line = 0; line < lines; ++line) prompt.until("... ");
    prompt.type(&text == texts ? "\x04" : "\n");  // Ctrl-D ends a cell as an empty line does
    CHECK(prompt.until(">>> ").find(text.says) != std::string::npos);
  }
  CHECK(begins(prompt.line("int h() { )"), "error: expected expression"));
  CHECK(begins(prompt.line("}"), "error: extraneous closing brace"));
  // The empty line of text that comes at once is a part of the cell.
  prompt.type("int twice(int x) {\n  const int y = x;\n\n  return 2 * y;\n}\n");
  prompt.until(">>> ");
  CHECK(prompt.line("twice(21)") == "42");
}

TEST_CASE("text that clang cannot read to its end is an error, and the session continues") {
  Prompt prompt;
  for (const char* open :
       {"struct W { int x : ", "namespace {", "_Pragma(\"once", "#if 1",
        "switch (1) { case 1:", "extern \"C\" { namespace { int a;", "int y = [] { struct L { int a; ",
        "{ ( [", "template <class T> struct V { T x;", "try { throw 1; } catch (int) {", "f(K::ones({2}"}) {
    INFO(std::string(open));
    prompt.type(std::string(open) + '\n');
    if (std::string(open).find("_Pragma(\"") != 0) prompt.until("... ");
    prompt.type("\x04");
    CHECK(prompt.until("error: ").size() < 400);
    prompt.until(">>> ");
    CHECK(prompt.line("20 + 1") == "21");
  }
  for (const char* line : {"_Pragma", "template <", "using X =", "operator", "enum class F : ", "R\"abc(x)\"",
                           "struct Q : ", "import", "int f() }", "})];", "'o", "requires",
                           "case 1:", "int x, ", "std::map<int, std::vector<"}) {
    INFO(std::string(line));
    prompt.type(std::string(line) + '\n');
    if (line[0] == 'R') prompt.type("\n");
    prompt.until("error: ");
    prompt.until(">>> ");
    CHECK(prompt.line("20 + 1") == "21");
  }
}

TEST_CASE("an error beside a using-directive or an unnamed namespace does not end the session") {
  Prompt prompt;
  for (const char* before :
       {"using namespace std::chrono;", "namespace { int hidden; }", "namespace n { namespace { int a; } }",
        "extern \"C\" { namespace { int b; } }", "struct { int c; } s;"}) {
    INFO(std::string(before));
    CHECK(prompt.line(std::string(before) + " nonsense").find("undeclared identifier 'nonsense'") !=
          std::string::npos);
    CHECK(prompt.line(before) == "");
  }
  CHECK(prompt.line("hidden = 3; seconds(hidden).count()") == "3");
}

TEST_CASE("a line may begin with a sign") {
  const std::string home = Prompt::fresh_home(), program = home + "/session.cpp";
  Prompt prompt(home);
  prompt.line("int n = 2; Variable w = K::ones({1});");
  CHECK(prompt.line("-n") == "-2");
  CHECK(prompt.line("+1; -w") == "tensor([-1.], shape=(1,), dtype=float32, op='negative')");
  CHECK(prompt.line("-n + nonsense") ==
        "error: use of undeclared identifier 'nonsense'\n    1 | -n + nonsense\n      |      ^");
  CHECK(prompt.line("%save " + program) == "");
  CHECK(prompt.line("%load " + program).find("-2\n") == 0);
}

TEST_CASE("a declaration without a semicolon at the end is accepted, and shown") {
  Prompt prompt;
  CHECK(prompt.line("int a = 3") == "3");
  CHECK(prompt.line("auto y = a * 2") == "6");
  CHECK(prompt.line("a + y") == "9");
  CHECK(prompt.line("struct P { int x = 1; }") == "");
  CHECK(prompt.line("P().x") == "1");
  CHECK(prompt.line("using namespace std::numbers") == "");
  CHECK(prompt.line("pi > 3") == "true");
  CHECK(begins(prompt.line("int c = ;"), "error: expected expression"));
}

TEST_CASE("habits of Python and misspelled options get a hint") {
  Prompt prompt;
  constexpr Line lines[] = {
      {"bool b = True;", "did you mean 'true'?"},
      {"Tensor t = None;", "note: a missing argument is {} in C++"},
      {"K.dot(1)", "note: names of a namespace follow two colons: K::dot, nn::Dense"},
      {"nn::Dense(units=3)", "note: a named argument stands in braces, with a dot: f(x, {.units = ...})"},
      {"print(3)", "note: an expression without a semicolon at the end is shown"},
      {"K::ones({2}).T", "note: K::transpose(x) is the transposed tensor"},
      {"import numpy as np", "note: K, nn and data are there already"},
      {"m = 3", "note: a new variable needs a type: auto m = ..."},
      {"nn::Dense d(3, {.activaton = \"relu\"});",
       "note: DenseOptions has no field 'activaton'; the nearest is 'activation'"},
      {"nn::Dense d(3, {.use_bias = false, .activation = \"relu\"});",
       "warning: compilers such as g++ refuse fields of DenseOptions in this order; the right order is "
       "{.activation = ..., .use_bias = ...}"},
      {"nn::Conv2D c({.padding = \"same\", .filters = 3, .kernel_size = 3});",
       "warning: compilers such as g++ refuse fields of ConvOptions in this order; the right order is "
       "{.filters = ..., .kernel_size = ..., .padding = ...}"},
      {"nn::Report r({.title = \"Digits\", .path = \"report.html\"});",
       "note: 'path' of Report is an argument before the braces: Report(path, {...})"},
      {"nn::Conv2D c(3, 3, {.paddin = \"same\"});",
       "note: ConvOptions has no field 'paddin'; the nearest is 'padding'"}};
  for (const Line& line : lines) {
    const std::string said = prompt.line(line.typed);
    INFO(said);
    CHECK(said.find(line.says) != std::string::npos);
  }
}

TEST_CASE("clang's messages show the typed text") {
  Prompt prompt;
  const std::string said = prompt.line("sort(3, 4)");
  CHECK(said.find("no type named 'value_type' in 'std::iterator_traits<int>'") != std::string::npos);
  CHECK(said.find("1 | sort(3, 4)") != std::string::npos);
  CHECK(said.find("included from") == std::string::npos);
  CHECK(said.find("error: ") == said.rfind("error: "));
  CHECK(prompt.line("K::") == "error: expected unqualified-id");
  CHECK(prompt.line("throw 1.5;") == "double: 1.5");
  // Pragmas about the file that contains them.
  CHECK(prompt.line("#pragma once") == "");
  CHECK(prompt.line("#pragma GCC system_header") == "");
}

TEST_CASE("an open brace waits for its end, and Ctrl-C discards the typed text") {
  Prompt prompt;
  prompt.type("int f(int n) {\n");
  prompt.until("... ");
  prompt.type("return n + 1; }\n");
  prompt.until(">>> ");
  CHECK(prompt.line("f(1)") == "2");
  for (int i = 0; i < 20; ++i) {
    prompt.type("int g(int n) {\n");
    prompt.until("... ");
    prompt.type("\x03");
    prompt.until(">>> ");
  }
  CHECK(prompt.line("f(2)") == "3");
}

TEST_CASE("an empty line ends every open cell") {
  Prompt prompt;
  for (const char* typed : {"int f(int n) {", "K::zeros({2}", "/* a remark", "R\"(text", "#if 1",
                            "int n = \\", "for (;;)", "else {"}) {
    CAPTURE(typed);
    prompt.type(std::string(typed) + '\n');
    CHECK_NOTHROW(prompt.until("... "));
    prompt.type("\n");
    CHECK_NOTHROW(prompt.until(">>> "));
    CHECK(prompt.line("6 * 7") == "42");
  }
}

TEST_CASE("a loop or a condition without a body waits for the body") {
  Prompt prompt;
  for (const char* head : {"for (int i = 0; i < 3; ++i)", "if (int i = 7; i > 8) cout << 8; else",
                           "if constexpr (true) // always", "int n = 1; while (--n == 0)"}) {
    prompt.type(std::string(head) + '\n');
    CHECK_NOTHROW(prompt.until("... "));
    CHECK(begins(prompt.line("cout << 7;"), "7"));
  }
  CHECK(prompt.line("n") == "-1");
  CHECK(prompt.line("if (n < 0) cout << \"below\";") == "below");
}

TEST_CASE("a hint about the order of fields replaces clang's, and the cell runs") {
  Prompt prompt;
  const std::string said = prompt.line("nn::Dense d(3, {.use_bias = false, .activation = \"relu\"});");
  CHECK(begins(said, "warning: compilers such as g++ refuse"));
  CHECK(said.find("ISO C++") == std::string::npos);
  CHECK(said.find("previous initialization") == std::string::npos);
  CHECK(prompt.line("d(K::ones({1, 2})).shape()") == "(1, 3)");
  CHECK(prompt.line("nn::Dense e(3, {.activation = \"relu\", .use_bias = false});") == "");
}
