#include <ktape/ops/control/fixed_phase.hpp>

#include <utility>

namespace ktape::backend {
namespace {
thread_local bool fixed = false;
}

FixedPhaseScope::FixedPhaseScope(int phase) : phase_(phase), before_(std::exchange(fixed, true)) {}
FixedPhaseScope::~FixedPhaseScope() { fixed = before_; }
bool phase_is_fixed() { return fixed; }

}  // namespace ktape::backend
