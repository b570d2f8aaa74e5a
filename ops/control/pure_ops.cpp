#include <ktape/ops/control/pure_ops.hpp>

#include <algorithm>
#include <iterator>

namespace ktape::backend {
namespace {

constexpr std::string_view pure_ops[] = {
    "abs",         "add",           "all",          "any",         "arange",
    "argmax",      "argmin",        "argsort",      "batch_dot",   "batch_flatten",
    "bias_add",    "broadcast_to",  "cast",         "clip",        "concatenate",
    "conv1d",      "conv2d",        "conv3d",       "cos",         "cumprod",
    "cumsum",      "divide",        "dot",          "einsum",      "elu",
    "equal",       "erf",           "exp",          "expand_dims", "expm1",
    "eye",         "flatten",       "gather",       "gather_nd",   "gelu",
    "greater",     "greater_equal", "hard_sigmoid", "identity",    "index",
    "is_finite",   "less",          "less_equal",   "log",         "log1p",
    "log_softmax", "logical_and",   "logical_not",  "logical_or",  "logical_xor",
    "logsumexp",   "matmul",        "max",          "maximum",     "mean",
    "min",         "minimum",       "multiply",     "negative",    "norm",
    "not_equal",   "one_hot",       "ones_like",    "pad",         "permute_dimensions",
    "pow",         "prod",          "relu",         "repeat",      "repeat_elements",
    "reshape",     "resize_images", "reverse",      "round",       "sigmoid",
    "sign",        "sin",           "slice",        "softmax",     "softplus",
    "softsign",    "sort",          "split",        "sqrt",        "square",
    "squeeze",     "stack",         "std",          "subtract",    "sum",
    "sum_to",      "tanh",          "tile",         "top_k",       "transpose",
    "unstack",     "var",           "where",        "zeros_like",
};
static_assert(std::is_sorted(std::begin(pure_ops), std::end(pure_ops)));

}  // namespace

bool is_pure_op(std::string_view op) {
  return std::binary_search(std::begin(pure_ops), std::end(pure_ops), op);
}

}  // namespace ktape::backend
