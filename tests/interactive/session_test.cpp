#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "terminal.hpp"

namespace fs = std::filesystem;

namespace {

/// A prompt with a new home folder.
class Prompt : public Terminal {
 public:
  explicit Prompt(const std::string& home = fresh_home())
      : Terminal({KTAPE_PROMPT}, home), greeting(until(">>> ")) {}
  static std::string fresh_home() {
    const fs::path home = fs::temp_directory_path() / "ktape_prompt_test";
    fs::remove_all(home);
    fs::create_directories(home);
    return home.string();
  }
  const std::string greeting;
};

/// A line, and its output: all of the output, or for an error the beginning.
struct Line {
  const char* typed;
  const char* says;
};

bool begins(const std::string& said, const std::string& expected) {
  return said.substr(0, expected.size()) == expected;
}

}  // namespace

TEST_CASE("sixty lines with fifteen mistakes end with the right values") {
  constexpr Line lines[] = {
      {"int a = 2;", ""},
      {"a + 1", "3"},
      {"string s = \"tape\";", ""},
      {"s + 1;", "error: invalid operands to binary expression"},  // 1: a type error
      {"s", "\"tape\""},
      {"Variable w = K::variable({{1.f, 2.f}, {3.f, 4.f}}, {.name = \"w\"});", ""},
      {"w", "tensor([[1., 2.],\n        [3., 4.]], shape=(2, 2), dtype=float32, variable='w')"},
      {"Tensor y = K::sum(K::square(w));", ""},
      {"y", "tensor(30., shape=(), dtype=float32, op='sum')"},
      {"K::gradients(y, {w})[0]", "tensor([[2., 4.],\n        [6., 8.]], shape=(2, 2), dtype=float32"},
      {"K::dot(w, K::ones({3, 3}))", "ValueError: [dot] "},  // 2: an exception in an op
      {"y.item<float>()", "30.0"},
      {"Tensor y = K::dot(w, K::ones({3, 3}));",
       "ValueError: [dot] "},  // 3: a redefinition whose value throws
      {"y.item<float>()", "30.0"},
      {"Tensor z = K::matmul(w, w;",
       "error: expected ')'"},  // 4: a missing bracket, reported when an empty line ends it
      {"z", "error: use of undeclared identifier 'z'"},  // 5
      {"struct Point { int x = 1, y = 2; int sum() { return x + y; } };", ""},
      {"Point p;", ""},
      {"p.sum()", "3"},
      {"p.z", "error: no member named 'z' in 'Point'"},  // 6
      {"struct Point { double x = 0.5; double sum() { return 2 * x; } };", ""},
      {"Point p;", ""},
      {"p.sum()", "1.0"},
      {"int twice(int v) { return 2 * v; }", ""},
      {"twice(a)", "4"},
      {"int twice(int v) { return 20 * v; }", ""},
      {"twice(a)", "40"},
      {"double a = 0.25;", ""},
      {"a", "0.25"},
      {"int fails() { return undefined_name; }",
       "error: use of undeclared identifier 'undefined_name'"},                               // 7
      {"#include <no_such_header.hpp>", "fatal error: 'no_such_header.hpp' file not found"},  // 8
      {"#define SCALE 2", ""},
      {"SCALE * a", "0.5"},
      {"#define SCALE 4", ""},
      {"SCALE * a", "1.0"},
      {"struct Loud { ~Loud() noexcept(false) { throw std::runtime_error(\"loud\"); } };", ""},
      {"{ Loud loud; }", "std::runtime_error: loud"},  // 9: an exception in a destructor
      {"struct Silent { ~Silent() { twice(1); if (a < 1) K::dot(w, K::ones({3, 3})); } };", ""},
      {"{ Silent silent; }", "ValueError: [dot] "},  // 10: an exception in a noexcept function
      {"vector<double> huge(size_t(1) << 60);", "std::length_error"},  // 11: out of memory
      {"K::zeros({1 << 20, 1 << 20, 1 << 10})", "ValueError: [zeros] the tensor must fit in memory"},  // 12
      {"huge", "error: use of undeclared identifier 'huge'"},                                          // 13
      {"*static_cast<volatile int*>(nullptr) = 1;", "segmentation fault"},                             // 14
      {"throw 42;", "int: 42"},                                                                        // 15
      {"auto add = [](auto u, auto v) { return u + v; };", ""},
      {"add(1, 2)", "3"},
      {"auto add = [](auto u, auto v) { return u - v; };", ""},
      {"add(1, 2)", "-1"},
      {"static int calls = 0; int call() { return ++calls; }", ""},
      {"call() + call()", "3"},
      {"calls", "2"},
      {"vector<int> list{3, 1, 2}; sort(list.begin(), list.end()); list", "{1, 2, 3}"},
      {"map<string, vector<int>> table{{\"a\", {1}}, {\"b\", {}}}; table", "{\"a\": {1}, \"b\": {}}"},
      {"for (int i = 0; i < 100; ++i) K::update_sub(w, 0.1f * K::gradients(K::sum(K::square(w)), {w})[0]);",
       ""},
      {"K::max(K::abs(w)).item<float>() < 1e-6f", "true"},
      {"nn::Sequential model({nn::Dense(1)}); model.compile({.loss = \"mse\"});", ""},
      {"auto history = model.fit(K::ones({8, 2}), K::ones({8, 1}), {.epochs = 2, .verbose = 0});", ""},
      {"history.epoch()", "{0, 1}"},
      {"y", "tensor(30., shape=(), dtype=float32, op='sum')"},
      {"tuple<int, double>{twice(1), p.sum() + a}", "(20, 1.25)"},
  };
  static_assert(std::size(lines) == 60);
  Prompt prompt;
  for (const Line& line : lines) {
    if (std::string(line.typed) == "Tensor z = K::matmul(w, w;") {
      prompt.type(std::string(line.typed) + "\n");
      prompt.until("... ");
      CHECK(begins(prompt.line(""), line.says));
      continue;
    }
    const std::string said = prompt.line(line.typed);
    INFO(std::string(line.typed), "\n", said);
    CHECK(begins(said, line.says));
    if (*line.says == '\0') CHECK(said.empty());
  }
  prompt.type("\x04");
  CHECK(prompt.wait() == 0);
}

