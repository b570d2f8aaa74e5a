#include <ktape/autograd/base/error.hpp>

namespace ktape {

std::string joined_message(std::initializer_list<MessagePart> parts) {
  std::ostringstream text;
  for (const MessagePart& part : parts) text << part;
  return text.str();
}

}  // namespace ktape
