#pragma once
#include <ktape/ktape.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

/// The includes and namespaces that all examples of the headers begin with. The generated sources contain EXAMPLE(number, "header:line") { ... } for
/// each example; the site shows the text that the code prints.
namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
namespace data = ktape::data;
namespace plot = ktape::plot;
using ktape::Tensor, ktape::Variable, ktape::Shape, ktape::Slice, ktape::All,
    ktape::None;

struct Example {
  const char* place;
  void (*run)();
  static std::vector<Example>& all();
};

struct AddExample {
  AddExample(const char* place, void (*run)()) {
    Example::all().push_back({place, run});
  }
};

#define EXAMPLE(number, place)                                   \
  static void run_##number();                                    \
  static const AddExample example_##number(place, run_##number); \
  static void run_##number()
