#include <ktape/nn/saving/listing.hpp>

#include <exception>
#include <iostream>
#include <string_view>

/// `ktape-files list FILE...` shows what files of models and tensors hold: layers, shapes, dtypes, sizes.
int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command != "list" || argc < 3) {
    std::cerr << "usage: ktape-files list FILE...\n";
    return 2;
  }
  int failed = 0;
  for (int i = 2; i < argc; ++i) {
    try {
      if (argc > 3) std::cout << (i > 2 ? "\n" : "") << argv[i] << '\n';
      std::cout << to_string(ktape::nn::list_file(argv[i]));
    } catch (const std::exception& error) {
      std::cerr << error.what() << '\n';
      failed = 1;
    }
  }
  return failed;
}
