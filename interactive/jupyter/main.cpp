#include <unistd.h>
#include <ktape/interactive/jupyter/kernel.hpp>
#include <xeus/xkernel.hpp>
#include <xeus/xkernel_configuration.hpp>
#include <xeus/xserver_zmq.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <zmq.hpp>

namespace {

/// Blocks Ctrl-C in the threads that xeus starts; only the thread that runs cells handles the signal.
void block_interrupts() {
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupt, nullptr);
}

void run(const std::string& connection) {
  block_interrupts();
  // A notebook has no pager.
  setenv("PAGER", "cat", 1);
  setenv("TERM", "xterm-256color", 1);
  auto interpreter = std::make_unique<ktape::interactive::Kernel>();
  auto& session = *interpreter;
  xeus::xkernel kernel(xeus::load_configuration(connection), xeus::get_user_name(),
                       xeus::make_context<zmq::context_t>(), std::move(interpreter), xeus::make_xserver_zmq,
                       xeus::make_in_memory_history_manager(), nullptr, xeus::make_null_debugger,
                       nl::json::object(), nl::json::error_handler_t::replace);
  kernel.start();
  session.finish();
  // The process ends at once: unloading compiled code piece by piece would only take time.
  std::cout.flush();
  _exit(0);
}

}  // namespace

int main(int count, char** values) {
  if (count != 2 || !std::filesystem::exists(values[1])) {
    std::cerr
        << "ktape-kernel CONNECTION_FILE    Jupyter starts this: ./run jupyter installs it for the user\n";
    return 2;
  }
  try {
    run(values[1]);
  } catch (const std::exception& error) {
    std::cerr << "ktape-kernel: " << error.what() << std::endl;
    return 1;
  }
}