TEST_CASE("Ctrl-C ends a loop of ops, a loop without any, and a sleep, and the session goes on") {
  Prompt prompt;
  prompt.line("int steps = 0; Variable w = K::variable({1.f});");
  for (const char* loop :
       {"while (true) { ++steps; K::update(w, w + 1.f); }", "while (true) { volatile int x = ++steps; }",
        "std::this_thread::sleep_for(std::chrono::hours(1));"}) {
    prompt.type(std::string(loop) + '\n');
    std::this_thread::sleep_for(std::chrono::milliseconds(1000));
    prompt.type("\x03");
    const std::string said = prompt.until(">>> ", 20);
    INFO(std::string(loop));
    CHECK(said.find("interrupted\n") != std::string::npos);
  }
  CHECK(prompt.line("steps > 1 && w.value().item<float>() > 1") == "true");
}

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
    prompt.until("... ");
    prompt.type("\n");  // a blank line does not end a cell inside braces, Ctrl-D does
    prompt.until("... ");
    prompt.type("\x04");
    CHECK(prompt.until(">>> ").find(text.says) != std::string::npos);
  }
  CHECK(begins(prompt.line("int h() { )"), "error: expected expression"));
  CHECK(begins(prompt.line("}"), "error: extraneous closing brace"));
  prompt.type("int twice(int x) {\n  const int y = x;\n\n  return 2 * y;\n}\n");
  prompt.until(">>> ");
  CHECK(prompt.line("twice(21)") == "42");
}

TEST_CASE("Ctrl-C ends code that waits, prints or searches without end") {
  Prompt prompt;
  for (const char* cell :
       {"std::promise<int> never; never.get_future().get();",
        "std::thread sleeper([] { std::this_thread::sleep_for(std::chrono::hours(1)); }); sleeper.join();",
        "std::mutex a; a.lock(); a.lock();",
        "std::mutex b; std::condition_variable c; std::unique_lock<std::mutex> l(b); c.wait(l);",
        "std::regex_match(std::string(40, 'a'), std::regex(\"(a*)*b\"));",
        "while (true) cout << \"line\" << 42 << endl;"}) {
    INFO(std::string(cell));
    prompt.type(std::string(cell) + '\n');
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    prompt.type("\x03");
    CHECK(prompt.until(">>> ", 20).find("interrupted") != std::string::npos);
    CHECK(prompt.line("K::sum(K::ones({3, 3})).item<float>()") == "9.0");
  }
}

