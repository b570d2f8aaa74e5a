#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <ktape/interactive/clang/session_code.hpp>
#include <ktape/interactive/crash_guard/stopped_thread.hpp>

#include <map>
#include <stdexcept>
#include <vector>

namespace ktape::interactive {
namespace {

LLVM_ENABLE_BITMASK_ENUMS_IN_NAMESPACE();

using llvm::orc::MaterializationResponsibility;
using llvm::orc::ResourceKey;

class CodeReporter : public llvm::orc::ObjectLinkingLayer::Plugin {
 public:
  void modifyPassConfig(MaterializationResponsibility& linked, llvm::jitlink::LinkGraph&,
                        llvm::jitlink::PassConfiguration& passes) override {
    passes.PostAllocationPasses.push_back([this, &linked](llvm::jitlink::LinkGraph& graph) {
      for (llvm::jitlink::Section& section : graph.sections())
        if ((section.getMemProt() & llvm::orc::MemProt::Exec) != llvm::orc::MemProt::None) {
          const llvm::jitlink::SectionRange range(section);
          if (!range.empty())
            linking_[&linked].push_back({range.getStart().getValue(), range.getEnd().getValue()});
        }
      return llvm::Error::success();
    });
  }

  llvm::Error notifyEmitted(MaterializationResponsibility& linked) override {
    const Ranges ranges = take(linked);
    for (const Range& range : ranges) add_session_code(range.begin, range.end);
    return linked.withResourceKeyDo([&](ResourceKey key) {
      Ranges& loaded = loaded_[key];
      loaded.insert(loaded.end(), ranges.begin(), ranges.end());
    });
  }

  llvm::Error notifyFailed(MaterializationResponsibility& linked) override {
    take(linked);
    return llvm::Error::success();
  }

  llvm::Error notifyRemovingResources(llvm::orc::JITDylib&, ResourceKey key) override {
    for (const Range& range : loaded_[key]) remove_session_code(range.begin);
    loaded_.erase(key);
    return llvm::Error::success();
  }

  void notifyTransferringResources(llvm::orc::JITDylib&, ResourceKey to, ResourceKey from) override {
    Ranges& target = loaded_[to];
    const Ranges& source = loaded_[from];
    target.insert(target.end(), source.begin(), source.end());
    loaded_.erase(from);
  }

 private:
  struct Range {
    std::uintptr_t begin, end;
  };
  using Ranges = std::vector<Range>;

  Ranges take(MaterializationResponsibility& linked) {
    Ranges ranges = std::move(linking_[&linked]);
    linking_.erase(&linked);
    return ranges;
  }

  std::map<MaterializationResponsibility*, Ranges> linking_;
  std::map<ResourceKey, Ranges> loaded_;
};

}  // namespace

void report_code(llvm::orc::LLJIT& jit) {
  auto* linker = llvm::dyn_cast<llvm::orc::ObjectLinkingLayer>(&jit.getObjLinkingLayer());
  if (!linker) throw std::runtime_error("the session's code cannot be linked by JITLink");
  linker->addPlugin(std::make_shared<CodeReporter>());
}

}  // namespace ktape::interactive
