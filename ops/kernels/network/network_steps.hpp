#pragma once
#include <ktape/ops/kernels/network/arena.hpp>
#include <ktape/ops/kernels/network/network.hpp>

#include <dnnl.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

/// The steps of a network: primitives of oneDNN, and kernels of ktape's own. For program.cpp only.
namespace ktape::kernels {

/// Returns the processor as an engine of oneDNN.
const dnnl::engine& processor();

/// The memory of an argument of a step.
struct ArgumentPlace {
  enum class In { Nowhere, Arena, Input, Output, Weights };
  In in = In::Nowhere;
  std::size_t index = 0;  ///< of a block, an input, an output, or a packed weight
  dnnl::memory::desc layout;
};

/// The arguments of a kernel of ktape's own.
struct KernelArguments {
  std::vector<ArgumentPlace> inputs;
  ArgumentPlace packed, scratch, output;
};

struct NetworkStep {
  dnnl::primitive primitive = {};  ///< undefined for a kernel of ktape's own
  std::vector<std::pair<int, ArgumentPlace>> arguments = {};
  std::string what, implementation;
  std::size_t node = 0;         ///< the node that the step helps to compute
  bool one_thread = false;      ///< whether the primitive was made for one thread, and runs on one
  std::size_t clear_bytes = 0;  ///< bytes of the destination that are filled with zeros first
  std::shared_ptr<const NodeKernel> own = {};
  KernelArguments own_arguments = {};
};

/// A weight in the layout of a step. The part InPlace is the kernel in the memory of the variable, not a copy.
struct PackedWeight {
  enum class Part { Kernel, InPlace, Factors, Offsets, Own };
  Part part;
  std::size_t node;
  dnnl::memory::desc plain, packed;
};

/// A network with its steps, and the memory that they need.
struct NetworkSteps {
  Network network;
  std::vector<NetworkStep> steps;
  std::vector<ArenaBlock> blocks;  ///< of the arena
  std::vector<PackedWeight> weights;
  std::size_t inputs = 0, arena_bytes = 0;
};

/// Makes the steps for the number of threads that OpenMP gives this thread now. Returns none if oneDNN has no
/// fast primitive for a node.
std::optional<NetworkSteps> make_steps(const Network& network);

}  // namespace ktape::kernels
