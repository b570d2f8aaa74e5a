#include <ktape/interactive/clang/toolchain.hpp>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <stdexcept>

namespace fs = std::filesystem;

namespace ktape::interactive {
namespace {

/// Returns the folder above that of the program: bin/ (installed) and interactive/ (build tree) both lie
/// beside include/.
fs::path prefix() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path(); }

fs::path session_header() {
  const fs::path header = prefix() / "include/ktape/interactive/session/session.hpp";
  if (!fs::exists(header))
    throw std::runtime_error("the headers of ktape are not beside the program: " + header.string());
  return header;
}

std::vector<std::string> flags() {
  std::vector<std::string> flags{"-std=c++20",
                                 "-O2",
                                 "-resource-dir",
                                 KTAPE_CLANG_RESOURCES,
                                 "-fno-relaxed-template-template-args",
                                 "-Wno-deprecated-no-relaxed-template-template-args",
                                 "-Wno-unused-value",
                                 "-Wno-macro-redefined",
                                 "-Wno-dangling-else",
                                 "-Wno-unused-comparison",
                                 "-Wno-predefined-identifier-outside-function",
                                 "-Werror=return-type",
                                 "-ftemplate-backtrace-limit=2",
                                 "-I" + (prefix() / "include").string()};
  std::string folders = KTAPE_INCLUDE_FOLDERS;
  for (std::size_t at = 0, end; at < folders.size(); at = end + 1) {
    end = std::min(folders.find(':', at), folders.size());
    if (end > at) flags.push_back("-isystem" + folders.substr(at, end - at));
  }
  // CellCode optimizes the generated code.
  flags.insert(flags.end(), {"-Xclang", "-fincremental-extensions", "-Xclang", "-disable-llvm-passes"});
  return flags;
}

fs::path cache_folder() {
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder && *folder)
    return fs::path(folder) / "ktape";
  const char* home = std::getenv("HOME");
  return (home && *home ? fs::path(home) / ".cache" : fs::temp_directory_path()) / "ktape";
}

/// Returns the candidates for the precompiled header, best first.
std::vector<fs::path> places() {
  const std::string key = std::to_string(std::hash<std::string>()(prefix().string()));
  return {prefix() / "interactive/session.pch", prefix() / KTAPE_LIBRARY_FOLDER / "ktape/session.pch",
          cache_folder() / ("session-" + key + ".pch")};
}

/// Returns an interpreter with the precompiled header; null if clang rejects the header.
std::unique_ptr<Interpreter> opened(const fs::path& precompiled) {
  if (!fs::exists(precompiled)) return nullptr;
  try {
    return std::make_unique<Interpreter>(Interpreter::Options{
        .flags = flags(), .precompiled = precompiled.string(), .colors = isatty(STDERR_FILENO) != 0});
  } catch (const std::runtime_error&) {
    return nullptr;
  }
}

}  // namespace

std::string precompile_session(const std::string& to) {
  return Interpreter::precompile(session_header().string(), to, flags());
}

std::unique_ptr<Interpreter> open_interpreter() {
  for (const fs::path& place : places())
    if (auto interpreter = opened(place)) return interpreter;
  const fs::path place = places().back();
  std::cerr << "Preparing the headers, once ..." << std::endl;
  fs::create_directories(place.parent_path());
  const fs::path unfinished = place.string() + '.' + std::to_string(getpid());
  if (const std::string problem = precompile_session(unfinished.string()); !problem.empty())
    throw std::runtime_error(problem);
  fs::rename(unfinished, place);
  if (auto interpreter = opened(place)) return interpreter;
  throw std::runtime_error("clang does not take the headers that it has precompiled: " + place.string());
}

}  // namespace ktape::interactive
