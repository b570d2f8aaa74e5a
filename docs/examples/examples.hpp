#pragma once
#include <ktape/ktape.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

/// The includes and namespaces that all examples of the headers begin with. The generated sources contain EXAMPLE("header:line") { ... } for each
/// example; the site shows the text that the code prints.
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

#define EXAMPLE(place) EXAMPLE_OF(place, __COUNTER__)
#define EXAMPLE_OF(place, number) EXAMPLE_AS(place, run_##number, add_##number)
#define EXAMPLE_AS(place, run, add)        \
  static void run();                       \
  static const AddExample add(place, run); \
  static void run()
