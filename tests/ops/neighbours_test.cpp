// A function of single elements gives equal bits for equal elements wherever they stand: alone, at any place
// of a vector, in the rest that fills no vector, next to ordinary elements, to large ones, infinities and
// NaN, and whatever the memory after a tensor held before.
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include <bit>
#include <cmath>
#include <functional>
#include <iomanip>
#include <limits>
#include <sstream>

using namespace ktape;
namespace K = ktape::backend;

namespace {

using Unary = std::function<Tensor(const Tensor&)>;
struct Function {
  std::string name;
  Unary run;
  bool gradient = true;  ///< whether the function has a gradient, which is compared, too
};

/// Returns f(x, y) as functions of x and of y, beside a number and beside elements.
std::vector<Function> of_two(const char* name, Tensor (*f)(const Tensor&, const Tensor&),
                             bool gradient = true) {
  const auto like = [](const Tensor& x) { return K::full({}, 1.75, x.dtype()); };
  const auto full = [](const Tensor& x) { return K::full(x.shape(), 1.75, x.dtype()); };
  return {{name, [=](const Tensor& x) { return f(x, like(x)); }, gradient},
          {name, [=](const Tensor& x) { return f(like(x), x); }, gradient},
          {name, [=](const Tensor& x) { return f(x, full(x)); }, gradient},
          {name, [=](const Tensor& x) { return f(full(x), x); }, gradient}};
}

std::vector<Function> functions() {
  namespace a = nn::activations;
  std::vector<Function> all = {
      {"abs", K::abs},
      {"square", K::square},
      {"sqrt", K::sqrt},
      {"exp", K::exp},
      {"expm1", K::expm1},
      {"log", K::log},
      {"log1p", K::log1p},
      {"sin", K::sin},
      {"cos", K::cos},
      {"tanh", K::tanh},
      {"erf", K::erf},
      {"round", K::round, false},
      {"sign", K::sign, false},
      {"clip", [](const Tensor& x) { return K::clip(x, -2, 3); }},
      {"pow of a number", [](const Tensor& x) { return K::pow(x, 1.3); }},
      {"pow of 3", [](const Tensor& x) { return K::pow(x, 3); }},
      {"sigmoid", K::sigmoid},
      {"hard_sigmoid", K::hard_sigmoid},
      {"softplus", K::softplus},
      {"softsign", K::softsign},
      {"relu", [](const Tensor& x) { return K::relu(x, {.alpha = 0.1, .max_value = 2.}); }},
      {"elu", [](const Tensor& x) { return K::elu(x); }},
      {"gelu", [](const Tensor& x) { return a::gelu(x); }},
      {"gelu, approximate", [](const Tensor& x) { return a::gelu(x, {.approximate = true}); }},
      {"silu", [](const Tensor& x) { return a::silu(x); }},
      {"mish", [](const Tensor& x) { return a::mish(x); }},
      {"selu", [](const Tensor& x) { return a::selu(x); }},
      {"celu", [](const Tensor& x) { return a::celu(x); }},
      {"leaky_relu", [](const Tensor& x) { return a::leaky_relu(x); }},
      {"log_sigmoid", [](const Tensor& x) { return a::log_sigmoid(x); }},
      {"tanh_shrink", [](const Tensor& x) { return a::tanh_shrink(x); }},
      {"squareplus", [](const Tensor& x) { return a::squareplus(x); }},
      {"sparse_plus", [](const Tensor& x) { return a::sparse_plus(x); }},
      {"negative", [](const Tensor& x) { return -x; }},
      {"times a number", [](const Tensor& x) { return x * 1.7; }},
      {"a number divided", [](const Tensor& x) { return 1.7 / x; }},
      {"cast", [](const Tensor& x) { return K::cast(x, x.dtype() == "float64" ? "float32" : "float64"); }},
      {"binary_crossentropy",
       [](const Tensor& x) { return K::binary_crossentropy(K::ones_like(x), x, {.from_logits = true}); }},
  };
  using In = const Tensor&;
  for (const auto& list :
       {of_two("add", [](In x, In y) { return x + y; }), of_two("multiply", [](In x, In y) { return x * y; }),
        of_two("subtract", [](In x, In y) { return x - y; }),
        of_two("divide", [](In x, In y) { return x / y; }),
        of_two("pow", [](In x, In y) { return K::pow(x, y); }),
        of_two("maximum", [](In x, In y) { return K::maximum(x, y); }),
        of_two("minimum", [](In x, In y) { return K::minimum(x, y); })})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

const double infinity = std::numeric_limits<double>::infinity(),
             nan = std::numeric_limits<double>::quiet_NaN();

const std::vector<double> ordinary = {0.,   -0.,       1e-9,  0.001,     -0.3, 0.5,    0.78539816, 1.,
                                      -1.5, 1.5707963, 2.,    3.1415927, -4.7, 9.9,    25.,        -60.,
                                      88.5, 100.3,     -640., 710.,      5e3,  -3.5e4, 99999.,     2e5};
const std::vector<double> extreme = {nan, infinity, -infinity, 3e38, -1e30, 1.5e5, 60000., 1e-40, 0.};

Tensor tensor(const std::vector<double>& values, DType dtype) {
  return K::cast(K::constant(values, {.dtype = "float64"}), dtype);
}

/// Returns the elements as numbers whose equality is that of the bits; NaN is one number.
std::vector<std::uint64_t> bits(const Tensor& x) {
  std::vector<double> values(static_cast<std::size_t>(x.size()));
  convert(values.data(), DType::Float64, x.raw(), x.dtype(), x.size());
  std::vector<std::uint64_t> out;
  for (const double value : values)
    out.push_back(std::bit_cast<std::uint64_t>(std::isnan(value) ? nan : value));
  return out;
}

/// Returns the results, then the gradients.
std::vector<Tensor> run(const Function& f, const Tensor& values) {
  if (!f.gradient) return {f.run(values)};
  const Variable x(values);
  const Tensor y = f.run(x);
  return {y.detach(), K::gradients(y, {x})[0].detach()};
}

/// Returns the elements of the list, one in each `width` elements at position `place`, with other elements
/// around; the last element of the list is the last element.
std::vector<double> spread(const std::vector<double>& list, std::size_t width, std::size_t place,
                           double around) {
  std::vector<double> out(width * (list.size() - 1) + place + 1, around);
  for (std::size_t i = 0; i < list.size(); ++i) out[i * width + place] = list[i];
  return out;
}

void compare(const Function& f, DType dtype, const std::vector<std::vector<std::uint64_t>>& alone,
             double around, std::size_t place) {
  constexpr std::size_t width = 32;  // elements of the widest vectors, and more
  const std::vector<Tensor> found = run(f, tensor(spread(ordinary, width, place, around), dtype));
  for (std::size_t k = 0; k < found.size(); ++k) {
    const std::vector<std::uint64_t> together = bits(found[k]);
    for (std::size_t i = 0; i < ordinary.size(); ++i) {
      const std::uint64_t got = together[i * width + place], want = alone[i][k];
      if (got == want) continue;
      std::ostringstream text;
      text << f.name << (k == 0 ? "" : ", gradient") << " of " << dtype << ' ' << ordinary[i] << " at place "
           << place << " among " << around << std::setprecision(17) << ": got " << std::bit_cast<double>(got)
           << ", alone " << std::bit_cast<double>(want);
      CHECK_MESSAGE(got == want, text.str());
      return;
    }
  }
}

void check(const Function& f, DType dtype) {
  std::vector<std::vector<std::uint64_t>> alone;
  for (const double value : ordinary) {
    const Tensor dirty =
        tensor(std::vector<double>(16, nan), dtype);  // fills the memory after the next tensors
    run(f, dirty);
    auto& results = alone.emplace_back();
    for (const Tensor& result : run(f, tensor({value}, dtype))) results.push_back(bits(result)[0]);
  }
  for (const double around : extreme)
    for (std::size_t place = 0; place < 32; place += dtype == "float64" ? 3 : 5)
      compare(f, dtype, alone, around, place);
  for (std::size_t place = 0; place < 32; ++place) compare(f, dtype, alone, nan, place);
}

}  // namespace

TEST_CASE("an element-wise function gives equal bits for equal elements wherever they stand") {
  for (const Function& f : functions())
    for (const DType dtype : {DType("float32"), DType("float64"), DType("float16")}) check(f, dtype);
}
