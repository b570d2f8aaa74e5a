#include <doctest/doctest.h>
#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/ops/keras/math/math.hpp>
#include <ktape/ops/keras/nn/activations.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <sstream>

#include "../catalogue.hpp"
#include "../check.hpp"

/// The accuracy of element-wise functions, in units in the last place of the right result: of float32 compared with float64, for
/// arguments of all sizes, and of float64 compared with the digits in accuracy_digits.txt.
namespace {

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::Tensor;
constexpr double inf = std::numeric_limits<double>::infinity();

/// A bound of errors, in units, and the number from which on a unit shrinks no further: below it, errors count as absolute ones.
struct Bound {
  double units, from = 0;
};

struct Row {
  const char* name;
  std::function<Tensor(const Tensor&)> f;
  Bound value = {2}, slope = {8};
  Bound double_value = value, double_slope = slope;
  double low = -inf, high = inf;  ///< the arguments in float32 for which the bounds hold
};

// The bounds are 2 and 8 units, but in these cases:
constexpr Bound library{4};      // doubles by the vector library of glibc, which promises 4 units
constexpr Bound exponential{3};  // an exponential of 1.2 units, and two or three more steps
constexpr Bound normal{9};       // the distribution function is made for speed, of seven factors
// A product with an exponential that is subnormal has the digits of the exponential.
constexpr float least = std::numeric_limits<float>::min() * 128;
constexpr double least_double = std::numeric_limits<double>::min() * 1024;
// The terms of a slope cancel near its zero.
constexpr double part = 0.1;

std::vector<Row> rows() {
  return {
      {"exp", ops::exp},
      {"exp2", ops::exp2, {2}, {8}, {2}, {8}, -inf, 128},  // where the value overflows, the slope does
      {"expm1", ops::expm1, {2}, {8}, {3}},
      {"log", ops::log},
      {"log2", ops::log2},
      {"log10", ops::log10},
      {"log1p", ops::log1p},
      {"sin", ops::sin, {2}, {8}, library},
      {"cos", ops::cos, {2}, {8}, library},
      {"tan", ops::tan, {2}, {8}, library},
      {"arcsin", ops::arcsin, {2}, {8}, library},
      {"arccos", ops::arccos, {2}, {8}, library},
      {"arctan", ops::arctan, {2}, {8}, library},
      {"sinh", ops::sinh},
      {"cosh", ops::cosh},
      {"tanh", ops::tanh, {2}, {8}, library},
      {"arcsinh", ops::arcsinh, {2}, {8}, library},
      {"arccosh", ops::arccosh, {2}, {8}, library},
      {"arctanh", ops::arctanh, {2}, {8}, {2}, {8}, -1, 1},
      {"erf", ops::erf, {2}, {8}, library},
      {"erfc", ops::erfc},
      {"erfinv", ops::erfinv, {3}, {40}},  // the slope is an exponential of the square
      {"sqrt", ops::sqrt},
      {"rsqrt", ops::rsqrt},
      {"cbrt", ops::cbrt, {2}, {8}, library},
      {"square", ops::square},
      {"reciprocal", ops::reciprocal},
      {"negative", ops::negative},
      {"abs", ops::abs},
      {"sign", ops::sign},
      {"floor", ops::floor},
      {"ceil", ops::ceil},
      {"round", [](const Tensor& x) { return ops::round(x); }},
      {"trunc", ops::trunc},
      {"deg2rad", ops::deg2rad},
      {"rad2deg", ops::rad2deg},
      {"angle", ops::angle},
      {"sinc", ops::sinc, {3}, {12, part}, {3}},
      {"i0", ops::i0, {6}, {8}, {8}, {12}},  // a series, times the square of an exponential
      {"sigmoid", ops::sigmoid, exponential},
      {"silu", ops::silu, {4, least}, {8, part}, {4, least_double}},
      {"softplus", ops::softplus, {4}},
      {"log_sigmoid", ops::log_sigmoid, {4}},
      {"elu", [](const Tensor& x) { return ops::elu(x); }, {2}, {8}, {3}},
      {"selu", ops::selu, exponential, {8}, {4}},
      {"celu", [](const Tensor& x) { return ops::celu(x, 2); }, {2}, {8}, {3}},
      {"gelu",
       [](const Tensor& x) { return ops::gelu(x, false); },
       {normal.units, least},
       {12, part},
       {normal.units, least_double}},
      {"gelu_tanh", [](const Tensor& x) { return ops::gelu(x, true); }, {200}, {8, part}},  // a tail of e^-80
      {"softsign", ops::softsign},
      {"squareplus", [](const Tensor& x) { return ops::squareplus(x); }, {3}},
      {"tanh_shrink", ops::tanh_shrink, {3}},
      {"relu", ops::relu},
      {"relu6", ops::relu6},
      {"leaky_relu", [](const Tensor& x) { return ops::leaky_relu(x); }},
      {"hard_sigmoid", ops::hard_sigmoid},
      {"hard_silu", ops::hard_silu, {2}, {8, part}},
      {"hard_tanh", ops::hard_tanh},
      {"sparse_plus", ops::sparse_plus},
      {"sparse_sigmoid", ops::sparse_sigmoid},
      {"soft_shrink", [](const Tensor& x) { return ops::soft_shrink(x); }},
      {"hard_shrink", [](const Tensor& x) { return ops::hard_shrink(x); }},
  };
}

/// Returns the distance of `got` from `wanted` in units in the last place of a T, and infinity for another sign or NaN.
template <class T>
double units(T got, double wanted, double from) {
  const T rounded = static_cast<T>(wanted);
  if (std::isnan(rounded)) return std::isnan(got) ? 0 : inf;
  if (got == rounded) return 0;
  if (!std::isfinite(rounded) || !std::isfinite(got)) return inf;
  const T size = std::max(std::fabs(rounded), static_cast<T>(from));
  const T unit = size == std::numeric_limits<T>::max() ? size - std::nextafter(size, T(0))
                                                       : std::nextafter(size, T(INFINITY)) - size;
  return std::fabs(static_cast<double>(got) - wanted) / static_cast<double>(unit);
}

/// Returns floats of all sizes, and many around those at which functions change.
std::vector<float> floats(double low, double high) {
  std::mt19937_64 bits(1);
  std::uniform_real_distribution<double> uniform(1, 2);
  std::normal_distribution<double> normal;
  std::vector<float> x = {0, std::numeric_limits<float>::max(), std::numeric_limits<float>::min(),
                          std::numeric_limits<float>::denorm_min()};
  for (int exponent = -149; exponent < 128; ++exponent)
    for (int i = 0; i < 5; ++i) x.push_back(static_cast<float>(std::ldexp(uniform(bits), exponent)));
  for (const double size : {0.01, 0.1, 0.5, 1., 3., 10., 40., 100., 1e4})
    for (int i = 0; i < 500; ++i) x.push_back(static_cast<float>(normal(bits) * size));
  for (const double at : {0.3,
                          0.318,
                          0.35,
                          0.5,
                          0.625,
                          0.75,
                          0.997,
                          1.,
                          1.2,
                          1.2785,
                          1.5707963267948966,
                          2.,
                          2.5,
                          3.,
                          3.141592653589793,
                          4.,
                          6.,
                          9.,
                          10.,
                          20.,
                          37.,
                          87.33,
                          88.72,
                          89.4,
                          103.28,
                          1000.})
    for (int i = 0; i < 40; ++i) x.push_back(static_cast<float>(at + normal(bits) * std::pow(10., -i % 9)));
  for (std::size_t i = 0, n = x.size(); i < n; ++i) x.push_back(-x[i]);
  std::erase_if(x, [&](float each) { return !(each >= low && each <= high); });
  return x;
}

/// Keeps the largest error of a function and says where it is.
class Worst {
 public:
  Worst(std::string name, Bound bound) : name_(std::move(name)), bound_(bound) {}
  template <class T>
  void look_at(T got, double wanted, double x, double y = 0) {
    const double error = units(got, wanted, bound_.from);
    if (!(error > error_)) return;
    std::ostringstream text;
    text << std::setprecision(17) << name_ << " of " << x << ", " << y << ": got " << got << ", want "
         << wanted << ", off by " << error << " units of at most " << bound_.units;
    error_ = error, text_ = text.str();
  }
  void check() const { CHECK_MESSAGE(error_ <= bound_.units, text_); }

