#include <ktape/nn/core/rethrow.hpp>
#include <ktape/nn/core/text.hpp>
#include <ktape/nn/layers/base/masks.hpp>
#include <ktape/nn/operations/operation_symbol.hpp>
#include <ktape/nn/saving/onnx/writing/translation.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::nn::onnx {
namespace {

const RowTable& operation_rows() {
  static const RowTable rows = [] {
    RowTable all;
    for (const auto add :
         {add_elementwise_rows, add_activation_rows, add_reduction_rows, add_shape_rows, add_indexing_rows,
          add_product_rows, add_convolution_rows, add_composed_rows, add_array_rows, add_signal_rows})
      add(all);
    return all;
  }();
  return rows;
}

const RowTable& symbol_rows() {
  static const RowTable rows = [] {
    RowTable all;
    for (const auto add :
         {add_creation_symbols, add_product_symbols, add_convolution_symbols, add_normalization_symbols,
          add_attention_symbols, add_recurrent_symbols, add_loop_symbols, add_other_symbols})
      add(all);
    return all;
  }();
  return rows;
}

const RowTable& layer_rows() {
  static const RowTable rows = [] {
    RowTable all;
    for (const auto add : {add_convolution_layers, add_normalization_layers, add_preprocessing_layers})
      add(all);
    return all;
  }();
  return rows;
}

const Row* found(const RowTable& rows, const std::string& name) {
  const auto at = rows.find(name);
  return at == rows.end() ? nullptr : &at->second;
}

/// Returns why an operation has no row.
std::string why_not(const std::string& operation) {
  static const std::pair<const char*, std::vector<const char*>> reasons[] = {
      {"no operator of ONNX factorizes or inverts matrices",
       {"Cholesky", "CholeskyInverse", "Eig", "Eigh", "Inv", "Logdet", "Lstsq", "LuFactor", "MatrixPower",
        "MatrixRank", "PerspectiveTransform", "Pinv", "Qr", "Slogdet", "Solve", "SolveTriangular", "SVD"}},
      {"no operator of ONNX computes this function", {"Erfinv", "Gammainc", "Gcd", "I0", "Lcm"}},
      {"no operator of ONNX reads the bits of numbers", {"Nextafter", "View"}},
      {"no operator of ONNX aligns labels and time steps",
       {"CTCDecode", "CTCLoss", "ctc_batch_cost", "ctc_decode"}},
      {"it draws random numbers", {"ElasticTransform"}},
      {"the number of images must be known, as with the batch_size of nn::Input", {"AffineTransform"}},
  };
  for (const auto& [reason, names] : reasons)
    if (std::find(names.begin(), names.end(), operation) != names.end())
      return "the operation " + operation + ": " + reason;
  return "the export has no form for the operation " + operation;
}

}  // namespace

// --- Translation ------------------------------------------------------------------------------------------

std::string Translation::name(const Tensor& x) const { return translator.name(x); }

std::string Translation::weight(const Variable& weight) const {
  const Tensor value = weight.value();
  if (!value.dtype().is_floating() || value.dtype() == dtype()) return name(value);
  return derived(value, std::string("cast ") + dtype().name(), [&] { return backend::cast(value, dtype()); });
}

Names Translation::list(const char* argument) const {
  Names names;
  for (const Tensor& x : call->tensors(argument)) names.push_back(name(x));
  return names;
}

const Tensor& Translation::operand(std::size_t i) const { return symbol.operands()[i].value(); }

Tensor Translation::known(const Tensor& x) {
  const bool later = is_symbolic(x) && std::string_view(x.get()->symbol->op()) == "variable";
  return later ? x.get()->symbol->operands()[0].value() : x;
}

std::string Translation::derived(const Tensor& from, const std::string& form,
                                 const std::function<Tensor()>& make) const {
  return graph.derived(from, form, make, translator.hint(from));
}

std::string Translation::permuted(const Tensor& given, const Integers& permutation) const {
  const Tensor x = known(given);
  if (is_symbolic(x)) return graph.transposed(name(x), permutation);
  std::string form = "permuted";
  for (const std::int64_t axis : permutation) form += ' ' + std::to_string(axis);
  return derived(x, form, [&] { return backend::permute_dimensions(x.detach(), permutation); });
}

void Translation::fail(const std::string& reason) const {
  const std::string place = translator.place();
  ktape::fail("[export_to] ", place.empty() ? "an op between layers" : "the layer '" + place + '\'',
              " must have a form in ONNX: received the op '", symbol.op(), "' (", reason, ')');
}

// --- Translator -------------------------------------------------------------------------------------------

std::string Translator::place() const {
  std::string text;
  for (const std::string& layer : layers_) text += (text.empty() ? "" : "/") + layer;
  return text;
}

void Translator::set_name(const Tensor& x, const std::string& name) {
  symbols_.push_back(x.get()->symbol);
  names_[{x.get()->symbol.get(), x.get()->output}] = name;
}

std::string Translator::hint(const Tensor& value) const {
  const auto at = hints_.find(value.get());
  return at == hints_.end() ? "" : at->second;
}

std::string Translator::name(const Tensor& x) {
  if (!x.defined()) return "";
  if (!is_symbolic(x)) return graph_.constant(x, hint(x));
  const Key key{x.get()->symbol.get(), x.get()->output};
  if (!names_.contains(key)) translate(x.get()->symbol);
  return names_.at(key);
}

