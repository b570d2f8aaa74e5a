#include <ktape/nn/files/bytes.hpp>
#include <ktape/nn/files/json_part.hpp>
#include <ktape/nn/saving/base/parts.hpp>

#include <algorithm>
#include <filesystem>

namespace ktape::nn::saving {

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

std::string path_inside(const std::string& path) {
  std::string inside;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (part == ".." || part.find('\0') != std::string::npos || end == 0) return "";
    if (!part.empty() && part != ".") inside += (inside.empty() ? "" : "/") + part;
    begin = end + 1;
  }
  return inside;
}

std::string path_beside(const std::string& path, const std::string& name) {
  namespace files = std::filesystem;
  const std::string inside = path_inside(name), folder = folder_of(path);
  std::error_code error;
  const files::path there = files::weakly_canonical(folder + inside, error);
  if (inside.empty() || error) return "";
  const auto holds = [&](const files::path& around) {
    return std::mismatch(around.begin(), around.end(), there.begin(), there.end()).first == around.end();
  };
  const bool beside = holds(files::weakly_canonical(folder.empty() ? "." : folder, error)) ||
                      holds(files::weakly_canonical(path, error).parent_path());
  return beside && !error ? inside : "";
}

Value json_of(const char* op, const std::string& path) {
  const data::RandomFile file(op, path);
  data::FileSection text(op, file, "the text", 0, file.size());
  return json_part(op, path, "", text.rest());
}

}  // namespace ktape::nn::saving