 private:
  std::string name_, text_;
  Bound bound_;
  double error_ = 0;
};

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

/// Returns the values of a function, and its derivatives where it has any.
template <class T>
std::vector<std::vector<T>> results(const Function& f, const std::vector<std::vector<T>>& arguments) {
  ktape::GradientTape tape;
  std::vector<Tensor> x;
  for (const std::vector<T>& each : arguments) {
    x.push_back(K::constant(each, {.dtype = ktape::dtype_of<T>()}));
    tape.watch(x.back());
  }
  const Tensor y = f(x);
  std::vector<std::vector<T>> found = {values<T>(y)};
  for (const Tensor& slope : tape.gradient(y, x))
    found.push_back(slope.defined() ? values<T>(slope) : std::vector<T>());
  return found;
}

template <class T>
std::vector<T> as(const std::vector<float>& x) {
  return {x.begin(), x.end()};
}

/// Compares results in float32 with those in float64.
void compare_dtypes(const std::string& name, const Function& f, const std::vector<std::vector<float>>& x,
                    Bound value, const std::vector<Bound>& slopes) {
  std::vector<std::vector<double>> wide;
  for (const std::vector<float>& each : x) wide.push_back(as<double>(each));
  const auto got = results<float>(f, x);
  const auto wanted = results<double>(f, wide);
  for (std::size_t k = 0; k < got.size(); ++k) {
    Worst worst(k ? "float32 slope " + name : "float32 " + name, k ? slopes[k - 1] : value);
    for (std::size_t i = 0; i < got[k].size(); ++i)
      worst.look_at(got[k][i], wanted[k][i], x[0][i], x.size() > 1 ? x[1][i] : 0);
    worst.check();
  }
}

/// The lines of accuracy_digits.txt: for each name arguments, a value and slopes.
std::map<std::string, std::vector<std::vector<double>>> digits() {
  std::map<std::string, std::vector<std::vector<double>>> found;
  std::ifstream file("tests/ops/keras/accuracy_digits.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, word;
    words >> name;
    std::vector<double> numbers;
    while (words >> word) numbers.push_back(std::strtod(word.c_str(), nullptr));
    found[name].push_back(numbers);
  }
  return found;
}

/// Compares results in float64 with digits of mpmath.
void compare_digits(const std::string& name, const Function& f, const std::vector<std::vector<double>>& lines,
                    std::size_t arguments, Bound value, const std::vector<Bound>& slopes) {
  std::vector<std::vector<double>> x(arguments);
  for (const auto& line : lines) {
    REQUIRE(line.size() == 2 * arguments + 1);
    for (std::size_t k = 0; k < arguments; ++k) x[k].push_back(line[k]);
  }
  const auto got = results<double>(f, x);
  for (std::size_t k = 0; k < got.size(); ++k) {
    Worst worst(k ? "float64 slope " + name : "float64 " + name, k ? slopes[k - 1] : value);
    for (std::size_t i = 0; i < got[k].size(); ++i)
      worst.look_at(got[k][i], lines[i][arguments + k], x[0][i], arguments > 1 ? x[1][i] : 0);
    worst.check();
  }
}

struct PairRow {
  const char* name;
  Tensor (*f)(const ktape::TensorOrNumber&, const ktape::TensorOrNumber&);
  Bound value = {2}, first = {8}, second = {8};
  bool positive = false;            ///< arguments are positive
  double low = 1e-18, high = 1e18;  ///< of the arguments: quotients in slopes are normal numbers
};

std::vector<PairRow> pair_rows() {
  // Sums of logarithms have the digits of their larger term; the exponents of their slopes, and of that of a power, are rounded.
  return {
      {"power", ops::power, {2}, {128, least}, {8, least}, true},
      {"arctan2", ops::arctan2, {3}},
      {"hypot", ops::hypot},
      {"logaddexp", ops::logaddexp, {3, 100}, {64}, {64}, false, 0, 100},
      {"logaddexp2", ops::logaddexp2, {3, 100}, {128}, {128}, false, 0, 100},
      {"gammainc", ops::gammainc, {600}, {1e5, 1}, {600}, true, 0.1, 30},
      {"add", ops::add},
      {"subtract", ops::subtract},
      {"multiply", ops::multiply},
      {"divide", ops::divide},
      {"divide_no_nan", ops::divide_no_nan},
      {"maximum", ops::maximum},
      {"minimum", ops::minimum},
      {"fmax", ops::fmax},
      {"fmin", ops::fmin},
  };
}

using Names = std::set<std::string>;

/// The names of element-wise functions without a row, by the reason.
const std::map<std::string, Names> without_row{
    {"another name of a function of a row",
     {"absolute", "fabs", "swish", "hard_swish", "true_divide", "pow"}},
    {"the result is an argument, or a number that the caller gives",
     {"real", "conj", "conjugate", "imag", "nan_to_num", "clip", "threshold", "where", "saturate_cast"}},
    {"the result is a truth, or a whole number that needs no rounding",
     {"isnan", "isfinite", "isinf", "isposinf", "isneginf", "isreal", "signbit", "is_nan", "is_finite",
      "equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "heaviside", "gcd", "lcm"}},
    {"elements are handed on, moved or left out",
     {"identity", "copy", "array", "convert_to_tensor", "cast", "cast_to_floatx", "tril", "triu", "switch",
      "switch_", "in_train_phase", "in_test_phase", "dropout"}},
    {"the caller gives the function", {"cond", "map_fn", "while_loop", "fori_loop"}},
    {"functions of rows, multiplied and added", {"polar", "binary_crossentropy"}},
    {"the dtypes have other results: the neighbours of a number are their own", {"nextafter"}},
    {"arithmetic_test.cpp compares exact quotients and remainders", {"floor_divide", "mod", "fmod", "ldexp"}},
};

/// Returns the names that the headers of element-wise functions declare.
Names declared_functions() {
  const std::regex declaration("^Tensor (\\w+)\\(.*");
  Names names;
  for (const char* header :
       {"ops/elementwise.hpp", "ops/keras/numpy/elementwise.hpp", "ops/keras/numpy/arithmetic.hpp"}) {
    std::ifstream file(header);
    std::smatch match;
    for (std::string line; std::getline(file, line);)
      if (std::regex_match(line, match, declaration)) names.insert(match[1]);
  }
  return names;
}

/// Returns whether each element of a function's result depends on one element of each input.
bool is_elementwise(const CatalogueRow& row) {
  if (row.inputs.empty()) return false;
  const Tensor y = row.f(row.inputs);
  if (y.size() < 2 || !y.dtype().is_floating()) return false;
  for (std::size_t k = 0; k < row.inputs.size(); ++k) {
    if (!(row.inputs[k].shape() == y.shape()) || !row.inputs[k].dtype().is_floating()) return false;
    for (std::int64_t i = 0; i < y.size(); ++i) {
      std::vector<Tensor> in = row.inputs;
      const Tensor place = K::reshape(K::equal(K::arange(y.size()), static_cast<int>(i)), y.shape());
      in[k] = K::where(place, in[k] * (1 + 1e-3), in[k]);
      const Tensor same = K::equal(row.f(in), y) | place;
      if (!K::all(same).item<bool>()) return false;
    }
  }
  return true;
}

/// Returns the names of the catalogue whose functions are element-wise.
Names elementwise_names() {
  std::map<std::string, bool> found;
  for (const CatalogueRow& row : Catalogue::differentiable()) {
    const std::string name = row.name.starts_with("ops::") ? row.name.substr(5) : row.name;
    const auto entry = found.try_emplace(name, true).first;
    entry->second = entry->second && is_elementwise(row);
  }
  Names names = declared_functions();
  for (const auto& [name, elementwise] : found)
    if (elementwise) names.insert(name);
  return names;
}

}  // namespace

TEST_CASE("accuracy: every element-wise function has a row, or a reason to have none") {
  Names rowed, excused;
  for (const Row& row : rows()) rowed.insert(row.name);
  for (const PairRow& row : pair_rows()) rowed.insert(row.name);
  for (const auto& [reason, names] : without_row) excused.insert(names.begin(), names.end());
  const Names all = elementwise_names();
  CHECK(all.size() > 100);
  for (const std::string& name : all)
    CHECK_MESSAGE(rowed.count(name) + excused.count(name) == 1,
                  name << " must have a row in this file, or a reason to have none");
  for (const std::string& name : excused)
    CHECK_MESSAGE(all.count(name), name << " has a reason and is not element-wise");
}

TEST_CASE("accuracy: functions of one number") {
  const auto table = digits();
  REQUIRE(table.size() > 40);
  for (const Row& row : rows()) {
    const Function f = [&](const std::vector<Tensor>& x) { return row.f(x[0]); };
    compare_dtypes(row.name, f, {floats(row.low, row.high)}, row.value, {row.slope});
    if (const auto lines = table.find(row.name); lines != table.end())
      compare_digits(row.name, f, lines->second, 1, row.double_value, {row.double_slope});
  }
}

TEST_CASE("accuracy: functions of two numbers") {
  const auto table = digits();
  for (const PairRow& row : pair_rows()) {
    std::vector<float> x = floats(row.low, row.high), y = x;
    if (!row.positive)
      for (std::size_t i = 0; i < x.size(); ++i) x[i] *= i % 3 ? 1 : -1, y[i] *= i % 5 ? 1 : -1;
    std::shuffle(y.begin(), y.end(), std::mt19937_64(2));
    const Function f = [&](const std::vector<Tensor>& v) { return row.f(v[0], v[1]); };
    compare_dtypes(row.name, f, {x, y}, row.value, {row.first, row.second});
    if (const auto lines = table.find(row.name); lines != table.end())
      compare_digits(row.name, f, lines->second, 2, row.value, {row.first, row.second});
  }
}

TEST_CASE("accuracy: powers with numbers as exponents") {
  for (const double exponent :
       {-16., -7., -3., -2., -1., -0.5, 0.5, 1.5, 2., 3., 4., 5., 7., 12., 16., 17., 30.5, 100.})
    compare_dtypes("power of " + std::to_string(exponent),
                   [=](const std::vector<Tensor>& x) { return K::pow(x[0], exponent); },
                   {floats(exponent < 0 ? 1e-20 : -inf, inf)}, {3},
                   {{8, least}});  // 3: with SSE2 alone, subnormal powers
}

TEST_CASE("accuracy: every line of digits belongs to a row") {
  std::set<std::string> names;
  for (const Row& row : rows()) names.insert(row.name);
  for (const PairRow& row : pair_rows()) names.insert(row.name);
  for (const auto& [name, lines] : digits()) CHECK_MESSAGE(names.count(name), name);
}
