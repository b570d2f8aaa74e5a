#include <ktape/nn/core/names.hpp>

#include <cctype>

namespace ktape::nn {
namespace {

bool upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::string to_snake_case(const std::string& class_name) {
  std::string out;
  for (std::size_t i = 0; i < class_name.size(); ++i) {
    const char c = class_name[i];
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') continue;
    const bool starts_word =
        i > 0 && upper(c) && class_name[i - 1] != '_' &&
        (lower(class_name[i - 1]) || (i + 1 < class_name.size() && lower(class_name[i + 1])));
    if (starts_word && !out.empty()) out += '_';
    out += c;
  }
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace ktape::nn
