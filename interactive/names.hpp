#pragma once
/// What has a short name at the prompt.
///
/// Names are brought in one by one, not by using-directives: a variable of the session may have any of them
/// (`auto view = ...`), where after a directive its name would be ambiguous from then on.

#include <ktape/ktape.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <numbers>
#include <numeric>
#include <optional>
#include <random>
#include <ranges>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
namespace plot = ktape::plot;

using ktape::Axes;
using ktape::DType;
using ktape::EnableGrad;
using ktape::Error;
using ktape::GradientTape;
using ktape::IOError;
using ktape::NoGrad;
using ktape::Shape;
using ktape::Tensor;
using ktape::TensorList;
using ktape::TypeError;
using ktape::ValueError;
using ktape::Variable;

using std::accumulate;
using std::array;
using std::cerr;
using std::cin;
using std::complex;
using std::cout;
using std::deque;
using std::endl;
using std::fixed;
using std::function;
using std::getline;
using std::ifstream;
using std::iota;
using std::list;
using std::make_pair;
using std::make_shared;
using std::make_tuple;
using std::make_unique;
using std::map;
using std::max;
using std::min;
using std::move;
using std::ofstream;
using std::optional;
using std::ostream;
using std::ostringstream;
using std::pair;
using std::ref;
using std::set;
using std::setprecision;
using std::setw;
using std::shared_ptr;
using std::sort;
using std::string;
using std::string_view;
using std::stringstream;
using std::swap;
using std::to_string;
using std::tuple;
using std::unique_ptr;
using std::unordered_map;
using std::unordered_set;
using std::vector;
