#pragma once
#include <string>

#include "../data/archives.hpp"

/// Returns the bytes of a short text as a pickle of protocol 2 has them.
inline std::string pickled_text(const std::string& text) {
  return 'X' + std::string{static_cast<char>(text.size()), 0, 0, 0} + text;
}

/// Returns a file of torch.save with the tensor "w" of shape (2, 3): 0.5, 1.5, and so on.
inline std::string torch_file() {
  const std::string storage = '(' + pickled_text("storage") + "ctorch\nFloatStorage\n" + pickled_text("0") +
                              pickled_text("cpu") + "K\x06tQ";
  const std::string shape = std::string("K\0K\x02K\x03\x86", 7) + "K\x03K\x01\x86\x89";
  const std::string pickle = "\x80\x02}" + pickled_text("w") + "ctorch._utils\n_rebuild_tensor_v2\n(" +
                             storage + shape + "ccollections\nOrderedDict\n)RtRs.";
  std::string numbers;
  for (int i = 0; i < 6; ++i) {
    const float number = static_cast<float>(i) + 0.5F;
    numbers.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  return zip({{"archive/data.pkl", pickle}, {"archive/data/0", numbers}, {"archive/version", "3\n"}});
}
