#include <ktape/interactive/crash_guard/stopped_thread.hpp>

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

extern "C" const void* _Unwind_Find_FDE(const void*, void*);

namespace ktape::interactive {
namespace {

struct Range {
  std::uintptr_t begin = 0, end = 0;
  bool contains(std::uintptr_t address) const { return address >= begin && address < end; }
};

/// The code of all cells, in order. The handler of the thread that runs cells reads the list during cells,
/// and that thread changes the list between cells.
std::vector<Range>& session_code() {
  static std::vector<Range>& code = *new std::vector<Range>;
  return code;
}

bool is_session_code(std::uintptr_t address) {
  const std::vector<Range>& code = session_code();
  const auto after = std::upper_bound(code.begin(), code.end(), address,
                                      [](std::uintptr_t at, const Range& range) { return at < range.begin; });
  return after != code.begin() && std::prev(after)->contains(address);
}

/// Functions that wait: most are the points at which POSIX lets a thread be cancelled, and the C library and
/// the C++ library release their locks when the stack is unwound out of them.
constexpr const char* waiting_names[] = {
    "clock_nanosleep",
    "nanosleep",
    "poll",
    "ppoll",
    "select",
    "pselect",
    "pause",
    "sigsuspend",
    "read",
    "write",
    "writev",
    "open",
    "open64",
    "openat",
    "fsync",
    "send",
    "sendto",
    "sendmsg",
    "recv",
    "recvfrom",
    "recvmsg",
    "accept",
    "connect",
    "epoll_wait",
    "wait4",
    "waitpid",
    "pthread_join",
    "_ZNSt6thread4joinEv",  // calls no exported function of the C library
    "pthread_mutex_lock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "pthread_cond_clockwait",
    "pthread_barrier_wait",
    "sem_wait",
    "sem_timedwait",
    "sem_clockwait",
    "syscall",  // the waits of std::future, std::latch and std::atomic
};

std::array<Range, std::size(waiting_names)> find_waiting_functions() {
  std::array<Range, std::size(waiting_names)> found;
  for (std::size_t i = 0; i < found.size(); ++i) {
    Dl_info info;
    ElfW(Sym)* symbol = nullptr;
    void* const address = dlsym(RTLD_DEFAULT, waiting_names[i]);
    if (!address || !dladdr1(address, &info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) || !symbol)
      continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    found[i] = {begin, begin + symbol->st_size};
  }
  return found;
}

const std::array<Range, std::size(waiting_names)>& waiting_functions() {
  static const auto functions = find_waiting_functions();
  return functions;
}

bool waits(std::uintptr_t address) {
  return std::any_of(waiting_functions().begin(), waiting_functions().end(),
                     [&](const Range& range) { return range.contains(address); });
}

enum class Owner { Session, Program, CLibrary, CppLibrary, Runtime, Other };

/// Returns the owner of the code at an address. Code without a file that is not the session's was generated
/// by a library, as oneDNN does.
Owner owner_of(std::uintptr_t address) {
  if (is_session_code(address)) return Owner::Session;
  dl_find_object object;
  if (_dl_find_object(reinterpret_cast<void*>(address), &object) != 0) return Owner::Other;
  const std::string_view path = object.dlfo_link_map->l_name;
  if (path.empty()) return Owner::Program;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (file.starts_with("libc.so")) return Owner::CLibrary;
  if (file.starts_with("libstdc++.so")) return Owner::CppLibrary;
  if (file.starts_with("ld-linux") || file.starts_with("libgcc_s.so")) return Owner::Runtime;
  return Owner::Other;
}

std::uintptr_t program_counter(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return machine.pc;
#else
#error "where is the program counter of this machine?"
#endif
}

/// Returns whether a thread with this program counter is inside of a system call: after the instruction that
/// makes the call, or at the instruction if the call is made again after the signal.
bool in_system_call(std::uintptr_t counter) {
#if defined(__x86_64__)
  const auto* code = reinterpret_cast<const unsigned char*>(counter);
  return (code[-2] == 0x0f && code[-1] == 0x05) || (code[0] == 0x0f && code[1] == 0x05);
#else
  const auto* code = reinterpret_cast<const std::uint32_t*>(counter);
  return code[-1] == 0xd4000001 || code[0] == 0xd4000001;
#endif
}

/// The frames of a thread from the stopped function to the function that runs cells. The last frames are the
/// program's own, which call the cell.
struct Frames {
  std::uintptr_t stopped_at, guard;
  bool found_stopped = false, arrived = false;
  bool session = false;        ///< whether there is a frame of the session's code
  bool program = false;        ///< whether the last frame is the program's
  bool called_back = false;    ///< whether a library or the program called the session's code
  bool waiting = false;        ///< whether a waiting function is among the innermost functions
  bool c_library = false;      ///< whether another function of the C library is innermost
  bool other_library = false;  ///< whether a function of another library is innermost

