#include <ktape/autograd/base/called_op.hpp>
#include <ktape/autograd/base/error.hpp>

namespace ktape {

constinit thread_local const char* called_op [[gnu::tls_model("initial-exec")]] = nullptr;

std::string joined_message(std::initializer_list<MessagePart> parts) {
  std::ostringstream text;
  for (const MessagePart& part : parts) text << part;
  std::string message = text.str();
  const std::size_t end = message.starts_with('[') ? message.find(']') : std::string::npos;
  if (called_op && end != std::string::npos) message.replace(1, end - 1, called_op);
  return message;
}

}  // namespace ktape
