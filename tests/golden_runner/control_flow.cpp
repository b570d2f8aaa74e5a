#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/control/phase.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include "families.hpp"

namespace golden {
namespace {

namespace K = ktape::backend;

using Fold = std::function<Tensor(const Tensor&, const Tensor&)>;
const std::map<std::string, Fold> folds = {
    {"add", [](const Tensor& acc, const Tensor& x) { return acc + x; }},
    {"sub", [](const Tensor& acc, const Tensor& x) { return acc - x; }},
    {"rsub", [](const Tensor& acc, const Tensor& x) { return x - acc; }},
    {"mul", [](const Tensor& acc, const Tensor& x) { return acc * x; }},
    {"decay", [](const Tensor& acc, const Tensor& x) { return 0.5 * acc + x; }},
};

const std::map<std::string, std::function<Tensor(const Tensor&)>> maps = {
    {"square", [](const Tensor& x) { return K::square(x); }},
    {"add_one", [](const Tensor& x) { return x + 1; }},
    {"neg", [](const Tensor& x) { return -x; }},
    {"double", [](const Tensor& x) { return x * 2; }},
    {"sum", [](const Tensor& x) { return K::sum(x); }},
    {"cast_int32", [](const Tensor& x) { return K::cast(x, "int32"); }},
    {"greater_zero", [](const Tensor& x) { return x > 0; }},
};

template <class F>
auto folding(F f) {
  return [f](const Call& c) -> Results {
    return {f(folds.at(c.get<std::string>("fn")), c["elems"],
              K::FoldOptions{.initializer = c.optional("initializer")})};
  };
}

Results map_fn(const Call& c) {
  K::MapOptions options;
  c.set("dtype", options.dtype);
  return {K::map_fn(maps.at(c.get<std::string>("fn")), c["elems"], options)};
}

template <class F>
auto choosing(F f) {
  return [f](const Call& c) -> Results {
    return {f(c["x"], c["alt"], c.has("training") ? c.get<std::optional<bool>>("training") : std::nullopt)};
  };
}

}  // namespace

void add_control_flow(Table& table) {
  auto& ops = table.ops;
  ops["switch"] = [](const Call& c) -> Results {
    return {K::switch_(c["condition"], c["then_expression"], c["else_expression"])};
  };
  ops["foldl"] = folding([](auto&&... arguments) { return K::foldl(arguments...); });
  ops["foldr"] = folding([](auto&&... arguments) { return K::foldr(arguments...); });
  ops["map_fn"] = map_fn;
  ops["stop_gradient"] = [](const Call& c) -> Results { return {K::stop_gradient(c["variables"])}; };
  ops["in_train_phase"] = choosing([](auto&&... arguments) { return K::in_train_phase(arguments...); });
  ops["in_test_phase"] = choosing([](auto&&... arguments) { return K::in_test_phase(arguments...); });
}

}  // namespace golden
