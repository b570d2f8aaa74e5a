#include <ktape/ops/keras/linalg/linalg.hpp>
#include <ktape/ops/keras/linalg/products.hpp>

#include <limits>

#include "arguments.hpp"
#include "families.hpp"

namespace golden_ops {
namespace {

namespace ops = ktape::ops;

bool flag(const Call& c, const char* name, bool otherwise) { return get_or(c, name, otherwise); }

ops::NormOrder order(const Call& c) {
  if (!c.has("ord") || c.none("ord")) return {};
  const Value& ord = c.value("ord");
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (ord.kind != Value::Text) return ord.number;
  if (ord.text == "inf") return infinity;
  if (ord.text == "-inf") return -infinity;
  return ord.text;
}

ops::DotAxes dot_axes(const Call& c) {
  if (!c.has("axes")) return 2;
  const Value& axes = c.value("axes");
  if (axes.kind != Value::List) return static_cast<int>(axes.number);
  const auto list = [](const Value& value) {
    std::vector<int> out;
    if (value.kind != Value::List) return std::vector<int>{static_cast<int>(value.number)};
    for (const Value& axis : value.list) out.push_back(static_cast<int>(axis.number));
    return out;
  };
  return {list(axes.list.at(0)), list(axes.list.at(1))};
}

Results svd(const Call& c) {
  const bool vectors = flag(c, "compute_uv", true);
  const auto [u, s, vh] = ops::svd(c["x"], flag(c, "full_matrices", true), vectors);
  return vectors ? Results{u, s, vh} : Results{s};
}

void add_products(Table& table) {
  const std::pair<const char*, Tensor (*)(const Tensor&, const Tensor&)> products[] = {
      {"matmul", ops::matmul}, {"dot", ops::dot},   {"inner", ops::inner},
      {"outer", ops::outer},   {"vdot", ops::vdot}, {"kron", ops::kron}};
  for (const auto& [name, f] : products)
    table[name] = [f = f](const Call& c) -> Results { return {f(c["x1"], c["x2"])}; };
  table["cdist"] = [](const Call& c) -> Results { return {ops::cdist(c["x"], c["y"])}; };
  table["cross"] = [](const Call& c) -> Results {
    ops::CrossOptions o;
    c.set("axisa", o.axisa), c.set("axisb", o.axisb), c.set("axisc", o.axisc), c.set("axis", o.axis);
    return {ops::cross(c["x1"], c["x2"], o)};
  };
  table["tensordot"] = [](const Call& c) -> Results {
    return {ops::tensordot(c["x1"], c["x2"], dot_axes(c))};
  };
  table["einsum"] = [](const Call& c) -> Results {
    return {ops::einsum(c.get<std::string>("subscripts"), c.list("operands"))};
  };
}

}  // namespace

void add_linalg(Table& table) {
  add_products(table);
  table["cholesky"] = [](const Call& c) -> Results {
    return {ops::cholesky(c["x"], flag(c, "upper", false))};
  };
  table["cholesky_inverse"] = [](const Call& c) -> Results {
    return {ops::cholesky_inverse(c["x"], flag(c, "upper", false))};
  };
  table["det"] = unary(ops::det), table["logdet"] = unary(ops::logdet), table["inv"] = unary(ops::inv);
  table["slogdet"] = [](const Call& c) -> Results {
    const auto [sign, logarithm] = ops::slogdet(c["x"]);
    return {sign, logarithm};
  };
  table["solve"] = [](const Call& c) -> Results { return {ops::solve(c["a"], c["b"])}; };
  table["solve_triangular"] = [](const Call& c) -> Results {
    return {ops::solve_triangular(c["a"], c["b"], flag(c, "lower", false))};
  };
  table["qr"] = [](const Call& c) -> Results {
    const auto [q, r] = ops::qr(c["x"], get_or(c, "mode", std::string("reduced")));
    return {q, r};
  };
  table["svd"] = svd;
  table["eigh"] = [](const Call& c) -> Results {
    const auto [w, v] = ops::eigh(c["x"]);
    return {w, v};
  };
  table["eig"] = [](const Call& c) -> Results {
    const auto [wr, wi, vr, vi] = ops::eig(c["x"]);
    return {wr, wi, vr, vi};
  };
  table["lu_factor"] = [](const Call& c) -> Results {
    const auto [lu, pivots] = ops::lu_factor(c["x"]);
    return {lu, pivots};
  };
  const auto number = [](const Call& c, const char* name) {
    return get_or(c, name, std::optional<double>());
  };
  table["lstsq"] = [number](const Call& c) -> Results {
    return {ops::lstsq(c["a"], c["b"], number(c, "rcond"))};
  };
  table["pinv"] = [number](const Call& c) -> Results { return {ops::pinv(c["x"], number(c, "rcond"))}; };
  table["matrix_rank"] = [number](const Call& c) -> Results {
    return {ops::matrix_rank(c["x"], number(c, "tol"))};
  };
  table["matrix_power"] = [](const Call& c) -> Results {
    return {ops::matrix_power(c["x"], c.get<int>("n"))};
  };
  table["norm"] = [](const Call& c) -> Results {
    return {ops::norm(c["x"], order(c), axes(c), keepdims(c))};
  };
}

}  // namespace golden_ops
