#include <ktape/nn/files/json_part.hpp>

namespace ktape::nn::saving {

std::string reason_of(const Error& error) {
  std::string reason = error.what();
  if (reason.starts_with('['))
    if (const std::size_t end = reason.find("] "); end != std::string::npos) reason.erase(0, end + 2);
  return reason;
}

Value json_part(const char* op, const std::string& file, const std::string& part, const std::string& text) {
  try {
    return from_json(text);
  } catch (const ValueError& error) {
    std::string reason = reason_of(error);
    // Keeps the position and the reason of the parser's message.
    if (const std::size_t at = reason.find("parse error at "); at != std::string::npos)
      reason.erase(0, at + std::string("parse error at ").size());
    fail<IOError>('[', op, "] the file must hold JSON: received ", file, " (", part, part.empty() ? "" : ": ",
                  reason, ')');
  }
}

}  // namespace ktape::nn::saving
