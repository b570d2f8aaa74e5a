#pragma once
#include <ktape/interactive/crash_guard/crash_guard.hpp>

#include <string>

/// Commands of the prompt that concern the process and its files, not the session.
namespace ktape::interactive {

/// Runs a command of the system's shell, which reads and writes the standard streams. Ctrl-C ends the command
/// alone.
Ending run_system_command(const std::string& command);

/// Makes a folder the current folder, and prints its path. An empty path, and ~, mean the home folder.
Ending change_folder(const std::string& path);

/// Loads a shared library, whose functions cells can then call.
Ending load_library(const std::string& path);

}  // namespace ktape::interactive
