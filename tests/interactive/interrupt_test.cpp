#include <chrono>
#include <thread>

#include "prompt.hpp"

TEST_CASE("Ctrl-C ends a loop with ops, a loop without ops, and a sleep, and the session continues") {
  Prompt prompt;
  prompt.line("int steps = 0; Variable w = K::variable({1.f});");
  for (const char* loop :
       {"while (true) { ++steps; K::update(w, w + 1.f); }", "while (true) { volatile int x = ++steps; }",
        "std::this_thread::sleep_for(std::chrono::hours(1));"}) {
    prompt.type("cout << 6 * 7 << endl; " + std::string(loop) + '\n');
    prompt.until("42\r\n", 60);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    prompt.type("\x03");
    const std::string said = prompt.until(">>> ", 20);
    INFO(std::string(loop));
    CHECK(said.find("interrupted\n") != std::string::npos);
  }
  CHECK(prompt.line("steps > 1 && w.value().item<float>() > 1") == "true");
}

TEST_CASE("Ctrl-C ends code that waits, prints or searches without end") {
  Prompt prompt;
  for (const char* cell :
       {"std::promise<int> never; never.get_future().get();",
        "std::thread sleeper([] { std::this_thread::sleep_for(std::chrono::hours(1)); }); sleeper.join();",
        "std::mutex a; a.lock(); a.lock();",
        "std::mutex b; std::condition_variable c; std::unique_lock<std::mutex> l(b); c.wait(l);",
        "std::regex_match(std::string(40, 'a'), std::regex(\"(a*)*b\"));",
        "while (true) cout << \"line\" << 42 << endl;",
        "{ Tensor x = K::ones({64, 64}); while (true) cout << x << endl; }",
        "{ Tensor x = K::ones({30, 30}); while (true) K::print_tensor(x); }",
        "{ Tensor x = K::ones({30, 30}); while (true) K::reshape(x, {900}); }",
        "{ nn::Dense layer(3); layer.build({8}); while (true) layer.count_params(); }",
        "{ nn::Dense layer(3); while (true) layer.get_config(); }",
        "{ nn::Dense layer(3); layer.build({8}); auto count = [&]() noexcept { for (int i = 0; i < 99; ++i) "
        "layer.count_params(); }; while (true) { count(); layer.count_params(); } }",
        "{ nn::Dense layer(3); while (true) try { layer.get_config(); } catch (const std::bad_alloc&) {} }",
        "{ Tensor x = K::ones({1}); while (true) x.item(); }"}) {
    INFO(std::string(cell));
    prompt.type(std::string(cell) + '\n');
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    prompt.type("\x03");
    CHECK(prompt.until(">>> ", 20).find("interrupted") != std::string::npos);
    CHECK(prompt.line("K::sum(K::ones({3, 3})).item<float>()") == "9.0");
  }
}

TEST_CASE("Ctrl-C releases the locks of a cell that waits or calls a library in a loop") {
  Prompt prompt;
  prompt.line(
      "std::mutex lock; std::promise<int> never; auto result = never.get_future(); nn::Dense layer(3);");
  for (const char* cell : {"{ std::lock_guard held(lock); result.get(); }",
                           "{ std::lock_guard held(lock); while (true) layer.get_config(); }"}) {
    CAPTURE(std::string(cell));
    prompt.type(std::string(cell) + '\n');
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    prompt.type("\x03");
    prompt.until(">>> ", 20);
    CHECK(prompt.line("lock.try_lock()") == "true");
    prompt.line("lock.unlock();");
  }
}

TEST_CASE("after Ctrl-C during matrix products, later products are right") {
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

TEST_CASE("after Ctrl-C in fit the rest of the cell does not run, and the history is kept") {
  Prompt prompt;
  prompt.line(
      "nn::Sequential m({nn::Dense(1)}); m.compile({.loss = \"mse\"}); Tensor x = K::ones({4096, 8}), y = "
      "K::ones({4096, 1});");
  prompt.line("int after = 0; nn::FitOptions quiet{.batch_size = 1, .epochs = 1000, .verbose = 0};");
  const auto interrupted = [&](const std::string& cell, double seconds = 0.7) {
    prompt.type(cell + '\n');
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    prompt.type("\x03");
    return prompt.until(">>> ", 30);
  };
  std::string said = interrupted("auto h = m.fit(x, y, quiet); after = 1;");
  CHECK(said.find("[fit] interrupted in epoch ") != std::string::npos);
  CHECK(said.find(" of 1000\nthe rest of the cell did not run\n") != std::string::npos);
  CHECK(prompt.line("after") == "0");
  CHECK(prompt.line("h[\"loss\"].size() > 0") == "true");
  // A statement that holds the training: no op follows in the first, an op follows in the second.
  for (const char* cell : {"for (int i = 0; i < 3; ++i) { m.fit(x, y, quiet); ++after; }",
                           "{ m.fit(x, y, quiet); K::ones({2}); after = 7; }"}) {
    said = interrupted(cell);
    CHECK(said.find("[fit] interrupted in epoch ") != std::string::npos);
    CHECK(said.find("the rest") == std::string::npos);
    CHECK(prompt.line("after < 7") == "true");
  }
  // Calls of seconds: a Ctrl-C between two calls names none.
  prompt.line("Tensor many = K::ones({500000, 8}), targets = K::ones({500000, 1});");
  for (const std::string loop : {"evaluate", "predict"}) {
    const std::string arguments = loop == "predict" ? "(many, {.batch_size = 1, .verbose = 0});"
                                                    : "(many, targets, {.batch_size = 1, .verbose = 0});";
    said = interrupted("while (true) m." + loop + arguments + " after = 8;");
    CAPTURE(said);
    const std::string rest = "interrupted\nthe rest of the cell did not run";
    const bool named = said.find("[" + loop + "] " + rest) != std::string::npos;
    CHECK((named || said.find("^C" + rest) != std::string::npos));
    CHECK(prompt.line("after") != "8");
  }
  CHECK(prompt.line("K::sum(K::ones({3, 3})).item<float>()") == "9.0");
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

TEST_CASE("Ctrl-C ends a wait for input, and the next input is read") {
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
