#pragma once
#include <string>

#include "../data/archives.hpp"

/// Returns the bytes of a short text as a pickle of protocol 2 has them.
inline std::string pickled_text(const std::string& text) {
  return 'X' + std::string{static_cast<char>(text.size()), 0, 0, 0} + text;
}

/// Returns the pickle of a tensor: a view of `count` elements of the storage `key`. `place` is the pickle of the offset, the
/// extents and the strides.
inline std::string pickled_tensor(const std::string& type, const std::string& key, char count,
                                  const std::string& place) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + pickled_text("storage") + "ctorch\n" + type + '\n' +
         pickled_text(key) + pickled_text("cpu") + 'K' + count + "tQ" + place + "\x89" +
         "ccollections\nOrderedDict\n)RtR";
}

/// Returns floats 0.5, 1.5, and so on, as a storage.
inline std::string torch_numbers(int count) {
  std::string numbers;
  for (int i = 0; i < count; ++i) {
    const float number = static_cast<float>(i) + 0.5F;
    numbers.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  return numbers;
}

/// Returns a file of torch.save with the tensor "w" of shape (2, 3): 0.5, 1.5, and so on.
inline std::string torch_file() {
  const std::string place = std::string("K\0K\x02K\x03\x86", 7) + "K\x03K\x01\x86";
  const std::string pickle =
      "\x80\x02}" + pickled_text("w") + pickled_tensor("FloatStorage", "0", 6, place) + "s.";
  return zip(
      {{"archive/data.pkl", pickle}, {"archive/data/0", torch_numbers(6)}, {"archive/version", "3\n"}});
}

/// Returns a checkpoint: a state_dict with attributes and two views of one storage, one of them transposed, moments, numbers
/// and texts.
inline std::string torch_checkpoint() {
  const std::string transposed = std::string("K\x01K\x03K\x02\x86", 7) + "K\x01K\x03\x86",
                    scalar = std::string("K\0))", 4);
  const std::string model = "ccollections\nOrderedDict\n)R(" + pickled_text("a") +
                            pickled_tensor("FloatStorage", "0", 8, transposed) + pickled_text("b") +
                            pickled_tensor("FloatStorage", "0", 8, scalar) + "u}" +
                            pickled_text("_metadata") + "Nsb";
  const std::string optimizer = "}" + pickled_text("state") + std::string("}K\0", 3) +
                                pickled_tensor("HalfStorage", "1", 1, scalar) + "ss";
  const std::string pickle = "\x80\x02}q\x01(" + pickled_text("model") + model + pickled_text("optimizer") +
                             optimizer + pickled_text("epoch") + "\x8a\x01\x07" + pickled_text("dtype") +
                             "ctorch\nfloat16\nu.";
  return zip({{"archive/data.pkl", pickle},
              {"archive/byteorder", "little"},
              {"archive/data/0", torch_numbers(8)},
              {"archive/data/1", std::string("\0\x3c", 2)},
              {"archive/version", "3\n"}});
}
