#include <ktape/autograd/base/handler_stack.hpp>
#include <ktape/autograd/base/interrupt.hpp>
#include <ktape/interactive/crash_guard/crash_guard.hpp>
#include <ktape/interactive/crash_guard/stopped_thread.hpp>

#include <cxxabi.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <sstream>
#include <string_view>
#include <typeinfo>

namespace ktape::interactive {
namespace {

/// The place to which a jump out of the cell's code returns, and the reason of the jump.
struct Exit {
  sigjmp_buf place;
  std::uintptr_t guard = 0;  ///< an address in the frame of `guarded`
  volatile sig_atomic_t open = 0;
  volatile sig_atomic_t interrupts = 0;     ///< the number of Ctrl-C during the cell
  volatile sig_atomic_t ticks_in_call = 0;  ///< the number of ticks in a row inside of one system call
  const char* volatile crash = nullptr;
  std::string terminated = {};
};
Exit leaving;
pthread_t guarded_thread;
timer_t ticks;

enum Jump { Terminated = 1, Crashed, Interrupted, GivenUp };

constexpr int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
int (*in_team)() = nullptr;  // omp_in_parallel: a thread of a team must not end, the others wait for it

[[noreturn]] void jump(Jump how) {
  leaving.open = 0;
  siglongjmp(leaving.place, how);
}

std::uintptr_t stack_pointer(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return machine.sp;
#else
#error "where is the stack pointer of this machine?"
#endif
}

/// Returns whether a segmentation fault lies near the stack pointer: the stack overflowed.
bool overflows_stack(const siginfo_t& info, const void* context) {
  constexpr std::uintptr_t near = std::uintptr_t{1} << 16;
  const auto fault = reinterpret_cast<std::uintptr_t>(info.si_addr);
  const std::uintptr_t top = stack_pointer(context);
  return info.si_signo == SIGSEGV && info.si_code > 0 && fault + near > top && fault < top + near;
}

const char* crash_name(const siginfo_t& info, const void* context) {
  switch (info.si_signo) {
    case SIGSEGV:
      return overflows_stack(info, context) ? "stack overflow (a function calls itself without end?)"
                                            : "segmentation fault";
    case SIGBUS:
      return "bus error";
    case SIGFPE:
      return "arithmetic error (division of an integer by zero)";
    case SIGILL:
      return "illegal instruction (unreachable code was reached)";
    default:
      return "abort";
  }
}

std::array<std::ios*, 4> standard_streams() { return {&std::cout, &std::cerr, &std::clog, &std::cin}; }

void set_ticks(bool on) {
  itimerspec times{};
  if (on) times.it_value = {0, 50'000'000}, times.it_interval = {0, 10'000'000};
  timer_settime(ticks, 0, &times, nullptr);
}

/// The number of Ctrl-C that gives a cell up.
constexpr int last_interrupt = 3;

void say(std::string_view text) {
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

/// Asks the cell to stop: the next op throws, and loops that print find their streams closed.
void ask_to_stop() {
  interrupt();
  for (std::ios* stream : standard_streams())
    if (stream->exceptions() == std::ios::goodbit) stream->clear(std::ios::badbit);
  if (leaving.interrupts == last_interrupt - 1) say("(Ctrl-C once more gives the cell up)\n");
  set_ticks(true);
}

/// Treats an interrupt that a loop such as `fit` took for itself, and passes on at its end, as a Ctrl-C.
void interrupt_again() {
  if (!leaving.open) return;
  leaving.interrupts = leaving.interrupts + 1;
  ask_to_stop();
}

/// Leaves the cell by unwinding the stack, as the end of a thread does: destructors of local variables run.
void unwind_wait() {
  set_ticks(false);
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  pthread_sigmask(SIG_UNBLOCK, &interrupts, nullptr);
  unwind_session([] { jump(Interrupted); });
  jump(Interrupted);
}

/// Leaves the cell if that is safe in the functions that the thread is in, or if the cell is given up.
void try_to_leave(const void* context) {
  constexpr int long_call = 20;
  const bool given_up = leaving.interrupts >= last_interrupt;
  const Innermost innermost = innermost_functions(context, leaving.guard);
  leaving.ticks_in_call = innermost == Innermost::SystemCall ? leaving.ticks_in_call + 1 : 0;
  if (innermost == Innermost::Waiting) unwind_wait();
  else if (innermost == Innermost::Session) jump(Interrupted);
  else if (innermost == Innermost::StandardLibrary && given_up) jump(Interrupted);
  else if (given_up && (innermost == Innermost::Library || leaving.ticks_in_call > long_call)) jump(GivenUp);
}

/// Handles Ctrl-C and the ticks of the timer that the first Ctrl-C starts.
void on_interrupt(int, siginfo_t* info, void* context) {
  if (!pthread_equal(pthread_self(), guarded_thread)) {
    pthread_kill(guarded_thread, SIGINT);
    return;
  }
  const int error = errno;
  if (info->si_code != SI_TIMER) leaving.interrupts = leaving.interrupts + 1;
  if (!leaving.open) {
    set_ticks(false);
  } else if (info->si_code != SI_TIMER) {
    ask_to_stop();
  } else if (leaving.interrupts > 0) {
    try_to_leave(context);
  }
  errno = error;
}

bool in_guarded_thread() { return pthread_equal(pthread_self(), guarded_thread); }

/// Ends a thread that the user started, and only that thread, as in Python; a join on the thread returns.
void end_thread(const char* why, std::size_t length) {
  if (in_guarded_thread() || (in_team && in_team())) return;
  constexpr std::string_view note = "\n(in a thread, which has ended)\n";
  for (const std::string_view text : {std::string_view(why, length), note})
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) break;
  // pthread_exit would unwind the stack, which may be the very thing that is broken.
  syscall(SYS_exit, 0);
}

void on_crash(int signal, siginfo_t* info, void* context) {
  const char* const name = crash_name(*info, context);
  if (leaving.open && in_guarded_thread()) {
    leaving.crash = name;
    jump(Crashed);
  }
  end_thread(name, std::strlen(name));
  ::signal(signal, SIG_DFL);
  raise(signal);
}

std::string terminated_by() {
  try {
    if (!std::current_exception()) return "std::terminate was called";
    std::rethrow_exception(std::current_exception());
  } catch (...) {
    return describe_exception();
  }
}

void on_terminate() {
  const bool thrown = std::current_exception() != nullptr;
  const std::string why = terminated_by();
  end_thread(why.data(), why.size());
  if (!leaving.open || !in_guarded_thread()) std::abort();
  leaving.terminated = why + (thrown ? "\n(thrown out of a destructor or a noexcept function)" : "");
  jump(Terminated);
}

/// Installs the handlers of crashes for the rest of the process, since threads may outlive their cell.
void handle_crashes() {
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const int signal : crashes) sigaction(signal, &action, nullptr);
  std::set_terminate(on_terminate);
}

void prepare() {
  guarded_thread = pthread_self();
  in_team = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_in_parallel"));
  handle_crashes();
  accept_interrupts(interrupt_again);
  static const HandlerStack stack;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGINT;
  event._sigev_un._tid = gettid();
  timer_create(CLOCK_MONOTONIC, &event, &ticks);
}

/// Resets the C++ runtime's record of exceptions in flight after a jump out of their handling.
void reset_exceptions() {
  struct Globals {
    void* caught;
    unsigned int uncaught;
  };
  auto* const globals = reinterpret_cast<Globals*>(abi::__cxa_get_globals());
  globals->caught = nullptr;
  globals->uncaught = 0;
}

/// The text of an interrupt in an op that makes a tensor without naming itself.
constexpr std::string_view unknown_op = "[tensor] interrupted";

Ending caught(const std::function<void()>& f) {
  try {
    f();
    return {};
  } catch (const ktape::Interrupted& interrupted) {
    const std::string text = interrupted.what();
    return {Ending::Interrupted, text == unknown_op ? "interrupted" : text};
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    return {Ending::Threw, describe_exception()};
  }
}

std::string type_name(const std::type_info& type) {
  char* const demangled = abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr);
  std::string name = demangled ? demangled : type.name();
  std::free(demangled);
  if (name.starts_with("std::__cxx11::basic_string<")) name = "std::string";
  // ABI tags tell a class from the classes of that name that it replaced.
  for (std::size_t at; (at = name.find("[abi:")) != std::string::npos;)
    name.erase(at, name.find(']', at) + 1 - at);
  return name.starts_with("ktape::") ? name.substr(7) : name;
}

}  // namespace

