#pragma once
#include <barrier>
#include <thread>
#include <vector>

/// Runs f(0), f(1), ... at once, each in a thread.
template <class F>
void in_threads(int count, F f) {
  std::barrier start(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      f(i);
    });
  for (std::thread& thread : threads) thread.join();
}
