#include <ktape/nn/files/bytes.hpp>
#include <ktape/nn/files/json_part.hpp>
#include <ktape/nn/saving/base/parts.hpp>

#include <algorithm>

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

Value json_of(const char* op, const std::string& path) {
  const data::RandomFile file(op, path);
  data::FileSection text(op, file, "the text", 0, file.size());
  return json_part(op, path, "", text.rest());
}

}  // namespace ktape::nn::saving
