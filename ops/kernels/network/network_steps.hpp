#pragma once
#include <ktape/ops/kernels/network/arena.hpp>
#include <ktape/ops/kernels/network/network.hpp>

#include <dnnl.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

/// The steps of a network as primitives of oneDNN. For program.cpp only.
namespace ktape::kernels {

/// Returns the processor as an engine of oneDNN.
const dnnl::engine& processor();

/// The memory of an argument of a primitive.
struct ArgumentPlace {
  enum class In { Arena, Input, Output, Weights };
  In in = In::Arena;
  std::size_t index = 0;  ///< of a block, an input, an output, or a packed weight
  dnnl::memory::desc layout;
};

struct NetworkStep {
  dnnl::primitive primitive;
  std::vector<std::pair<int, ArgumentPlace>> arguments;
  std::string what, implementation;
  std::size_t clear_bytes = 0;  ///< bytes of the destination that are filled with zeros first
};

/// A weight in the layout of a primitive.
struct PackedWeight {
  enum class Part { Kernel, Factors, Offsets };
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

/// Makes the steps for the number of threads that OpenMP gives this thread now. Returns none if oneDNN has no fast
/// primitive for a node.
std::optional<NetworkSteps> make_steps(const Network& network);

}  // namespace ktape::kernels