TEST_CASE("locks of a cell that waits are released by Ctrl-C") {
  Prompt prompt;
  prompt.line("std::mutex lock; std::promise<int> never; auto result = never.get_future();");
  prompt.type("{ std::lock_guard held(lock); result.get(); }\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  prompt.type("\x03");
  prompt.until(">>> ", 20);
  CHECK(prompt.line("lock.try_lock()") == "true");
}

TEST_CASE("Ctrl-C during products leaves a session whose products are right") {
  Prompt prompt;
  prompt.line("Tensor a = K::ones({1200, 1200}); Tensor b = K::ones({64, 64});");
  for (int i = 0; i < 10; ++i) {
    prompt.type("while (true) K::dot(a, a);\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(150 + 20 * i));
    prompt.type("\x03");
    prompt.until(">>> ", 20);
    CHECK(prompt.line("K::sum(K::dot(b, b)).item<float>()") == "262144.0");
  }
}

TEST_CASE("the third Ctrl-C gives up a cell inside of a library, and %restart keeps the declarations") {
  Prompt prompt;
  prompt.line("int kept = 6;");
  prompt.type(
      "for (auto& e : data::Dataset::range(1).map([](const data::Element& e) { while (true) { volatile int "
      "x = 1; } return e; })) e.size();\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  for (int i = 0; i < 3; ++i) {
    prompt.type("\x03");
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  const std::string said = prompt.until(">>> ", 20);
  CHECK(said.find("interrupted inside of a library: the session may hang") != std::string::npos);
  CHECK(said.find("%restart begins a new session") != std::string::npos);
  prompt.type("%restart\n");
  prompt.until("ktape. %help");
  prompt.until(">>> ", 60);
  CHECK(prompt.line("kept + 1") == "7");
}

TEST_CASE("Ctrl-C ends a wait for input, and the next one is answered") {
  Prompt prompt;
  prompt.line("int given = 0;");
  prompt.type("cout << \"give\" << \" it\" << endl; cin >> given;\n");
  prompt.until("give it");
  prompt.type("\x03");
  CHECK(prompt.until(">>> ", 20).find("interrupted\n") != std::string::npos);
  prompt.type("cout << \"give\" << \" it\" << endl; cin >> given;\n");
  prompt.until("give it");
  prompt.type("17\n");
  prompt.until(">>> ");
  CHECK(prompt.line("given") == "17");
}

TEST_CASE("a session that begins with an undefined function continues") {
  Prompt prompt;
  prompt.line("int nowhere(Tensor);");
  CHECK(
      prompt.line("nowhere(K::ones({2}))").find("error: declared, but not defined: nowhere(ktape::Tensor)") ==
      0);
  CHECK(prompt.line("K::ones({2})") == "tensor([1., 1.], shape=(2,), dtype=float32)");
}

TEST_CASE("templates that a refused cell instantiated do not break the next cell") {
  Prompt prompt;
  const std::string cell = "std::list<std::deque<short>> shorts{{1, 2}, {3}}; shorts.back().push_front(7); ";
  CHECK(prompt.line(cell + "nonsense;").find("error: use of undeclared identifier 'nonsense'") == 0);
  CHECK(prompt.line(cell + "shorts") == "{{1, 2}, {7, 3}}");
  // A name that the C library has, which makes clang read the cell twice.
  CHECK(prompt.line("std::set<short> few{3, 1}; int random = *few.begin(); few.insert(2); few") ==
        "{1, 2, 3}");
}

TEST_CASE("constants are made of constants of earlier cells, once") {
  Prompt prompt;
  prompt.line("int made = 0; int make() { return ++made; }");
  prompt.line("const int first = make();");
  prompt.line("const int second = first + make();");
  CHECK(prompt.line("first + 10 * second + 100 * made") == "231");
  prompt.line("const Tensor t = K::ones({2});");
  prompt.line("const Tensor u = t + 1.f;");
  CHECK(prompt.line("u") == "tensor([2., 2.], shape=(2,), dtype=float32)");
}

TEST_CASE("lambdas may capture the session's variables, as those of a function may its own") {
  Prompt prompt;
  prompt.line("int a = 2, b = 3;");
  prompt.line("auto sum = [&] { return a + b; }; auto more = [a, &b](int c) { return a + b + c; };");
  CHECK(prompt.line("sum() + more(1)") == "11");
  prompt.line("auto scaled = [=, factor = 10](int c) { return factor * c * a; };");
  CHECK(prompt.line("scaled(1)") == "20");
  CHECK(prompt.line("[&] { return nonsense; }()").find("error: use of undeclared identifier 'nonsense'") ==
        0);
}

TEST_CASE("algorithms take lambdas of their cell") {
  Prompt prompt;
  prompt.line("vector<int> list{1, 2, 3};");
  CHECK(prompt.line("std::for_each(list.begin(), list.end(), [](int& x) { x *= 2; }); list") == "{2, 4, 6}");
  CHECK(prompt.line("std::for_each(list.begin(), list.end(), [](int& x) { x += 1; }); list") == "{3, 5, 7}");
  CHECK(prompt.line("{ int by = 2; sort(list.begin(), list.end(), [&](int a, int b) { return by * a > 2 * b; "
                    "}); } list") == "{7, 5, 3}");
  CHECK(prompt.line("list | std::views::filter([](int x) { return x > 4; })") == "{7, 5}");
  CHECK(prompt.line("std::thread([&] { list.push_back(1); }).join(); list.size()") == "4");
  CHECK(prompt.line("std::async(std::launch::async, [] { return 3; }).get()") == "3");
}

TEST_CASE("blocks may define classes and static variables") {
  Prompt prompt;
  CHECK(prompt.line("{ struct S { int x = 5; }; cout << vector<S>(3)[2].x; }") == "5");
  CHECK(prompt.line("{ struct S { double x = 0.5; }; cout << vector<S>(3)[2].x; }") == "0.5");
  CHECK(prompt.line("for (int i = 0; i < 3; ++i) { static string s = \"a\"; cout << (s += \"b\"); }") ==
        "ababbabbb");
}

TEST_CASE("every value is shown") {
  const std::pair<const char*, const char*> lines[] = {
      {"auto any_of = [](auto x) { return x; }; any_of", "<lambda>"},
      {"data::Dataset::from_tensor_slices({K::ones({4, 2})}).batch(2)", "<Dataset of 2 elements>"},
      {"std::variant<int, string> either = \"x\"; either", "\"x\""},
      {"runtime_error(\"hello\")", "<std::runtime_error: hello>"},
      {"tuple<unique_ptr<int>, int*, optional<int>, string>()", "(nullptr, nullptr, nullopt, \"\")"},
      {"xt::xarray<double>{{1, 2}, {3, 4}}", "{{ 1.,  2.},\n { 3.,  4.}}"},
      {"\"a\"s + \"b\"", "\"ab\""},
  };
  Prompt prompt;
  for (const auto& [typed, shown] : lines) CHECK(prompt.line(typed) == shown);
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

TEST_CASE("a declaration replaces any declaration of its name") {
  Prompt prompt;
  for (const char* line :
       {"int main() { return 1; }", "int main() { return 2; }", "extern \"C\" int of_c(int n) { return n; }",
        "extern \"C\" int of_c(int n) { return 2 * n; }", "template <class T, int N> struct Row { T x[N]; };",
        "template <class T> struct Row { T x; };", "int by(int n = 1) { return n; }",
        "int by(int n = 2) { return n; }"})
    CHECK(prompt.line(line) == "");
  CHECK(prompt.line("tuple{main(), of_c(2), Row<int>{3}.x, by()}") == "(2, 4, 3, 2)");
}

TEST_CASE("a declaration without a semicolon at the end is accepted, and shown") {
  Prompt prompt;
  CHECK(prompt.line("int a = 3") == "3");
  CHECK(prompt.line("auto y = a * 2") == "6");
  CHECK(prompt.line("a + y") == "9");
  CHECK(prompt.line("struct P { int x = 1; }") == "");
  CHECK(prompt.line("P().x") == "1");
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
       "note: DenseOptions has no field 'activaton'; the nearest is 'activation'"}};
  for (const Line& line : lines) {
    const std::string said = prompt.line(line.typed);
    INFO(said);
    CHECK(said.find(line.says) != std::string::npos);
  }
}

TEST_CASE("a variable that is declared again is destroyed unless something may reach it") {
  Prompt prompt;
  constexpr Line lines[] = {{"struct D { int n; ~D() { cout << \"gone \" << n << endl; } };", ""},
                            {"D d{1};", ""},
                            {"D d{2};", "gone 1"},
                            {"int use() { return d.n; }", ""},
                            {"D d{3};", ""},
                            {"use()", "2"},
                            {"D e{4}; D& r = e;", ""},
                            {"D e{5};", ""},
                            {"r.n", "4"},
                            {"auto f = [] { return e.n; };", ""},
                            {"D e{6};", ""},
                            {"f()", "5"},
                            {"D* p; D g{7};", ""},
                            {"p = &g;", ""},
                            {"D g{8};", ""},
                            {"p->n", "7"},
                            {"std::vector<D> v(1);", ""},
                            {"std::vector<int> v;", "gone 0"},
                            {"int d = 9;", "gone 3"}};
  for (const Line& line : lines) {
    INFO(std::string(line.typed));
    CHECK(prompt.line(line.typed) == line.says);
  }
  prompt.line("Tensor big;");
  const std::size_t before = prompt.memory();
  for (int i = 0; i < 10; ++i) prompt.line("Tensor big = K::ones({4000000}); Tensor total = K::sum(big);");
  CHECK(prompt.memory() < before + 80'000'000);
}

TEST_CASE("declarations after a throw in their cell are removed") {
  Prompt prompt;
  prompt.line("throw 1; std::string s = \"set\"; auto [a, b] = std::pair(s, 2);");
  for (const char* name : {"s", "a", "b"}) {
    INFO(std::string(name));
    CHECK(begins(prompt.line(name), "error: use of undeclared identifier"));
  }
}

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

TEST_CASE("a thread that fails ends alone, with a message") {
  Prompt prompt;
  CHECK(prompt.line("std::thread([] { throw runtime_error(\"alone\"); }).join(); 1") ==
        "std::runtime_error: alone\n(in a thread, which has ended)\n1");
  CHECK(prompt.line("std::thread([] { *static_cast<volatile int*>(nullptr) = 1; }).join(); 2") ==
        "segmentation fault\n(in a thread, which has ended)\n2");
}

TEST_CASE("endless recursion is reported, and the session continues") {
  Prompt prompt;
  prompt.line("int deep(int n) { volatile char room[100]; room[0] = n; return deep(n + 1) + room[0]; }");
  CHECK(prompt.line("deep(0)") == "stack overflow (a function calls itself without end?)");
  CHECK(prompt.line("std::thread([] { deep(0); }).join(); 1") ==
        "stack overflow (a function calls itself without end?)\n(in a thread, which has ended)\n1");
  CHECK(prompt.line("deep(0)") == "stack overflow (a function calls itself without end?)");
}

TEST_CASE("members defined outside of a class or template are replaced together with it") {
  const char* advice = "note: a definition outside of its class or template can only be replaced together";
  Prompt prompt;
  const auto refused = [&](const char* line) {
    const std::string said = prompt.line(line);
    INFO(line, "\n", said);
    CHECK(said.find("error: redefinition of ") == 0);
    CHECK(said.find(advice) != std::string::npos);
  };
  prompt.line("template <class T> struct Box { int get() { return 0; } };");
  prompt.line("template <> struct Box<int> { int get() { return 1; } };");
  refused("template <> struct Box<int> { int get() { return 2; } };");
  CHECK(prompt.line("Box<int>().get()") == "1");
  prompt.line("template <class T> struct Box { int get() { return 0; } };");
  prompt.line("template <> struct Box<int> { int get() { return 2; } };");
  CHECK(prompt.line("Box<int>().get()") == "2");

  prompt.line("template <class T> int kind(T) { return 0; }");
  prompt.line("template <> int kind(int) { return 1; }");
  refused("template <> int kind(int) { return 2; }");
  CHECK(prompt.line("kind(3)") == "1");

  prompt.line("struct Counter { int next(); };");
  prompt.line("int Counter::next() { return 1; }");
  refused("int Counter::next() { return 2; }");
  CHECK(prompt.line("struct Counter { int next(); }; int Counter::next() { return 3; }") == "");
  CHECK(prompt.line("Counter().next()") == "3");

  for (const char* number : {"1", "2"})
    prompt.line(std::string("struct Key {}; template <> struct std::hash<Key> { size_t operator()(Key) const "
                            "{ return ") +
                number + "; } };");
  CHECK(prompt.line("std::hash<Key>()(Key())") == "2");
}

TEST_CASE("a function may be declared now and defined later") {
  Prompt prompt;
  prompt.line("int later(int);");
  CHECK(prompt.line("later(1)").find("error: declared, but not defined: later(int)") == 0);
  prompt.line("int later(int n) { return 10 * n; }");
  CHECK(prompt.line("later(1)") == "10");
  prompt.line("struct Node; Node* node = nullptr;");
  prompt.line("struct Node { int value = 4; };");
  CHECK(prompt.line("node = new Node; node->value") == "4");
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

TEST_CASE("members complete, too, and completing runs nothing") {
  Prompt prompt;
  prompt.line("Variable weights = K::zeros({2});");
  prompt.type("weights.trainab\t");
  prompt.until("weights.trainable");
  prompt.type("()\n");
  prompt.until("\n");
  CHECK(prompt.until("\n>>> ") == "true");
}

TEST_CASE("a session is saved as a program, which runs as it did") {
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
