#include "examples.hpp"

#include <ktape/autograd/base/interrupt.hpp>

EXAMPLE("backend::set_num_threads backend::num_threads") {
  const int before = K::num_threads();
  K::set_num_threads(1);
  std::cout << K::num_threads();
  K::set_num_threads(before);
}

EXAMPLE("allocate deallocate") {
  void* block = ktape::allocate(1000);
  std::cout << reinterpret_cast<std::uintptr_t>(block) % 64;
  ktape::deallocate(block, 1000);
}

EXAMPLE("WorkVector CachedMemory") {
  ktape::WorkVector<float> sums(4);
  sums[2] = 1.5f;
  std::cout << sums.size() << " " << sums[2];
}

EXAMPLE("VariableTransaction") {
  Variable a = K::variable(1.f), b = K::variable(2.f);
  try {
    ktape::VariableTransaction changes;
    K::update(a, 10.f);
    K::update(b, K::ones({3}));  // another shape
    changes.commit();
  } catch (const ktape::ValueError&) {
    std::cout << a;  // as before
  }
}

EXAMPLE("accept_interrupts interrupt Interrupted check_interrupt clear_interrupt") {
  ktape::accept_interrupts();
  ktape::interrupt();  // such as in a handler of SIGINT
  try {
    K::ones({2}) + 1.f;
  } catch (const ktape::Interrupted& error) {
    std::cout << error.what() << "\n";
  }
  ktape::check_interrupt();  // throws nothing: no interrupt is pending
  ktape::interrupt();
  std::cout << ktape::clear_interrupt();
}

EXAMPLE("interrupt_caller take_interrupt_text") {
  ktape::accept_interrupts();
  auto loop = [] { ktape::interrupt_caller("ended in step 3"); };
  loop();
  try {
    K::ones({2}) + 1.f;
  } catch (const ktape::Interrupted& error) {
    std::cout << error.what() << "\n";
  }
  loop();
  ktape::clear_interrupt();
  std::cout << ktape::take_interrupt_text();
}
