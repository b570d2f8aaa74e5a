#include <ktape/ops/linalg/linalg.hpp>

#include "families.hpp"

namespace golden {
namespace {

namespace K = ktape::backend;

Results batch_dot(const Call& c) {
  if (!c.has("axes") || c.none("axes")) return {K::batch_dot(c["x"], c["y"])};
  if (c.value("axes").kind == Value::Integer) return {K::batch_dot(c["x"], c["y"], c.get<int>("axes"))};
  const auto axes = c.get<std::array<int, 2>>("axes");
  return {K::batch_dot(c["x"], c["y"], {axes[0], axes[1]})};
}

Results matmul(const Call& c) {
  K::MatmulOptions options;
  c.set("transpose_a", options.transpose_a);
  c.set("transpose_b", options.transpose_b);
  return {K::matmul(c["a"], c["b"], options)};
}

}  // namespace

void add_linalg(Table& table) {
  auto& ops = table.ops;
  ops["dot"] = [](const Call& c) -> Results { return {K::dot(c["x"], c["y"])}; };
  ops["batch_dot"] = batch_dot;
  ops["matmul"] = matmul;
  ops["einsum"] = [](const Call& c) -> Results {
    return {K::einsum(c.get<std::string>("equation"), c.list("operands"))};
  };
}

}  // namespace golden
