#include "examples.hpp"

#include <cstring>
#include <sstream>

std::vector<Example>& Example::all() {
  static std::vector<Example> examples;
  return examples;
}

/// Runs the examples, or those whose header and line contain the argument, beside copies of the files that they read. An example that throws, or prints nothing, fails.
int main(int argc, char** argv) {
  std::ios::sync_with_stdio(true);
  std::filesystem::copy(KTAPE_EXAMPLE_FILES, ".",
                        std::filesystem::copy_options::recursive |
                            std::filesystem::copy_options::overwrite_existing);
  int failed = 0;
  for (const Example& example : Example::all()) {
    if (argc > 1 && !std::strstr(example.place, argv[1])) continue;
    std::cout << "\x01"
                 "example "
              << example.place << "\n";
    K::set_random_seed(1);
    K::clear_session();
    std::stringstream printed;
    std::streambuf* const terminal = std::cout.rdbuf(printed.rdbuf());
    std::string fault;
    try {
      example.run();
    } catch (const std::exception& error) {
      fault = error.what();
    }
    std::cout.rdbuf(terminal);
    std::cout << printed.str();
    if (fault.empty() && printed.str().empty()) fault = "prints nothing";
    if (!fault.empty())
      std::cerr << example.place << ": " << fault << "\n", ++failed;
  }
  return failed > 0;
}
