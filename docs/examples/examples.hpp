#pragma once
#include <ktape/ktape.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

/// Includes and namespaces that all examples of the site begin with. EXAMPLE("name name") { ... } is an example of these names; the site shows
/// the code in braces, and the text that it prints.
namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
namespace data = ktape::data;
namespace plot = ktape::plot;
using ktape::Tensor, ktape::Variable, ktape::Shape, ktape::Slice, ktape::All,
    ktape::None;

struct Example {
  const char* names;
  void (*run)();
  static std::vector<Example>& all();
};

struct AddExample {
  AddExample(const char* names, void (*run)()) {
    Example::all().push_back({names, run});
  }
};

#define EXAMPLE_NAME(prefix, line) EXAMPLE_NAME_OF(prefix, line)
#define EXAMPLE_NAME_OF(prefix, line) prefix##line
#define EXAMPLE(names)                                  \
  static void EXAMPLE_NAME(run_, __LINE__)();           \
  static const AddExample EXAMPLE_NAME(add_, __LINE__)( \
      names, EXAMPLE_NAME(run_, __LINE__));             \
  static void EXAMPLE_NAME(run_, __LINE__)()