InterruptHandler::InterruptHandler() {
  static const bool prepared = (prepare(), true);
  static_cast<void>(prepared);
  leaving.interrupts = 0;
  leaving.ticks_in_call = 0;
  take_interrupt_text();
  struct sigaction action {};
  action.sa_sigaction = on_interrupt;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigaction(SIGINT, &action, &before_);
}

InterruptHandler::~InterruptHandler() {
  set_ticks(false);
  sigaction(SIGINT, &before_, nullptr);
  clear_interrupt();
  if (leaving.interrupts == 0) return;
  for (std::ios* stream : standard_streams()) stream->clear();
}

std::string describe_exception() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  const std::string name = type ? type_name(*type) : "unknown exception";
  try {
    throw;
  } catch (const std::exception& error) {
    return std::string_view(error.what()) == name ? name : name + ": " + error.what();
  } catch (const std::string& text) {
    return name + ": " + text;
  } catch (const char* text) {
    return name + ": " + text;
  } catch (int number) {
    return name + ": " + std::to_string(number);
  } catch (double number) {
    std::ostringstream text;
    text << name << ": " << number;
    return text.str();
  } catch (...) {
    return name;
  }
}

Ending guarded(const std::function<void()>& f) {
  leaving.guard = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  prepare_unwinding();
  Ending ending;
  switch (sigsetjmp(leaving.place, 1)) {
    case 0:
      leaving.open = 1;
      if (leaving.interrupts > 0) return leaving.open = 0, Ending{Ending::Interrupted, take_interrupt_text()};
      ending = caught(f);
      leaving.open = 0;
      return ending;
    case Terminated:
      reset_exceptions();
      return {Ending::Threw, leaving.terminated};
    case Interrupted:
      reset_exceptions();
      return {Ending::Interrupted, take_interrupt_text()};
    case GivenUp:
      reset_exceptions();
      return {Ending::GivenUp, "interrupted inside of a library"};
    default:
      return {Ending::Crashed, leaving.crash};
  }
}

}  // namespace ktape::interactive
