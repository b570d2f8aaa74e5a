#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <ktape/interactive/clang/cell_code.hpp>
#include <ktape/interactive/clang/loop_gates.hpp>
#include <ktape/interactive/clang/session_objects.hpp>

#include <algorithm>

namespace ktape::interactive {
namespace {

/// Removes the module's list of functions to run on loading, and returns them in order.
std::vector<llvm::Function*> take_constructors(llvm::Module& module) {
  std::vector<llvm::Function*> functions;
  llvm::GlobalVariable* list = module.getGlobalVariable("llvm.global_ctors");
  if (!list) return functions;
  for (const llvm::Use& entry : llvm::cast<llvm::ConstantArray>(list->getInitializer())->operands())
    functions.push_back(llvm::cast<llvm::Function>(llvm::cast<llvm::ConstantStruct>(entry)->getOperand(1)));
  list->eraseFromParent();
  return functions;
}

/// Returns the functions that `function` calls if its body holds nothing but calls without arguments, else
/// `function` itself.
std::vector<llvm::Function*> only_calls(llvm::Function& function) {
  std::vector<llvm::Function*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (llvm::isa<llvm::ReturnInst>(instruction)) continue;
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    if (!callee || callee->isDeclaration() || callee->arg_size() > 0) return {&function};
    calls.push_back(callee);
  }
  return calls;
}

void collect_globals(const llvm::Value* value, llvm::SmallPtrSetImpl<const llvm::GlobalVariable*>& out) {
  if (const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(value)) out.insert(global);
  else if (const auto* constant = llvm::dyn_cast<llvm::ConstantExpr>(value))
    for (const llvm::Use& use : constant->operands()) collect_globals(use, out);
}

llvm::SmallPtrSet<const llvm::GlobalVariable*, 8> globals_used(llvm::Function& function) {
  llvm::SmallPtrSet<const llvm::GlobalVariable*, 8> used;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    for (const llvm::Use& operand : instruction.operands()) collect_globals(operand, used);
  return used;
}

bool makes_variables(const llvm::Function& function) {
  return function.getName().starts_with("__cxx_global_var_init");
}

}  // namespace

CellCode::CellCode() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto host = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  machine_ = llvm::cantFail(host.createTargetMachine());
}
CellCode::~CellCode() = default;

std::vector<Step> CellCode::prepare(llvm::Module& module, int cell) {
  std::vector<llvm::Function*> functions;
  for (llvm::Function* constructor : take_constructors(module))
    for (llvm::Function* call : only_calls(*constructor))
      if (!llvm::is_contained(functions, call)) functions.push_back(call);

  share_internals(module);
  rename_replaced(module, cell);
  std::vector<Step> steps;
  llvm::SmallPtrSet<const llvm::GlobalVariable*, 8> made;
  for (llvm::Function* function : functions) {
    Step step{"ktape.cell" + std::to_string(cell) + '.' + std::to_string(steps.size()),
              !makes_variables(*function)};
    if (!step.is_statement) {
      const auto used = globals_used(*function);
      // A variable that an earlier cell initialized must not be initialized again.
      if (llvm::any_of(used, [this](const auto* global) { return known_.contains(global->getName()); }) &&
          llvm::none_of(used, [this](const auto* global) {
            return !global->isDeclaration() && !global->hasLocalLinkage() &&
                   !known_.contains(global->getName());
          }))
        continue;
      for (const llvm::GlobalVariable* global : used)
        if (!global->isDeclaration() && made.insert(global).second)
          step.initializes.push_back(global->getName().str());
    }
    function->setLinkage(llvm::GlobalValue::ExternalLinkage);
    function->setName(step.symbol);
    function->setComdat(nullptr);
    steps.push_back(std::move(step));
  }
  if (llvm::Function* at_exit = module.getFunction("__cxa_atexit")) at_exit->setName(register_object);
  remove_known_definitions(module);
  optimize(module);
  add_loop_gates(module);

  defined_.clear();
  any_.clear();
  for (const llvm::GlobalValue& value : module.global_values()) {
    if (value.isDeclaration() || value.hasLocalLinkage() || value.hasAvailableExternallyLinkage() ||
        value.hasAppendingLinkage())
      continue;
    if (any_.empty() && !llvm::isa<llvm::GlobalAlias>(value)) any_ = value.getName().str();
    defined_.push_back(value.getName().str());
  }
  return steps;
}

void CellCode::keep() {
  for (const std::string& name : defined_) known_.insert(name);
  for (const auto& [name, symbol] : latest_of_module_) latest_[name] = symbol;
}

std::string CellCode::latest(const std::string& name) const {
  const auto found = latest_.find(name);
  return found == latest_.end() ? name : found->second;
}

// Renames the earlier definitions of unmangled names (main, extern "C") that the cell replaces. Mangled names
// contain the number of their cell and never collide.
void CellCode::rename_replaced(llvm::Module& module, int cell) {
  latest_of_module_.clear();
  for (llvm::GlobalObject& object : module.global_objects()) {
    const std::string name = object.getName().str();
    if (name.starts_with("_Z") || !known_.contains(name)) continue;
    if (object.isDeclaration()) {
      object.setName(latest(name));
    } else if (object.hasExternalLinkage()) {
      latest_of_module_[name] = name + ".cell" + std::to_string(cell);
      object.setName(latest_of_module_[name]);
    }
  }
}

// Gives static and const names external linkage: clang compiles each cell as a separate file, but later cells
// must reach these names.
void CellCode::share_internals(llvm::Module& module) {
  for (llvm::GlobalValue& value : module.global_values()) {
    if (!value.hasLocalLinkage() || value.isDeclaration() || !value.getName().starts_with("_Z")) continue;
    value.setLinkage(llvm::GlobalValue::ExternalLinkage);
    if (auto* object = llvm::dyn_cast<llvm::GlobalObject>(&value)) object->setComdat(nullptr);
    if (!known_.contains(value.getName())) continue;
    if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&value)) variable->setInitializer(nullptr);
    else if (auto* function = llvm::dyn_cast<llvm::Function>(&value)) function->deleteBody();
  }
}

// Stops the module from defining inline functions and template instances that an earlier cell compiled: their
// code is available for inlining only.
void CellCode::remove_known_definitions(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || !function.isDiscardableIfUnused() || function.hasLocalLinkage() ||
        !known_.contains(function.getName()))
      continue;
    function.setLinkage(llvm::GlobalValue::AvailableExternallyLinkage);
    function.setComdat(nullptr);
  }
}

void CellCode::optimize(llvm::Module& module) {
  // The crash guard unwinds the stack at any instruction. clang gives no table to the functions of statements.
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) function.setUWTableKind(llvm::UWTableKind::Async);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = true;
  llvm::PassBuilder builder(machine_.get(), tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

}  // namespace ktape::interactive
