#pragma once
#include <ktape/ops/kernels/network/passes/passes.hpp>

/// Small networks for the tests of the passes.
namespace {

using ktape::kernels::Network, ktape::kernels::NetworkNode, ktape::kernels::ElementFunction;
using Kind = NetworkNode::Kind;

inline NetworkNode node(Kind kind, std::vector<int> inputs = {}) {
  NetworkNode made;
  made.kind = kind, made.inputs = std::move(inputs), made.shape = {1, 4, 4, 8};
  if (kind == Kind::Normalization) made.normalizers = {{0, 1, 2, 3, 1e-3}};
  if (kind == Kind::Function) made.functions = {{ElementFunction::Kind::Relu}};
  return made;
}

inline std::vector<Kind> kinds(const Network& network) {
  std::vector<Kind> list;
  for (const NetworkNode& each : network.nodes) list.push_back(each.kind);
  return list;
}

}  // namespace
