#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "loaders.hpp"

extern "C" void __sanitizer_set_death_callback(void (*callback)());

// libFuzzer's entry points. The environment variable KTAPE_FUZZ names the loader.
namespace {

const Loader* chosen = nullptr;
std::string folder;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const name = std::getenv("KTAPE_FUZZ");
  for (const Loader& loader : loaders())
    if (name && std::strcmp(name, loader.name) == 0) chosen = &loader;
  if (!chosen) {
    std::fputs("KTAPE_FUZZ must name a loader:", stderr);
    for (const Loader& loader : loaders()) std::fprintf(stderr, " %s", loader.name);
    std::fputs("\n", stderr);
    std::exit(2);
  }
  std::string name_of_folder = (std::filesystem::temp_directory_path() / "ktape-fuzz-XXXXXX").string();
  if (!mkdtemp(name_of_folder.data())) std::abort();
  folder = name_of_folder;
  // A crash of a child process that reads HDF5 files is no finding: the child exists to contain crashes.
  pthread_atfork(nullptr, nullptr, [] { __sanitizer_set_death_callback(nullptr); });
  std::atexit([] { std::filesystem::remove_all(folder); });
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  load_content(*chosen, folder, {reinterpret_cast<const char*>(data), size});
  return 0;
}
