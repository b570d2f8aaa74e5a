#include <ktape/autograd/symbolic.hpp>

#include <algorithm>
#include <numeric>

namespace ktape {
namespace {

std::atomic<std::uint64_t> newest{0};
thread_local Environment* environment = nullptr;
thread_local bool inferring = false;

/// Symbols that lost their last reference while another one was being destroyed: a deep graph must not
/// recurse.
thread_local std::vector<Symbol*>* dying = nullptr;

}  // namespace

Operand::Operand(const Tensor& tensor, bool differentiable)
    : tensor(tensor), variable(variable_behind(tensor)), differentiable(differentiable) {
  // The symbol must not keep the present value: an update would have to copy it.
  if (variable.defined()) this->tensor = Tensor();
}

Symbol::Symbol(const char* op) : op_(op), sequence_(newest.fetch_add(1, std::memory_order_relaxed) + 1) {}

void Symbol::release() {
  if (refs_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (dying) return dying->push_back(this);
  std::vector<Symbol*> list{this};
  dying = &list;
  while (!list.empty()) {
    Symbol* next = list.back();
    list.pop_back();
    delete next;
  }
  dying = nullptr;
}

void Symbol::set_captured(std::vector<Operand> captured) {
  captured_ = captured.size();
  std::move(captured.begin(), captured.end(), std::back_inserter(operands_));
}

void Results::set(std::vector<Tensor> all) {
  if (list_) return std::swap(*list_, all);
  if (all.size() != count_)
    fail("[function] an op must return ", count_, " results, as when the graph was built: received ",
         all.size());
  std::move(all.begin(), all.end(), places_);
}

bool is_symbolic(const std::vector<Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& x) { return is_symbolic(x); });
}

std::uint64_t newest_symbol() { return newest.load(std::memory_order_relaxed); }
bool inferring_shapes() { return inferring; }
bool running_graph() { return environment; }

Environment::Environment() : outer_(environment) { environment = this; }
Environment::~Environment() { environment = outer_; }

Tensor symbolic_tensor(const Ref<Symbol>& symbol, std::uint32_t output) {
  const OutputInfo& info = symbol->outputs()[output];
  Tensor out(Ref<TensorImpl>::adopt(new TensorImpl(info.shape, info.shape.count(), info.dtype, {})));
  out.get()->symbol = symbol;
  out.get()->output = output;
  return out;
}

namespace {

class Placeholder final : public Symbol {
 public:
  explicit Placeholder(const std::string& name) : Symbol("placeholder") { name_ = name; }
  void run(const OperandValues&, Results&) const override {
    fail("[placeholder] a value is needed for the placeholder '", name(), "'");
  }
};

std::vector<Tensor> operand_values(const Symbol& symbol, Environment& environment) {
  std::vector<Tensor> values;
  for (const Operand& operand : symbol.operands().first(symbol.operands().size() - symbol.captured())) {
    values.push_back(is_symbolic(operand.tensor) ? environment.value(operand.tensor) : operand.value());
  }
  return values;
}

std::vector<Tensor> run_on(const Symbol& symbol, const std::vector<Tensor>& values) {
  std::vector<Tensor> results;
  std::vector<OperandValues::Source> sources(values.size());
  std::iota(sources.begin(), sources.end(), 0);
  Results places(results);
  symbol.run({sources, values.data(), nullptr}, places);
  for (Tensor& result : results)
    if (is_symbolic(result))
      result = environment->value(result);  // a callable returned a tensor from outside
  return results;
}

}  // namespace

InferenceScope::InferenceScope()
    : before_(std::exchange(inferring, true)), outer_(std::exchange(environment, nullptr)) {}
InferenceScope::~InferenceScope() { inferring = before_, environment = outer_; }

std::vector<Tensor> defer(Ref<Symbol> symbol, std::vector<OutputInfo> results) {
  if (running_graph()) return run_on(*symbol, operand_values(*symbol, *environment));
  symbol->set_outputs(std::move(results));
  std::vector<Tensor> tensors;
  for (std::uint32_t i = 0; i < symbol->outputs().size(); ++i) tensors.push_back(symbolic_tensor(symbol, i));
  return tensors;
}

Tensor make_placeholder(const Shape& shape, DType dtype, const std::string& name) {
  for (const std::int64_t n : shape)
    if (n < 0 && n != None) fail("[placeholder] extents must be None or at least 0: received shape=", shape);
  check_extents("placeholder", shape, dtype.size(), true);
  auto symbol = Ref<Symbol>::adopt(new Placeholder(name));
  symbol->set_outputs({{shape, dtype}});
  return symbolic_tensor(symbol, 0);
}

}  // namespace ktape
