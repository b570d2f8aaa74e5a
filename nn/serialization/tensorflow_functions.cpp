#include <ktape/nn/serialization/internal/tensorflow_functions.hpp>

#include <cctype>
#include <map>
#include <sstream>

namespace ktape::nn::saving {
namespace {

/// Converts between the sizes of the parts, TensorFlow's form, and the ends of all parts but the last.
void sizes_to_ends(Config& arguments) {
  const Value parts = arguments.get("indices_or_sections");
  if (!parts.is_list()) return;
  Value::List ends;
  std::int64_t end = 0;
  for (std::size_t i = 0; i + 1 < parts.list().size(); ++i)
    ends.push_back(end += parts.list()[i].integer("[split]"));
  arguments.set("indices_or_sections", ends);
}

void ends_to_sizes(Config& arguments) {
  const Value parts = arguments.get("indices_or_sections");
  if (!parts.is_list()) return;
  Value::List sizes;
  std::int64_t begin = 0;
  for (const Value& end : parts.list()) {
    sizes.push_back(end.integer("[split]") - begin);
    begin = end.integer();
  }
  sizes.push_back(-1);
  arguments.set("indices_or_sections", sizes);
}

void add_missing_bounds(Config& arguments) {
  for (const char* name : {"x_min", "x_max"})
    if (!arguments.contains(name)) arguments.set(name, Value());
}

void lower_mode(Config& arguments) {
  std::string mode = arguments.get("mode", "constant").string("[pad] mode");
  for (char& c : mode) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  arguments.set("mode", mode);
}
void upper_mode(Config& arguments) {
  std::string mode = arguments.get("mode", "constant").string("[pad] mode");
  for (char& c : mode) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  arguments.set("mode", mode);
  if (arguments.get("constant_values").is_null()) arguments.set("constant_values", 0);
}

constexpr const char* unary = "x";
constexpr const char* binary = "x:x1 y:x2";
constexpr const char* reduction = "input_tensor:x axis keepdims";

const std::vector<TensorflowFunction>& arithmetic() {
  static const std::vector<TensorflowFunction> all{
      {"math.add", "Add", binary},
      {"math.subtract", "Subtract", binary},
      {"math.multiply", "Multiply", binary},
      {"math.truediv", "Divide", binary},
      {"math.divide", "Divide", binary},
      {"math.divide_no_nan", "DivideNoNan", binary},
      {"math.pow", "Power", binary},
      {"math.maximum", "Maximum", binary},
      {"math.minimum", "Minimum", binary},
      {"math.floordiv", "FloorDivide", binary},
      {"math.floormod", "Mod", binary},
      {"math.atan2", "Arctan2", "y:x1 x:x2"},
      {"math.equal", "Equal", binary},
      {"math.not_equal", "NotEqual", binary},
      {"math.greater", "Greater", binary},
      {"math.greater_equal", "GreaterEqual", binary},
      {"math.less", "Less", binary},
      {"math.less_equal", "LessEqual", binary},
      {"math.logical_and", "LogicalAnd", binary},
      {"math.logical_or", "LogicalOr", binary},
      {"math.logical_xor", "LogicalXor", binary},
      {"math.logical_not", "LogicalNot", unary},
      {"clip_by_value", "Clip", "t:x clip_value_min:x_min clip_value_max:x_max", add_missing_bounds},
      {"where", "Where", "condition x:x1 y:x2"},
      {"cast", "Cast", "x dtype"},
      {"math.abs", "Absolute", unary},
      {"math.negative", "Negative", unary},
      {"math.sqrt", "Sqrt", unary},
      {"math.rsqrt", "Rsqrt", unary},
      {"math.square", "Square", unary},
      {"math.reciprocal", "Reciprocal", unary},
      {"math.exp", "Exp", unary},
      {"math.expm1", "Expm1", unary},
      {"math.log", "Log", unary},
      {"math.log1p", "Log1p", unary},
      {"math.round", "Round", unary},
      {"math.sign", "Sign", unary},
      {"math.floor", "Floor", unary},
      {"math.ceil", "Ceil", unary},
      {"math.sin", "Sin", unary},
      {"math.cos", "Cos", unary},
      {"math.tan", "Tan", unary},
      {"math.asin", "Arcsin", unary},
      {"math.acos", "Arccos", unary},
      {"math.atan", "Arctan", unary},
      {"math.sinh", "Sinh", unary},
      {"math.cosh", "Cosh", unary},
      {"math.tanh", "Tanh", unary},
      {"math.erf", "Erf", unary},
      {"math.is_nan", "Isnan", unary},
      {"math.is_finite", "Isfinite", unary},
      {"math.is_inf", "Isinf", unary},
      {"identity", "identity", "input:x"},
      {"stop_gradient", "StopGradient", "input:variable"},
      {"zeros_like", "ZerosLike", "input:x dtype"},
      {"ones_like", "OnesLike", "input:x dtype"}};
  return all;
}

const std::vector<TensorflowFunction>& others() {
  static const std::vector<TensorflowFunction> all{
      {"math.reduce_sum", "Sum", reduction},
      {"math.reduce_mean", "Mean", reduction},
      {"math.reduce_max", "Max", reduction},
      {"math.reduce_min", "Min", reduction},
      {"math.reduce_prod", "Prod", reduction},
      {"math.reduce_any", "Any", reduction},
      {"math.reduce_all", "All", reduction},
      {"math.reduce_std", "Std", reduction},
      {"math.reduce_variance", "Var", reduction},
      {"math.reduce_logsumexp", "Logsumexp", reduction},
      {"norm", "Norm", "tensor:x ord axis keepdims"},
      {"math.argmax", "Argmax", "input:x axis?0 output_type:-"},
      {"math.argmin", "Argmin", "input:x axis?0 output_type:-"},
      {"math.cumsum", "Cumsum", "x axis?0 exclusive:! reverse:!"},
      {"math.cumprod", "Cumprod", "x axis?0 exclusive:! reverse:!"},
      {"math.top_k", "TopK", "input:x k?1 sorted:- index_type:-"},
      {"sort", "sort", "values axis?-1 direction?\"ASCENDING\""},
      {"argsort", "argsort", "values axis?-1 direction?\"ASCENDING\" stable:-"},
      {"__operators__.getitem", "GetItem", "tensor:x slice_spec:key var:!"},
      {"gather", "Take", "params:x indices validate_indices:- axis?0 batch_dims:!"},
      {"gather_nd", "gather_nd", "params indices batch_dims:! bad_indices_policy:-"},
      {"scatter_nd", "Scatter", "indices updates:values shape"},
      {"one_hot", "OneHot", "indices:x depth:num_classes on_value:- off_value:! axis?-1 dtype"},
      {"reshape", "Reshape", "tensor:x shape:newshape"},
      {"compat.v1.transpose", "Transpose", "a:x perm:axes conjugate:!"},
      {"transpose", "Transpose", "a:x perm:axes conjugate:!"},
      {"expand_dims", "ExpandDims", "input:x axis"},
      {"squeeze", "Squeeze", "input:x axis"},
      {"concat", "Concatenate", "values:xs axis"},
      {"stack", "Stack", "values:x axis"},
      {"unstack", "Unstack", "value:x num axis"},
      {"split", "Split", "value:x num_or_size_splits:indices_or_sections axis num:-", sizes_to_ends,
       ends_to_sizes},
      {"tile", "Tile", "input:x multiples:repeats"},
      {"repeat", "Repeat", "input:x repeats axis"},
      {"reverse", "Flip", "tensor:x axis"},
      {"pad", "Pad", "tensor:x paddings:pad_width mode constant_values", lower_mode, upper_mode},
      {"slice", "Slice", "input_:inputs begin:start_indices size:shape"},
      {"broadcast_to", "BroadcastTo", "input:x shape"},
      {"linalg.matmul", "matmul",
       "a b transpose_a?false transpose_b?false adjoint_a:! adjoint_b:! a_is_sparse:- "
       "b_is_sparse:- output_type:-"},
      {"einsum", "Einsum", "equation:subscripts inputs:operands"},
      {"nn.bias_add", "bias_add", "value:x bias data_format"},
      {"nn.relu", "Relu", "features:x"},
      {"nn.relu6", "Relu6", "features:x"},
      {"nn.leaky_relu", "LeakyRelu", "features:x alpha:negative_slope"},
      {"nn.elu", "Elu", "features:x"},
      {"nn.selu", "Selu", "features:x"},
      {"nn.gelu", "Gelu", "features:x approximate?false"},
      {"nn.silu", "Silu", "features:x beta:-"},
      {"nn.swish", "Silu", "features:x beta:-"},
      {"math.sigmoid", "Sigmoid", unary},
      {"math.softplus", "Softplus", "features:x"},
      {"nn.softsign", "Softsign", "features:x"},
      {"nn.softmax", "Softmax", "logits:x axis"},
      {"nn.log_softmax", "LogSoftmax", "logits:x axis"},
      {"math.l2_normalize", "l2_normalize", "x axis epsilon dim:!"}};
  return all;
}

/// Returns a name without case, underscores and module.
std::string key_of(const std::string& function) {
  std::string key;
  for (const char c : function.substr(function.rfind('.') + 1))
    if (c != '_') key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return key;
}

/// Names of graph nodes, and other spellings, by key.
const std::map<std::string, std::string>& synonyms() {
  static const std::map<std::string, std::string> all{
      {"addv2", "add"},      {"sub", "subtract"},      {"mul", "multiply"},
      {"div", "truediv"},    {"realdiv", "truediv"},   {"mod", "floormod"},
      {"sum", "reducesum"},  {"mean", "reducemean"},   {"max", "reducemax"},
      {"min", "reducemin"},  {"prod", "reduceprod"},   {"any", "reduceany"},
      {"all", "reduceall"},  {"concatv2", "concat"},   {"pack", "stack"},
      {"unpack", "unstack"}, {"gatherv2", "gather"},   {"selectv2", "where"},
      {"select", "where"},   {"neg", "negative"},      {"batchmatmulv2", "matmul"},
      {"inv", "reciprocal"}, {"topkv2", "topk"},       {"concatenate", "concat"},
      {"padv2", "pad"},      {"reversev2", "reverse"}, {"clipbyvalue", "clipbyvalue"}};
  return all;
}

}  // namespace

std::vector<TensorflowFunction::Argument> TensorflowFunction::parsed() const {
  std::vector<Argument> parsed;
  std::istringstream text(arguments);
  for (std::string part; text >> part;) {
    Argument argument;
    if (const std::size_t at = part.find('?'); at != std::string::npos) {
      argument.otherwise = from_json(part.substr(at + 1));
      part.resize(at);
    }
    const std::size_t colon = part.find(':');
    argument.name = part.substr(0, colon);
    argument.ours = colon == std::string::npos ? part : part.substr(colon + 1);
    parsed.push_back(std::move(argument));
  }
  return parsed;
}

const TensorflowFunction* find_tensorflow_function(const std::string& name) {
  static const std::map<std::string, const TensorflowFunction*> by_key = [] {
    std::map<std::string, const TensorflowFunction*> by_key;
    for (const auto* const table : {&arithmetic(), &others()})
      for (const TensorflowFunction& function : *table) by_key.emplace(key_of(function.name), &function);
    return by_key;
  }();
  std::string key = key_of(name);
  if (const auto synonym = synonyms().find(key); synonym != synonyms().end()) key = synonym->second;
  const auto found = by_key.find(key);
  return found == by_key.end() ? nullptr : found->second;
}

const TensorflowFunction* tensorflow_function_of(const std::string& operation) {
  for (const auto* const table : {&arithmetic(), &others()})
    for (const TensorflowFunction& function : *table)
      if (function.operation == operation) return &function;
  return nullptr;
}

}  // namespace ktape::nn::saving
