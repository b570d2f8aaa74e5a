#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/ops/kernels/elementwise/elementwise.hpp>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

/// A list of element-wise ops that wait, and the passes that prepare the list for its run.
namespace ktape::fusion {

/// The largest closure of an element-wise op that can wait.
inline constexpr std::size_t largest_closure = 64;

/// An operand of an op: a value, read in its own order or broadcast.
struct ElementOperand {
  int value = -1;
  int broadcast = -1;  ///< the index of a pair of shapes; -1 for a value with an element for each result

  friend bool operator==(const ElementOperand&, const ElementOperand&) = default;
};

/// An op that computes one element of its result from one element of each operand.
struct ElementOp {
  kernels::ElementLoop loop;  ///< `loop.f` is not valid: the closure follows
  std::array<std::byte, largest_closure> closure;
  std::size_t closure_bytes = 0;
  std::int64_t size = 0;  ///< the elements of the result
  std::array<ElementOperand, 4> x;
  int result = -1;
};

/// A tensor's elements, computed or not.
struct ElementValue {
  Ref<Storage> storage;
  DType dtype = DType::Float32;
  int made_by = -1;  ///< the op that computes the value; -1 for elements in memory
};

struct ElementOps {
  std::vector<ElementOp> ops;
  std::vector<ElementValue> values;
  std::vector<std::pair<Shape, Shape>> broadcasts;  ///< the shape of an operand and the shape of the result
};

/// The indices of ops with results of one size, in the order of execution: they run as one chain.
using ElementGroup = std::vector<int>;

/// Lets ops read the results of earlier ops with equal functions and operands. The later ops stay, for
/// readers of their own results.
void merge_equal_ops(ElementOps& list);

/// Returns for each op whether its result is read: by a tensor outside of the list, or by an op whose result
/// is read.
std::vector<bool> ops_in_use(const ElementOps& list);

/// Divides the ops in use into groups, which run one after another. An op joins the newest group of its size,
/// unless a later group makes one of its operands.
std::vector<ElementGroup> group_ops(const ElementOps& list, const std::vector<bool>& used);

/// The places of the values while a group runs.
struct GroupPlan {
  std::vector<int> buffer_of;  ///< for each value the buffer that holds it; -1 for a value in memory
  std::vector<int> donor_of;   ///< for each value the value whose memory its elements take; -1 for new memory
  /// The buffers of broadcast operands, in the order in which the ops read them.
  std::vector<std::pair<ElementOperand, int>> sources;
  int buffers = 0;
};

/// Plans the memory of a group: results that nothing reads after the group live in buffers, which are used
/// again after the last reader; a result that stays takes the memory of an operand that ends with the op.
/// `kept` says of each value whether something outside of the group reads the value.
GroupPlan plan_group(const ElementOps& list, const ElementGroup& group, const std::vector<bool>& kept);

/// Runs all ops that are in use, and gives the storages that wait their elements. If memory is missing, throws
/// ValueError; the list then holds the ops that have not run.
void run_ops(ElementOps& list);

}  // namespace ktape::fusion
