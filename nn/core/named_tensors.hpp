#pragma once
#include <ktape/autograd/tensor.hpp>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ktape::nn {

/// Tensors in order, which may have names: what a model is given, a batch, an element of a dataset. A vector
/// of tensors is one, and it is a vector of tensors.
///
///     model.fit({{"title", titles}, {"body", bodies}}, {{"priority", priorities}});
///     Tensor title = batch.x["title"], first = batch.x[0];
///
/// What a function of vectors appends has no name.
class NamedTensors : public std::vector<Tensor> {
 public:
  using Named = std::pair<std::string, TensorArgument>;

  NamedTensors() = default;
  NamedTensors(std::initializer_list<TensorArgument> tensors)
      : std::vector<Tensor>(tensors.begin(), tensors.end()) {}
  NamedTensors(std::vector<Tensor> tensors) : std::vector<Tensor>(std::move(tensors)) {}
  /// A tensor, a variable, or a list of them.
  template <std::convertible_to<TensorList> T>
  requires(!std::derived_from<T, std::vector<Tensor>>) NamedTensors(const T& tensors)
      : std::vector<Tensor>(TensorList(tensors).vector()) {}
  /// Throws ValueError, as the others do, for a name that stands twice.
  NamedTensors(std::initializer_list<Named> tensors);
  NamedTensors(const std::map<std::string, Tensor>& tensors);
  /// The tensors with a name for each; an empty one for none.
  NamedTensors(std::vector<Tensor> tensors, std::vector<std::string> names);

  using std::vector<Tensor>::operator[];
  /// The tensor of a name. Throws ValueError, with the nearest names, where there is none.
  const Tensor& operator[](const std::string& name) const { return (*this)[place_of(name)]; }
  Tensor& operator[](const std::string& name) { return (*this)[place_of(name)]; }
  bool contains(const std::string& name) const;
  /// Gives a name a tensor, in the place of the one that has the name or behind all others.
  void set(const std::string& name, const Tensor& tensor);

  /// Whether any of them has a name.
  bool named() const;
  /// The name of each; empty for those without.
  std::vector<std::string> names() const;
  bool has_names_of(const NamedTensors& others) const {
    return layout_ == others.layout_ || names() == others.names();
  }
  /// Gives the tensors the names, and the parts, that others have at the same places.
  void take_names(const NamedTensors& others) { layout_ = others.layout_; }

  /// Tensors of several kinds: inputs, targets and weights. Names may stand once in each part.
  static NamedTensors of_parts(const std::vector<NamedTensors>& parts);
  /// How many tensors each part has; none where they are not in parts.
  std::vector<std::size_t> parts() const;
  /// The tensors of a part.
  NamedTensors part(std::size_t number) const;

  // What moves tensors to other places leaves them without names.
  template <class... Arguments>
  auto insert(Arguments&&... arguments) {
    layout_.reset();
    return std::vector<Tensor>::insert(std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  auto erase(Arguments&&... arguments) {
    layout_.reset();
    return std::vector<Tensor>::erase(std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  void assign(Arguments&&... arguments) {
    layout_.reset();
    std::vector<Tensor>::assign(std::forward<Arguments>(arguments)...);
  }
  void clear() {
    layout_.reset();
    std::vector<Tensor>::clear();
  }

 private:
  struct Layout {
    std::vector<std::string> names;
    std::vector<std::size_t> parts = {};
  };
  std::size_t place_of(const std::string& name) const;

  std::shared_ptr<const Layout> layout_;  ///< null where there are neither names nor parts
};

}  // namespace ktape::nn
