#include <ktape/autograd/environment.hpp>

#include <utility>

namespace ktape {
namespace {
thread_local Environment* environment = nullptr;
thread_local bool inferring = false;
}  // namespace

Environment* Environment::current() { return environment; }
bool inferring_shapes() { return inferring; }

Environment::Environment() : outer_(environment) { environment = this; }
Environment::~Environment() { environment = outer_; }

InferenceScope::InferenceScope(bool on)
    : before_(std::exchange(inferring, on)), outer_(std::exchange(environment, nullptr)) {}
InferenceScope::~InferenceScope() { inferring = before_, environment = outer_; }

}  // namespace ktape
