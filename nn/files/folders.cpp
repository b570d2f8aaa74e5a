#include <ktape/autograd/base/error.hpp>
#include <ktape/nn/files/folders.hpp>

#include <filesystem>

namespace ktape::nn {

void make_folder(const char* callback, const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    fail<IOError>("[", callback, "] the folder must be writable: received '", path, "' (", error.message(),
                  ')');
}

void make_folder_of(const char* callback, const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (!folder.empty()) make_folder(callback, folder);
}

}  // namespace ktape::nn
