#include <ktape/nn/operations/operation_tables.hpp>
#include <ktape/ops/keras/linalg/linalg.hpp>
#include <ktape/ops/keras/linalg/products.hpp>

/// Linear algebra of ktape::ops.
namespace ktape::nn {
namespace {

template <Tensor (*f)(const Tensor&, const Tensor&)>
Tensor product(const OperationCall& call) {
  return f(call.tensor("x1"), call.tensor("x2"));
}

std::optional<double> optional_number(const OperationCall& call, const char* name) {
  return call.value(name).as<std::optional<double>>(call.what(name));
}

Tensor cross(const OperationCall& call) {
  ops::CrossOptions options{call.axis("axisa"), call.axis("axisb"), call.axis("axisc")};
  if (call.has("axis")) options.axis = call.axis();
  return ops::cross(call.tensor("x1"), call.tensor("x2"), options);
}

Tensor tensordot(const OperationCall& call) {
  const Value axes = call.value("axes");
  if (!axes.is_list())
    return ops::tensordot(call.tensor("x1"), call.tensor("x2"), axes.as<int>("[Tensordot] axes"));
  const auto both = axes.as<std::array<std::vector<int>, 2>>("[Tensordot] axes");
  return ops::tensordot(call.tensor("x1"), call.tensor("x2"), ops::DotAxes(both[0], both[1]));
}

std::vector<Tensor> qr(const OperationCall& call) {
  const auto [q, r] = ops::qr(call.tensor("x"), call.text("mode"));
  return {q, r};
}

std::vector<Tensor> svd(const OperationCall& call) {
  const bool vectors = call.flag("compute_uv");
  const auto [u, s, vh] = ops::svd(call.tensor("x"), call.flag("full_matrices"), vectors);
  return vectors ? std::vector{u, s, vh} : std::vector{s};
}

}  // namespace

void add_linalg_operations(std::vector<Operation>& all) {
  const std::vector<Operation> operations{
      {"Inner", "numpy", "x1, x2;", product<ops::inner>},
      {"Outer", "numpy", "x1, x2;", product<ops::outer>},
      {"Vdot", "numpy", "x1, x2;", product<ops::vdot>},
      {"Kron", "numpy", "x1, x2;", product<ops::kron>},
      {"Cross", "numpy", "x1, x2; axisa=-1, axisb=-1, axisc=-1, axis=null", cross},
      {"Tensordot", "numpy", "x1, x2; axes=2", tensordot},
      {"CDist", "math", "x, y;",
       [](const OperationCall& call) { return ops::cdist(call.tensor("x"), call.tensor("y")); }, "cdist"},
      {"Cholesky", "linalg", "x; upper=false",
       [](const OperationCall& call) { return ops::cholesky(call.tensor("x"), call.flag("upper")); }, "",
       "x"},
      {"CholeskyInverse", "linalg", "x; upper=false",
       [](const OperationCall& call) { return ops::cholesky_inverse(call.tensor("x"), call.flag("upper")); }},
      {"Det", "linalg", "x;", unary<ops::det>},
      {"Inv", "linalg", "x;", unary<ops::inv>},
      {"Logdet", "math", "x;", unary<ops::logdet>},
      {"Slogdet", "numpy", "x;",
       [](const OperationCall& call) {
         const auto [sign, logarithm] = ops::slogdet(call.tensor("x"));
         return std::vector{sign, logarithm};
       }},
      {"Solve", "linalg", "a, b;",
       [](const OperationCall& call) { return ops::solve(call.tensor("a"), call.tensor("b")); }},
      {"SolveTriangular", "linalg", "a, b; lower=false",
       [](const OperationCall& call) {
         return ops::solve_triangular(call.tensor("a"), call.tensor("b"), call.flag("lower"));
       }},
      {"LuFactor", "linalg", "x;",
       [](const OperationCall& call) {
         const auto [lu, pivots] = ops::lu_factor(call.tensor("x"));
         return std::vector{lu, pivots};
       }},
      {"Qr", "linalg", "x; mode=\"reduced\"", qr},
      {"SVD", "linalg", "x; full_matrices=true, compute_uv=true", svd},
      {"Eigh", "linalg", "x;",
       [](const OperationCall& call) {
         const auto [values, vectors] = ops::eigh(call.tensor("x"));
         return std::vector{values, vectors};
       }},
      {"Lstsq", "linalg", "a, b; rcond=null",
       [](const OperationCall& call) {
         return ops::lstsq(call.tensor("a"), call.tensor("b"), optional_number(call, "rcond"));
       }},
      {"Pinv", "linalg", "x; rcond=null",
       [](const OperationCall& call) { return ops::pinv(call.tensor("x"), optional_number(call, "rcond")); }},
      {"MatrixPower", "linalg", "x; n",
       [](const OperationCall& call) { return ops::matrix_power(call.tensor("x"), call.axis("n")); }},
      {"MatrixRank", "linalg", "x; tol=null",
       [](const OperationCall& call) {
         return ops::matrix_rank(call.tensor("x"), optional_number(call, "tol"));
       }},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

}  // namespace ktape::nn
