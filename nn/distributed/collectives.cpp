#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/base/half.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/autograd/node.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/nn/distributed/internal/world.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <sstream>

namespace ktape::nn::distributed {
namespace K = backend;

// --- The wire ---------------------------------------------------------------------------------------------

namespace {

template <class T>
void add_halves(void* in, void* inout, int* count, MPI_Datatype*) {
  constexpr std::int64_t most = 256;
  std::array<float, most> a, b;
  const auto* x = static_cast<const T*>(in);
  auto* y = static_cast<T*>(inout);
  for (std::int64_t at = 0; at < *count; at += most) {
    const std::int64_t n = std::min<std::int64_t>(most, *count - at);
    widen(n, x + at, a.data());
    widen(n, y + at, b.data());
    for (std::int64_t i = 0; i < n; ++i) a[static_cast<std::size_t>(i)] += b[static_cast<std::size_t>(i)];
    narrow(n, a.data(), y + at);
  }
}

/// Returns a type and a sum for half precision, which MPI does not have.
template <class T>
Wire wire_of_halves() {
  static const Wire wire = [] {
    Wire made{};
    MPI_Type_contiguous(2, MPI_BYTE, &made.type);
    MPI_Type_commit(&made.type);
    MPI_Op_create(add_halves<T>, 1, &made.sum);
    return made;
  }();
  return wire;
}

}  // namespace

Wire wire_of(DType dtype) {
  switch (dtype.kind()) {
    case DType::Bool:
      return {MPI_UINT8_T, MPI_LOR};
    case DType::UInt8:
      return {MPI_UINT8_T, MPI_SUM};
    case DType::Int8:
      return {MPI_INT8_T, MPI_SUM};
    case DType::Int16:
      return {MPI_INT16_T, MPI_SUM};
    case DType::Int32:
      return {MPI_INT32_T, MPI_SUM};
    case DType::Int64:
      return {MPI_INT64_T, MPI_SUM};
    case DType::Float16:
      return wire_of_halves<float16>();
    case DType::BFloat16:
      return wire_of_halves<bfloat16>();
    case DType::Float32:
      return {MPI_FLOAT, MPI_SUM};
    case DType::Float64:
      return {MPI_DOUBLE, MPI_SUM};
  }
  fail<TypeError>("[distributed] dtype must be a number or bool: received ", dtype);
}

int wire_count(std::int64_t elements) {
  if (elements > std::numeric_limits<int>::max())
    fail("[distributed] there must be fewer than 2^31 elements to send: received ", elements);
  return static_cast<int>(elements);
}

// --- Tensors ----------------------------------------------------------------------------------------------

namespace {

/// Throws ValueError, in all processes, unless all processes call this operation with equal shapes and
/// dtypes: otherwise they would wait forever.
void expect_same_call(World& world, const char* op, const Tensor& x, const Shape& shape,
                      const std::string& how) {
  std::ostringstream line;
  line << op << " of a tensor of " << x.dtype() << " and shape " << shape << how;
  world.expect_same(op, {line.str()});
}

/// Returns the sum over all processes, or the mean.
Tensor reduced(World& world, const Tensor& x, bool mean) {
  const NoGrad off;
  const Tensor out = Tensor::from_buffer(x.raw(), static_cast<std::size_t>(x.size()) * x.dtype().size(),
                                         x.shape(), x.dtype());
  const Wire wire = wire_of(x.dtype());
  MPI_Request request;
  world.check(MPI_Iallreduce(MPI_IN_PLACE, out.raw(), wire_count(out.size()), wire.type, wire.sum,
                             world.tensors(), &request));
  world.wait(request);
  return mean ? out * (1. / world.size()) : out;
}

}  // namespace

Tensor allreduce(const Tensor& x, const AllreduceOptions& options) {
  expect_defined("allreduce", "x", x);
  const bool mean = options.op == "mean";
  if (!mean && options.op != "sum")
    fail("[allreduce] op must be mean or sum: received op='", options.op, '\'');
  if (mean && !x.dtype().is_floating())
    fail<TypeError>("[allreduce] a mean needs a floating dtype: received dtype=", x.dtype());
  if (is_symbolic(x)) return defer(impure("allreduce"), {x.shape(), x.dtype()}, allreduce, x, options);
  World* world = World::instance();
  if (!world) return x;
  expect_same_call(*world, "allreduce", x, x.shape(), ", " + options.op);
  const Tensor out = reduced(*world, x, mean);
  if (recording(x))
    record("allreduce", out, {x},
           [options](const Tensor& g, Grads& grads) { grads.to(0, [&] { return allreduce(g, options); }); });
  return out;
}

Tensor weighted_total(const Tensor& x) {
  World* world = World::instance();
  if (is_symbolic(x) || !world) return x;
  const Tensor out = reduced(*world, x, false);
  if (recording(x))
    record("weighted_total", out, {x}, [world](const Tensor& g, Grads& grads) {
      const double weight = world->samples / world->all_samples;
      grads.to(0, [&] {
        const Tensor all = allreduce(weight > 0 ? g * weight : K::zeros_like(g), {.op = "sum"});
        return weight > 0 ? all * (1 / weight) : all;
      });
    });
  return out;
}

Tensor allgather(const Tensor& x) {
  expect_defined("allgather", "x", x);
  if (x.ndim() == 0) fail("[allgather] x must have an axis to gather along: received a scalar");
  Shape shape = x.shape();
  shape[0] = None;
  if (is_symbolic(x)) return defer(impure("allgather"), {shape, x.dtype()}, allgather, x);
  World* world = World::instance();
  if (!world) return x;
  expect_same_call(*world, "allgather", x, shape, "");

  const std::int64_t row = x.shape().count(1), own = x.shape()[0];
  std::vector<std::int64_t> rows(static_cast<std::size_t>(world->size()));
  MPI_Request request;
  world->check(MPI_Iallgather(&own, 1, MPI_INT64_T, rows.data(), 1, MPI_INT64_T, world->tensors(), &request));
  world->wait(request);
  std::vector<int> counts, begins;
  shape[0] = 0;
  for (const std::int64_t part : rows) {
    counts.push_back(wire_count(part * row));
    begins.push_back(wire_count(shape[0] * row));
    shape[0] += part;
  }
  const Tensor out = Tensor::empty(shape, x.dtype());
  const MPI_Datatype type = wire_of(x.dtype()).type;
  world->check(MPI_Iallgatherv(x.raw(), wire_count(x.size()), type, out.raw(), counts.data(), begins.data(),
                               type, world->tensors(), &request));
  world->wait(request);
  if (recording(x)) {
    Shape start(std::vector<std::int64_t>(x.shape().size(), 0));
    for (int rank = 0; rank < world->rank(); ++rank) start[0] += rows[static_cast<std::size_t>(rank)];
    record("allgather", out, {x}, [start, size = x.shape()](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return K::slice(allreduce(g, {.op = "sum"}), start, size); });
    });
  }
  return out;
}

