// Random calls of ops, eager and symbolic, against the references in float64: a call gives the right result,
// or, where its arguments do not fit, an error that names the op. Each tenth is a random program whose loss
// mixes gradients of several orders, against differences. Never a crash, which the sanitizers look for.
//
//     fuzz_ops                    the calls of the tests
//     fuzz_ops SECONDS [SEED]     others
#include <ktape/ktape.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "../close.hpp"
#include "../reference/gradient_program.hpp"
#include "op_calls.hpp"

namespace K = ktape::backend;
using ktape::Shape, ktape::Tensor, ktape::Variable;

namespace {

std::string current;  ///< the running call, for the report of a crash

std::string describe(const OpCall& call, Inputs kind, std::uint64_t seed) {
  static constexpr const char* kinds[] = {"constants", "variables", "placeholders",
                                          "placeholders of unknown extents"};
  std::string out = call.op + "(";
  for (const Tensor& x : call.inputs)
    out += std::string(x.dtype().name()) + ' ' + to_string(x.shape()) + ", ";
  return out + call.arguments + ") of " + kinds[static_cast<int>(kind)] + ", seed " + std::to_string(seed);
}

Tensor run_symbolic(const OpCall& call, bool known) {
  std::vector<Tensor> placeholders;
  for (const Tensor& x : call.inputs) {
    Shape shape = x.shape();
    if (!known) std::fill(shape.begin(), shape.end(), ktape::None);
    placeholders.push_back(K::placeholder({.shape = shape, .dtype = x.dtype()}));
  }
  const Tensor y = call.run(placeholders), result = K::function(placeholders, {y})(call.inputs)[0];
  if (!ktape::compatible(K::int_shape(y), result.shape()) || y.dtype() != result.dtype())
    throw std::logic_error("was promised as " + std::string(y.dtype().name()) + ' ' + to_string(y.shape()));
  return result;
}

Tensor run_recorded(const OpCall& call) {
  const std::vector<Variable> variables(call.inputs.begin(), call.inputs.end());
  const Tensor y = call.run(std::vector<Tensor>(variables.begin(), variables.end()));
  if (!y.dtype().is_floating() || !y.node()) return y;
  const std::vector<Tensor> gradients = ktape::gradients(y, ktape::TensorList(variables));
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].defined() && gradients[i].shape() != variables[i].shape())
      throw std::logic_error("has a gradient of shape " + to_string(gradients[i].shape()));
  return y;
}

Tensor run(const OpCall& call, Inputs kind) {
  if (kind == Inputs::Constants) return call.run(call.inputs);
  if (kind == Inputs::Variables) return run_recorded(call);
  return run_symbolic(call, kind == Inputs::Placeholders);
}

reference::Array array(const Tensor& x) {
  reference::Array out(reference::Extents(x.shape().begin(), x.shape().end()));
  ktape::convert(out.data(), "float64", x.raw(), x.dtype(), x.size());
  return out;
}

/// Returns the reference's result, rounded to the dtype.
Tensor wanted(const OpCall& call, ktape::DType dtype) {
  OpCall::Arrays inputs;
  for (const Tensor& x : call.inputs) inputs.push_back(array(x));
  const reference::Array y = call.wanted(inputs);
  const Shape shape(std::vector<std::int64_t>(y.shape().begin(), y.shape().end()));
  return K::cast(K::constant(std::vector<double>(y.begin(), y.end()), {.dtype = "float64", .shape = shape}),
                 dtype);
}

Tolerance tolerance(const OpCall& call, ktape::DType dtype) {
  const double epsilon = dtype == "float64" ? 0x1p-52 : 0x1p-23;  // float16 is computed in float32
  return {.ulps = 16, .atol = call.terms * epsilon, .equal_nan = true};
}

bool names(const ktape::Error& error, const std::string& op) {
  return std::string_view(error.what()).starts_with('[' + op + ']');
}

/// Returns the fault of a call, or an empty text.
std::string problem(const OpCall& call, Inputs kind) {
  try {
    const Tensor result = run(call, kind);
    if (!call.fits) return "";
    return close(result, wanted(call, result.dtype()), tolerance(call, result.dtype())).wrong;
  } catch (const ktape::Error& error) {
    if (!call.fits && (names(error, call.op) || names(error, call.part))) return "";
    return std::string(call.fits ? "must work: " : "must name the op: ") + error.what();
  } catch (const std::exception& error) {
    return std::string("throws what is no ktape::Error: ") + error.what();
  }
}

/// Returns a loss of gradients of several orders in place of a call of an op.
bool passes_program(std::uint64_t seed) {
  current = "the program of gradients of seed " + std::to_string(seed);
  std::string wrong;
  try {
    wrong = reference::GradientProgram(seed).problem();
  } catch (const std::exception& error) {
    wrong = current + ": " + error.what();
  }
  if (!wrong.empty()) std::printf("%s\n", wrong.c_str());
  return wrong.empty();
}

bool passes(std::uint64_t seed) {
  if (seed % 10 == 0) return passes_program(seed);
  Random random(seed);
  const OpCall call = random_call(random);
  const auto kind = static_cast<Inputs>(random.below(static_cast<int>(call.least_known) + 1));
  current = describe(call, kind, seed);
  const std::string wrong = problem(call, kind);
  if (!wrong.empty()) std::printf("%s\n    %s\n", current.c_str(), wrong.c_str());
  return wrong.empty();
}

}  // namespace

#ifdef __SANITIZE_ADDRESS__
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

int main(int argc, char** argv) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_set_death_callback([] { std::fprintf(stderr, "in %s\n", current.c_str()); });
#endif
  using Clock = std::chrono::steady_clock;
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0;
  const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  constexpr std::uint64_t calls_of_the_tests = 3000;
  const auto begin = Clock::now();
  const auto goes_on = [&](std::uint64_t done) {
    if (seconds == 0) return done < calls_of_the_tests;
    return std::chrono::duration<double>(Clock::now() - begin).count() < seconds;
  };
  std::uint64_t calls = 0, failed = 0;
  for (; goes_on(calls); ++calls) failed += !passes(first + calls);
  std::printf("%llu calls from seed %llu, %llu failed\n", static_cast<unsigned long long>(calls),
              static_cast<unsigned long long>(first), static_cast<unsigned long long>(failed));
  return failed == 0 ? 0 : 1;
}
