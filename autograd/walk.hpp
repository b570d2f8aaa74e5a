#pragma once
#include <ktape/autograd/node.hpp>

#include <vector>

namespace ktape {

/// One walk backwards over the graph behind some losses. Internal: `gradients` is the entry.
///
/// Nodes are visited in descending order of their sequence numbers, so that every gradient is complete when
/// its node's turn comes; a heap of the frontier orders them, without recursion.
class BackwardWalk final : public Grads {
 public:
  explicit BackwardWalk(const std::vector<Tensor>& losses);
  ~BackwardWalk() override;
  BackwardWalk(const BackwardWalk&) = delete;

  /// Returns the gradient for each target; undefined where the losses do not depend on it.
  std::vector<Tensor> run(const std::vector<Tensor>& losses, const std::vector<Tensor>& seeds,
                          const std::vector<Tensor>& targets);

  bool wants(int input) const override;
  const Tensor& output(int index) const override;
  void add(int input, Tensor gradient) override;

 private:
  struct Visit {
    Node* node;
    std::uint32_t outer_walk, outer_slot;  // restored at the end: walks nest when a closure differentiates
    bool needed = false, target = false;
    Tensor gradient;           // of output 0
    std::vector<Tensor> more;  // of the others
    Tensor& of(std::uint32_t output);
    bool arrived() const { return gradient.defined() || !more.empty(); }
  };

  std::uint32_t discover(Node* node);
  void collect();
  void mark_needed(const std::vector<Tensor>& targets);
  Visit* visit_of(const Tensor& tensor);
  void accumulate(Visit& visit, std::uint32_t output, Tensor gradient, const char* from);

  std::uint32_t walk_;
  std::vector<Visit> visits_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> frontier_;  // a heap of (sequence, slot)
  std::vector<std::uint32_t> order_;                               // slots, latest node first
  Visit* current_ = nullptr;
};

}  // namespace ktape
