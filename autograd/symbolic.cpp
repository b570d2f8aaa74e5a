#include <ktape/autograd/dispatch.hpp>
#include <ktape/autograd/symbolic.hpp>
#include <ktape/autograd/tape.hpp>

#include <algorithm>
#include <cstring>
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

/// Symbolic tensors, each once, in the order in which they were met.
struct Met {
  std::vector<Tensor> list;

  void add(const Tensor& symbolic) {
    const auto same = [&](const Tensor& x) {
      return x.get()->symbol.get() == symbolic.get()->symbol.get() &&
             x.get()->output == symbolic.get()->output;
    };
    if (std::none_of(list.begin(), list.end(), same)) list.push_back(symbolic);
  }
};

/// What an op is tried on: an extent for each unknown dimension, and zeros or ones.
struct Trial {
  std::int64_t extent;
  bool ones;
};

Tensor trial_value(const Tensor& symbolic, Trial trial) {
  Tensor out = Tensor::empty(with_unknown(symbolic.shape(), trial.extent), symbolic.dtype());
  dispatch(out.dtype(), [&]<class T>() { std::fill_n(out.pointer<T>(), out.size(), T(trial.ones ? 1 : 0)); });
  return out;
}

/// Runs an op under trial values: every symbolic tensor has one.
class TrialRun final : public Environment {
 public:
  explicit TrialRun(Trial trial) : trial_(trial) {}

  Tensor value(const Tensor& symbolic) override {
    asked_for.add(symbolic);
    return trial_value(symbolic, trial_);
  }

  Met asked_for;

 private:
  NoGrad off_;
  Trial trial_;
};

}  // namespace

InferenceScope::InferenceScope()
    : before_(std::exchange(inferring, true)), outer_(std::exchange(environment, nullptr)) {}
InferenceScope::~InferenceScope() { inferring = before_, environment = outer_; }

/// Learns the shapes of an op's results from two runs on small values that differ in the unknown dimensions:
/// what differs in the results is unknown, too.
class ShapeInference {
 public:
  explicit ShapeInference(Symbol& symbol) : symbol_(symbol) {}

  void run() {
    // Small extents first; images want larger ones, and some ops want zeros (an index) or ones (a length).
    constexpr Trial trials[][2] = {{{2, false}, {3, true}},
                                   {{2, false}, {3, false}},
                                   {{24, false}, {48, true}},
                                   {{24, false}, {48, false}},
                                   {{1, false}, {1, true}}};
    std::exception_ptr first;
    for (const auto& [one, other] : trials) {
      try {
        return merge(results(one), results(other));
      } catch (const Error&) {
        if (!first) first = std::current_exception();
      }
    }
    explain(first);
  }

 private:
  std::vector<OutputInfo> results(Trial trial) {
    const InferenceScope scope;
    TrialRun environment(trial);
    const std::vector<Tensor> values = operand_values(symbol_, environment);
    const std::size_t operands = environment.asked_for.list.size();
    const std::vector<Tensor> results = run_on(symbol_, values);
    for (std::size_t i = operands; i < environment.asked_for.list.size(); ++i)
      captured_.add(environment.asked_for.list[i]);
    std::vector<OutputInfo> infos;
    for (const Tensor& result : results) infos.push_back({result.shape(), result.dtype()});
    return infos;
  }

  void merge(std::vector<OutputInfo> infos, const std::vector<OutputInfo>& others) {
    if (infos.size() != others.size())
      fail("[", symbol_.op(), "] the number of results must not depend on an unknown dimension: received ",
           infos.size(), " and ", others.size());
    for (std::size_t i = 0; i < infos.size(); ++i) {
      Shape& shape = infos[i].shape;
      if (shape.rank() != others[i].shape.rank())
        fail("[", symbol_.op(), "] the rank of the result must not depend on an unknown dimension: received ",
             shape, " and ", others[i].shape);
      for (int axis = 0; axis < shape.rank(); ++axis)
        if (shape[axis] != others[i].shape[axis]) shape[axis] = None;
    }
    symbol_.set_outputs(std::move(infos));
    symbol_.set_captured({captured_.list.begin(), captured_.list.end()});
  }

  [[noreturn]] void explain(const std::exception_ptr& error) const {
    std::ostringstream shapes;
    for (const Operand& operand : symbol_.operands())
      if (is_symbolic(operand.tensor)) shapes << (shapes.tellp() > 0 ? ", " : "") << operand.tensor.shape();
    const auto text = [&](const Error& e) {
      return std::string(e.what()) + " (for symbolic tensors of shape " + shapes.str() + ")";
    };
    try {
      std::rethrow_exception(error);
    } catch (const ValueError& e) {
      throw ValueError(text(e));
    } catch (const TypeError& e) {
      throw TypeError(text(e));
    }
  }

  Symbol& symbol_;
  Met captured_;
};

std::vector<Tensor> defer(Ref<Symbol> symbol, std::vector<OutputInfo> results) {
  if (running_graph()) return run_on(*symbol, operand_values(*symbol, *environment));
  symbol->set_outputs(std::move(results));
  std::vector<Tensor> tensors;
  for (std::uint32_t i = 0; i < symbol->outputs().size(); ++i) tensors.push_back(symbolic_tensor(symbol, i));
  return tensors;
}

std::vector<Tensor> defer(Ref<Symbol> symbol) {
  if (!running_graph()) ShapeInference(*symbol).run();
  std::vector<OutputInfo> results(symbol->outputs().begin(), symbol->outputs().end());
  return defer(std::move(symbol), std::move(results));
}

Tensor make_placeholder(const Shape& shape, DType dtype, const std::string& name) {
  for (const std::int64_t n : shape)
    if (n < 0 && n != None)
      fail("[placeholder] extents must be None or at least 0: received shape=", shape);
  check_extents("placeholder", with_unknown(shape, 1), dtype.size());
  auto symbol = Ref<Symbol>::adopt(new Placeholder(name));
  symbol->set_outputs({{shape, dtype}});
  return symbolic_tensor(symbol, 0);
}

}  // namespace ktape
