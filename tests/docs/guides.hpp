#pragma once
#include <ktape/ktape.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <vector>
#include <xtensor/xmath.hpp>

#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-local-typedefs"

/// The programs of the guides. `guide_programs` writes a source for each guide, which includes this header.
namespace docs {

/// A text that a part of a program is expected to print.
struct Part {
  int line;           ///< the line of the text in the guide
  bool numbers_vary;  ///< whether numbers in the text depend on the machine
  std::string text;
};

/// A program of a guide. The constructor adds the program to the list of all programs.
struct Program {
  std::string guide;
  int line, processes;
  int (*run)();
  std::vector<Part> parts;

  Program(std::string guide, int line, int processes, int (*run)(), std::vector<Part> parts);
};

/// Prints the mark after a part of a program.
void end_part();

}  // namespace docs

// The declarations that the programs of the guides share.
using namespace ktape;
namespace K = ktape::backend;
