#include "prompt.hpp"

TEST_CASE("exit keeps the history") {
  const std::string home = Prompt::fresh_home();
  {
    Prompt prompt(home);
    prompt.line("int remembered = 1;");
    prompt.type("exit(3)\n");
    CHECK(prompt.wait() == 3);
  }
  Prompt prompt(home);
  prompt.type("\x1b[A\x1b[A");
  prompt.until("int remembered = 1;");
}

TEST_CASE("the prompt begins a new line after any output") {
  const std::string spaces(79, ' ');
  Terminal terminal({KTAPE_PROMPT}, Prompt::fresh_home(), "xterm", 80);
  terminal.until(">>> ");
  for (const char* line : {"cout << 5;\n", "std::puts(\"\"); printf(\"5\"); fflush(stdout);\n"}) {
    terminal.type(line);
    CHECK_NOTHROW(terminal.until("5" + spaces + "\r"));
    CHECK_NOTHROW(terminal.until(">>> "));
  }
}

TEST_CASE("keys beyond ASCII are characters") {
  Prompt prompt;
  CHECK(prompt.line("std::string word = \"gr\u00fcn \u20ac\"; word.size()") == "9");
  prompt.type("std::string(\"a\u00fc\x7f\").size()\n");  // Backspace removes the whole character
  prompt.until("\n");
  CHECK(prompt.until("\n>>> ") == "1");
}

TEST_CASE("history is kept between sessions, and Tab completes") {
  const std::string home = Prompt::fresh_home();
  {
    Prompt prompt(home);
    prompt.line("int remembered = 17;");
    prompt.type("\x04");
    CHECK(prompt.wait() == 0);
  }
  Prompt prompt(home);
  prompt.type("\x10");  // Ctrl-P
  prompt.until("int remembered = 17;");
  prompt.type("\n");
  prompt.until(">>> ");
  CHECK(prompt.line("remembered") == "17");
  prompt.type("rememb\t");
  prompt.until("remembered");
  prompt.type(" + 1\n");
  prompt.until("\n");
  CHECK(prompt.until("\n>>> ") == "18");
  prompt.type("K::categorical_cross\t");
  CHECK_NOTHROW(prompt.until("entropy"));
}

TEST_CASE("clang completes members, also of redeclared variables, and macros") {
  Prompt prompt;
  prompt.line("#define SCALE_OF_ALL 3");
  prompt.line("struct Point { int across = 1, down = 2; }; Point corner;");
  const auto completed = [&](const std::string& typed, const std::string& rest) {
    prompt.type(typed + '\t');
    CHECK_NOTHROW(prompt.until(rest));
    prompt.type("\n");
    prompt.until("\n");
    return prompt.until("\n>>> ");
  };
  CHECK(completed("SCALE_OF", "SCALE_OF_ALL") == "3");
  CHECK(completed("corner.ac", "corner.across") == "1");
  prompt.line("struct Point { int height = 7; }; Point corner;");
  CHECK(completed("corner.he", "corner.height") == "7");
}

TEST_CASE("members complete, too, and completing runs nothing") {
  Prompt prompt;
  prompt.line("Variable weights = K::zeros({2});");
  prompt.type("weights.trainab\t");
  prompt.until("weights.trainable");
  prompt.type("()\n");
  prompt.until("\n");
  CHECK(prompt.until("\n>>> ") == "true");
}

namespace {
/// Returns text as a terminal sends it that marks what is pasted.
std::string pasted(std::string text) {
  for (char& c : text) c = c == '\n' ? '\r' : c;
  return "\x1b[200~" + text + "\x1b[201~";
}
}  // namespace

TEST_CASE("pasted text is one cell, which waits for Enter") {
  Terminal terminal({KTAPE_PROMPT}, Prompt::fresh_home(), "xterm", 80);
  terminal.until("\x1b[?2004h");
  terminal.until(">>> ");
  terminal.type(
      pasted("int total = 1000;\n\n\nfor (int i = 0; i < 3; ++i) {\n\n\ttotal += i;\n}\n"
             "if (total == 1003) total += 2000;\nelse total = 0;\n\ntotal - 1\n\n"));
  CHECK_THROWS(terminal.until("3002", 1.5));
  terminal.type("\n");
  CHECK_NOTHROW(terminal.until("\x1b[?2004l"));  // a program that the cell runs reads pasted text as it is
  CHECK_NOTHROW(terminal.until("3002"));
  CHECK_NOTHROW(terminal.until(">>> "));
  // Text in the middle of a line, and a line that follows.
  terminal.type("int a = ");
  terminal.type(pasted("40"));
  terminal.type(" + 2; a * 111\n");
  CHECK_NOTHROW(terminal.until("4662"));
  CHECK_NOTHROW(terminal.until(">>> "));
  // The cell is in the history as a whole.
  terminal.type("\x10\x10\n");
  CHECK_NOTHROW(terminal.until("3002"));
}

TEST_CASE("pasted text may be longer than the screen, and may hold an open brace") {
  Terminal terminal({KTAPE_PROMPT}, Prompt::fresh_home(), "xterm", 80);
  terminal.until(">>> ");
  std::string text = "long sum = 7;\n";
  for (int i = 0; i < 150; ++i)
    text += "sum += " + std::to_string(i) + ";  // number \u00fc " + std::to_string(i) + "\n\n";
  terminal.type(pasted(text + "sum * 10"));
  terminal.type("\n");
  CHECK_NOTHROW(terminal.until("111820"));
  CHECK_NOTHROW(terminal.until(">>> "));
  terminal.type(pasted("int twice(int x) {\n\n  return 2 * x;\n"));
  terminal.type("\n");
  CHECK_NOTHROW(terminal.until("... "));
  terminal.type("}\n");
  CHECK_NOTHROW(terminal.until(">>> "));
  terminal.type("twice(2222)\n");
  CHECK_NOTHROW(terminal.until("4444"));
}

TEST_CASE("an empty line ends an open cell, also after thousands of pasted lines") {
  Terminal terminal({KTAPE_PROMPT}, Prompt::fresh_home(), "xterm", 80);
  terminal.until(">>> ");
  terminal.type("int sum() {\n");
  CHECK_NOTHROW(terminal.until("... "));
  std::string text = "int total = 0;\n";
  for (int i = 0; i < 3000; ++i)
    text += "total += " + std::to_string(i % 10) + ";\n" + (i % 100 == 0 ? "\n" : "");
  terminal.type(pasted(text));
  terminal.type("\n");
  CHECK_NOTHROW(terminal.until("... "));
  terminal.type("\n");
  CHECK_NOTHROW(terminal.until("error: expected '}'"));
  CHECK_NOTHROW(terminal.until(">>> "));
  terminal.type("111 * 7\n");
  CHECK_NOTHROW(terminal.until("777"));
}

TEST_CASE("Shift-Tab describes the function whose parenthesis is open") {
  Prompt prompt;
  prompt.type("nn::Conv2D(32, \x1b[Z");
  CHECK_NOTHROW(prompt.until("class Conv2D"));
  CHECK_NOTHROW(prompt.until(".padding = \"valid\""));
  prompt.type("3)(K::ones({1, 5, 5, 1})).shape()\n");
  CHECK_NOTHROW(prompt.until("(1, 3, 3, 32)"));
}
