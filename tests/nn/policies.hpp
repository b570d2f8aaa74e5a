#pragma once
#include <ktape/nn/core/dtype_policy.hpp>

#include <string>
#include <vector>

/// The mixed policies with which tests run.
inline const std::vector<std::string> mixed_policies{"mixed_float16", "mixed_bfloat16"};

/// Returns the compute dtype of a policy.
inline ktape::DType computed_in(const std::string& policy) {
  return ktape::nn::DTypePolicy(policy).compute_dtype();
}

/// A scope in which new layers have a policy.
struct PolicyScope {
  explicit PolicyScope(const ktape::nn::DTypePolicy& policy) { ktape::nn::set_dtype_policy(policy); }
  ~PolicyScope() { ktape::nn::set_dtype_policy(ktape::None); }
  PolicyScope(const PolicyScope&) = delete;
  PolicyScope& operator=(const PolicyScope&) = delete;
};