void Translator::translate(const Ref<Symbol>& wanted) {
  std::vector<Ref<Symbol>> waiting{wanted};
  while (!waiting.empty()) {
    const Ref<Symbol> symbol = waiting.back();
    if (names_.contains({symbol.get(), 0})) {
      waiting.pop_back();
      continue;
    }
    const LayerCall* const call = call_of(*symbol);
    const std::size_t count = call ? call->operand_count() : symbol->operands().size(),
                      before = waiting.size();
    for (const Operand& operand : symbol->operands().first(count))
      if (is_symbolic(operand.tensor) && !names_.contains({operand.tensor.get()->symbol.get(), 0}))
        waiting.push_back(operand.tensor.get()->symbol);
    if (waiting.size() > before) continue;
    waiting.pop_back();
    const Names names = translated(symbol);
    symbols_.push_back(symbol);
    for (std::uint32_t i = 0; i < names.size(); ++i) names_[{symbol.get(), i}] = names[i];
  }
}

namespace {

/// Rethrows the current error with the place of the layer added, unless the error names a layer.
[[noreturn]] void rethrow_from(const std::string& place) {
  const auto text = [&](const Error& error) {
    const std::string text = error.what();
    const bool named = text.starts_with("[export_to]") || text.find("(in layer '") != text.npos;
    return named ? text : text + " (in layer '" + place + "', exported to ONNX)";
  };
  rethrow_with(text);
}

}  // namespace

Names Translator::translated(const Ref<Symbol>& symbol) {
  if (symbol->placeholder())
    fail("[export_to] the model must compute its outputs from its inputs: received the placeholder '",
         symbol->name(), '\'');
  if (const LayerCall* const call = call_of(*symbol)) {
    layers_.push_back(call->layer.name());
    try {
      const Names names = of_call(*symbol, *call);
      layers_.pop_back();
      return names;
    } catch (const Error&) {
      rethrow_from(place());
    }
  }
  if (std::string_view(symbol->op()) == "mask_of") return mask_of(*symbol);
  return of_symbol(*symbol);
}

Names Translator::of_call(const Symbol& symbol, const LayerCall& call) {
  const Layer& layer = call.layer;
  graph_.enter(layer.name());
  Names names;
  if (const Row* const row = found(layer_rows(), layer.class_name()))
    names = (*row)({graph_, *this, symbol, nullptr, &call});
  if (names.empty()) {
    const std::vector<Tensor> outputs = inner_outputs(call);
    for (std::uint32_t i = 0; i < outputs.size(); ++i) {
      names.push_back(name(outputs[i]));
      if (const Tensor mask = nn::mask_of(outputs[i]); mask.defined()) masks_[{&symbol, i}] = mask;
      kept_.push_back(outputs[i]);
    }
  }
  graph_.leave();
  return names;
}

Names Translator::mask_of(const Symbol& symbol) {
  const TensorImpl& x = *symbol.operands()[0].tensor.get();
  const auto mask = masks_.find({x.symbol.get(), x.output});
  if (mask == masks_.end()) fail("[export_to] the mask of a layer must be known: received none");
  return {name(mask->second)};
}

Names Translator::of_symbol(const Symbol& symbol) {
  // The names of the tensors in an operation that was read from a file are those of the ops that it runs.
  if (const OperationCall* const call = applied_operation(symbol)) {
    Names names;
    for (const Tensor& result : call->operation().run(*call)) {
      names.push_back(name(result));
      kept_.push_back(result);
    }
    return names;
  }
  const Translation bare{graph_, *this, symbol};
  if (const Row* const row = found(symbol_rows(), symbol.op()))
    if (Names names = (*row)(bare); !names.empty()) return names;
  if (symbol.updates()) bare.fail("the op changes a variable");
  const std::optional<OperationCall> call = operation_of(symbol, true);
  if (!call) bare.fail("the export has no form for the op");
  const Row* const row = found(operation_rows(), call->operation().name);
  if (!row) bare.fail(why_not(call->operation().name));
  return (*row)({graph_, *this, symbol, &*call});
}

// --- Helpers ----------------------------------------------------------------------------------------------

Integers whole_axes(const Axes& axes, int rank) {
  Integers whole;
  for (const int axis : axes.list()) whole.push_back(axis < 0 ? axis + rank : axis);
  return whole;
}

Integers integers_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

Integers to_channels_first(int rank) {
  Integers permutation{0, rank - 1};
  for (int axis = 1; axis + 1 < rank; ++axis) permutation.push_back(axis);
  return permutation;
}

Integers to_channels_last(int rank) {
  Integers permutation{0};
  for (int axis = 2; axis < rank; ++axis) permutation.push_back(axis);
  permutation.push_back(1);
  return permutation;
}

std::pair<std::int64_t, std::int64_t> same_padding(std::int64_t extent, std::int64_t reach,
                                                   std::int64_t stride) {
  const std::int64_t windows = (extent + stride - 1) / stride;
  const std::int64_t all = std::max<std::int64_t>((windows - 1) * stride + reach - extent, 0);
  return {all / 2, all - all / 2};
}

}  // namespace ktape::nn::onnx
