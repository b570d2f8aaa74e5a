#include <ktape/autograd/arguments.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace ktape {

void fail_undefined(const char* op, const char* names, std::span<const Tensor* const> tensors) {
  std::string_view rest = names;
  for (const Tensor* tensor : tensors) {
    const std::string name(rest.substr(0, rest.find(',')));
    expect_defined(op, name.c_str(), *tensor);
    rest.remove_prefix(std::min(name.size() + 2, rest.size()));
  }
  fail("[", op, "] a tensor must be defined: received an undefined tensor (None)");
}

void expect_defined(const char* op, const char* name, const std::vector<Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (!tensors[i].defined())
      expect_defined(op, (name + ('[' + std::to_string(i) + ']')).c_str(), tensors[i]);
}

}  // namespace ktape
