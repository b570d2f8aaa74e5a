#pragma once
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include <iostream>
#include <string>
#include <vector>

/// The examples in comments of public headers: each line of an example stands in a source of this folder and so
/// compiles; header_examples_test.cpp compares. The functions are not called: some examples read files.
namespace data = ktape::data;
namespace nn = ktape::nn;
namespace plot = ktape::plot;
using namespace ktape;
using data::Dataset, data::load_csv, nn::Config, plot::lines;

#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-local-typedefs"
#pragma GCC diagnostic ignored "-Wshadow"