Tensor broadcast(const Tensor& x, int root) {
  expect_defined("broadcast", "x", x);
  if (root < 0 || root >= size()) fail("[broadcast] root must be in [0, ", size(), "): received root=", root);
  if (is_symbolic(x))
    return defer(
        impure("broadcast"), {x.shape(), x.dtype()},
        [](const Tensor& x, int root) { return broadcast(x, root); }, x, root);
  World* world = World::instance();
  if (!world) return x;
  expect_same_call(*world, "broadcast", x, x.shape(), " from rank " + std::to_string(root));
  const bool roots = world->rank() == root;
  const Tensor out = roots ? x.detach() : Tensor::empty_like(x);
  world->broadcast(out.raw(), out.size() * static_cast<std::int64_t>(out.dtype().size()), root);
  if (recording(x))
    record("broadcast", out, {x}, [roots](const Tensor& g, Grads& grads) {
      grads.to(0, [&] {
        const Tensor all = allreduce(g, {.op = "sum"});
        return roots ? all : K::zeros_like(all);
      });
    });
  return out;
}

void broadcast(const std::vector<Variable>& variables, int root) {
  const NoGrad off;
  for (Variable variable : variables) variable.assign(broadcast(variable.value().detach(), root));
}

void barrier() {
  World* world = World::instance();
  if (!world) return;
  MPI_Request request;
  world->check(MPI_Ibarrier(world->tensors(), &request));
  world->wait(request);
}

}  // namespace ktape::nn::distributed