  void add(std::uintptr_t address) {
    const Owner owner = owner_of(address);
    called_back = called_back || (program && owner != Owner::Program);
    program = owner == Owner::Program;
    if (program) return;
    if (session) called_back = called_back || owner != Owner::Session;
    else if (owner == Owner::Session) session = true;
    else if (waits(address)) waiting = true;
    else if (owner == Owner::CLibrary) c_library = true;
    else if (owner != Owner::CppLibrary) other_library = true;
  }
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  auto& frames = *static_cast<Frames*>(argument);
  int before_instruction = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &before_instruction);
  frames.found_stopped = frames.found_stopped || address == frames.stopped_at;
  if (!frames.found_stopped) return _URC_NO_REASON;  // the handler's own frames
  if (_Unwind_GetCFA(context) >= frames.guard) {
    frames.arrived = true;
    return _URC_NORMAL_STOP;
  }
  frames.add(address - (before_instruction ? 0 : 1));
  return _URC_NO_REASON;
}

struct Unwinding {
  void (*arrived)();
  bool in_handler = true;
};

/// Stops at the first frame of the program after the frames of the handler, which is the program's, too.
_Unwind_Reason_Code stop_at_program(int, _Unwind_Action, _Unwind_Exception_Class, _Unwind_Exception*,
                                    _Unwind_Context* context, void* argument) {
  auto& unwinding = *static_cast<Unwinding*>(argument);
  const bool program = owner_of(_Unwind_GetIP(context) - 1) == Owner::Program;
  if (program && !unwinding.in_handler) unwinding.arrived();
  unwinding.in_handler = unwinding.in_handler && program;
  return _URC_NO_REASON;
}

}  // namespace

void add_session_code(std::uintptr_t begin, std::uintptr_t end) {
  std::vector<Range>& code = session_code();
  const auto after = std::upper_bound(code.begin(), code.end(), begin,
                                      [](std::uintptr_t at, const Range& range) { return at < range.begin; });
  code.insert(after, {begin, end});
}

void remove_session_code(std::uintptr_t begin) {
  std::erase_if(session_code(), [&](const Range& range) { return range.begin == begin; });
}

void prepare_unwinding() {
  waiting_functions();
  // The unwinder sorts the tables of new code in the first search, and allocates memory for that. Address 0 is
  // in no table, so all tables are searched.
  struct {
    void* bases[3];
  } unused;
  _Unwind_Find_FDE(nullptr, &unused);
}

Innermost innermost_functions(const void* context, std::uintptr_t guard) {
  const std::uintptr_t counter = program_counter(context);
  const Owner owner = owner_of(counter);
  if (owner == Owner::Runtime) return Innermost::Indivisible;  // the unwinder may hold its lock
  Frames frames{counter, guard};
  _Unwind_Backtrace(visit, &frames);
  if (!frames.arrived || frames.called_back || frames.other_library)
    return owner != Owner::CLibrary  ? Innermost::Library
           : in_system_call(counter) ? Innermost::SystemCall
                                     : Innermost::Indivisible;
  if (owner == Owner::Session) return Innermost::Session;
  if (frames.waiting) return Innermost::Waiting;
  if (!frames.c_library) return Innermost::StandardLibrary;
  return in_system_call(counter) ? Innermost::SystemCall : Innermost::Indivisible;
}

void unwind_session(void (*arrived)()) {
  static _Unwind_Exception exception;
  static Unwinding unwinding;
  exception = {};
  unwinding = {arrived};
  _Unwind_ForcedUnwind(&exception, stop_at_program, &unwinding);
}

}  // namespace ktape::interactive
