#include "prompt.hpp"

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

TEST_CASE("constants and inline variables are initialized where they stand in a cell") {
  Prompt prompt;
  constexpr Line lines[] = {
      {"vector<int> s{1, 2}; const int n = s.size(); n", "2"},
      {"int a = 1; const int b = a + 1; a = 5; b", "2"},
      {"a = 7; b", "2"},
      {"int c = 2; const int d = 10 * c; c = 3; const int e = 10 * c + d; e", "50"},
      {"d", "20"},
      {"int q = 4; inline int w = 2 * q; q = 9; w", "8"},
      {"namespace N { int x = q; const int y = x + 1; namespace { const int z = y + 1; } } N::y + N::z",
       "21"},
      {"struct A { static inline int count = s.size(); }; A::count", "2"},
      {"s.push_back(3); A::count", "2"},
      {"const auto [first, last] = std::pair<int, int>{s.size(), q}; q = 1; first + last", "12"},
      {"const int& r = N::x; N::x = 99; r", "99"},
      {"struct T { static const int m; }; const int T::m = 2 * q; q = 9; T::m", "2"},
      {"throw 3; const int after = q;", "int: 3"},
      {"after", "error: use of undeclared identifier 'after'"},
      {"const int n = 11; n + q", "20"},
  };
  for (const auto& [line, answer] : lines) {
    INFO(std::string(line));
    CHECK(prompt.line(line).find(answer) == 0);
  }
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

TEST_CASE("structs show their members, and enums their names") {
  const std::pair<const char*, const char*> lines[] = {
      {"struct Point { int x = 1; double y = 0.5; string name = \"p\"; }; Point()",
       "Point{.x = 1, .y = 0.5, .name = \"p\"}"},
      {"vector<Point>(2)",
       "{Point{.x = 1, .y = 0.5, .name = \"p\"}, Point{.x = 1, .y = 0.5, .name = \"p\"}}"},
      {"enum class Color { Red, Green }; Color::Green", "Color::Green"},
      {"Color(7)", "Color(7)"},
      {"enum Old { One = 1, Two }; Two", "Old::Two"},
      {"struct Pen : Point { Color color = Color::Red; int bits : 3 = 2; explicit Pen(int a) { x = a; } int "
       "more() { return hidden; } "
       "private: int hidden = 9; }; Pen(4)",
       "Pen{.x = 4, .y = 0.5, .name = \"p\", .color = Color::Red, .bits = 2}"},
      {"namespace shapes { struct Box { struct Side { int length = 3; }; Side side; int corners[2] = {1, 2}; "
       "}; } shapes::Box()",
       "shapes::Box{.side = shapes::Box::Side{.length = 3}, .corners = {1, 2}}"},
      {"class Closed { int secret = 1; }; Closed()", "<Closed>"},
      {"struct Point { long z = 3; }; Point()", "Point{.z = 3}"},
      {"struct Shown { int a = 1; friend std::ostream& operator<<(std::ostream& out, const Shown&) { return "
       "out << \"own\"; } }; Shown()",
       "own"},
  };
  Prompt prompt;
  for (const auto& [typed, shown] : lines) CHECK(prompt.line(typed) == shown);
}

TEST_CASE("a division of integers by zero is an exception") {
  Prompt prompt;
  const std::string text = "ValueError: [/] the divisor of an integer must not be 0: received 0";
  prompt.line("int zero = 0; long long wide = 0; unsigned char narrow = 0;");
  for (const char* typed : {"1 / zero", "zero % zero", "7 / wide", "7u % narrow", "zero /= zero",
                            "wide %= zero", "[] { int n = 5; return n / zero; }()", "1 / 0"})
    CHECK(prompt.line(typed).find(text) != std::string::npos);
  CHECK(prompt.line("int half(int a, int b) { return a / b; } half(6, 3)") == "2");
  CHECK(prompt.line("half(6, 0)") == text);
  CHECK(prompt.line("template <class T> T ratio(T a, T b) { return a / b; } ratio(3, 0)") == text);
  CHECK(prompt.line("ratio(3., 0.)") == "inf");
  CHECK(prompt.line("struct Cell { int n = 8; int over(int d) const { return n / d; } }; Cell().over(0)") ==
        text);
  CHECK(prompt.line("try { half(1, 0); } catch (const ValueError& e) { cout << \"caught\"; }") == "caught");
  CHECK(prompt.line("struct Loud { ~Loud() { cout << \"left \"; } }; { Loud loud; half(1, 0); }") ==
        "left " + text);
  CHECK(prompt.line("constexpr int third = 9 / 3; int sized[8 / 4]; third + sizeof sized") == "11");
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

TEST_CASE("an alias of a type refers to the type that replaces it") {
  const std::string home = Prompt::fresh_home(), program = home + "/session.cpp";
  Prompt prompt(home);
  constexpr Line lines[] = {
      {"struct ScaleImpl : nn::LayerImpl { ScaleImpl() : LayerImpl(\"Scale\") {} Tensor call(const Tensor& "
       "x) override { return 2.f * x; } };",
       ""},
      {"using Scale = nn::LayerOf<ScaleImpl>; using Scales = vector<Scale>;", ""},
      {"typedef Scale SameScale; template <class T> using WithScale = pair<T, ScaleImpl*>;", ""},
      {"Scale old; Scale()(K::ones({1})).item<float>()", "2.0"},
      {"struct ScaleImpl : nn::LayerImpl { ScaleImpl() : LayerImpl(\"Scale\") {} Tensor call(const Tensor& "
       "x) override { return 3.f * x; } }; "
       "Scale()(K::ones({1})).item<float>()",
       "3.0"},
      {"Scale()(K::ones({1})).item<float>()", "3.0"},
      {"Scales s{Scale()}; s[0](K::ones({1})).item<float>()", "3.0"},
      {"SameScale()(K::ones({1})).item<float>()", "3.0"},
      {"std::is_same_v<WithScale<int>::second_type, ScaleImpl*>", "true"},
      {"old(K::ones({1})).item<float>()", "2.0"},
      {"struct ScaleImpl : nn::LayerImpl { ScaleImpl() : LayerImpl(\"Scale\") {} Tensor call(const Tensor& "
       "x) override { return 4.f * x; } }; "
       "using Scale = nn::LayerOf<ScaleImpl>;",
       ""},
      {"Scale()(K::ones({1})).item<float>()", "4.0"},
      {"struct Point { int x = 1; }; using P = Point;", ""},
      {"struct Point { int y = 5; /* } */ };", ""},
      {"P().y", "5"}};
  for (const Line& line : lines) {
    INFO(std::string(line.typed));
    CHECK(prompt.line(line.typed) == line.says);
  }
  CHECK(prompt.line("%save " + program) == "");
  CHECK(prompt.line("%load " + program).ends_with("4\n5"));
}
