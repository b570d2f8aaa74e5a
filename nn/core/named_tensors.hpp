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

/// A list of tensors that may have names: the inputs of a model, a batch, an element of a dataset. A vector
/// of tensors converts to NamedTensors, and NamedTensors are a vector of tensors.
///
///     model.fit({{"title", titles}, {"body", bodies}}, {{"priority", priorities}});
///     Tensor title = batch.x["title"], first = batch.x[0];
///
/// A tensor that a member of std::vector appends, such as push_back, has no name.
///
///     nn::NamedTensors tensors{{"title", K::ones({2})}, {"body", K::zeros({3})}};
///     std::cout << tensors["body"].shape();
class NamedTensors : public std::vector<Tensor> {
 public:
  using Named = std::pair<std::string, TensorArgument>;

  NamedTensors() = default;
  NamedTensors(std::initializer_list<TensorArgument> tensors)
      : std::vector<Tensor>(tensors.begin(), tensors.end()) {}
  NamedTensors(std::vector<Tensor> tensors) : std::vector<Tensor>(std::move(tensors)) {}
  /// Makes a list without names from a tensor, a variable, or a list of tensors or variables.
  template <std::convertible_to<TensorList> T>
  requires(!std::derived_from<T, std::vector<Tensor>>) NamedTensors(const T& tensors)
      : std::vector<Tensor>(TensorList(tensors).vector()) {}
  /// Makes a list of named tensors. All constructors throw ValueError for a name that occurs twice.
  NamedTensors(std::initializer_list<Named> tensors);
  NamedTensors(const std::map<std::string, Tensor>& tensors);
  /// Makes a list of tensors with a name for each; an empty string stands for no name.
  NamedTensors(std::vector<Tensor> tensors, std::vector<std::string> names);

  using std::vector<Tensor>::operator[];
  /// Returns the tensor with a name. Throws ValueError, with the nearest known names, for an unknown name.
  const Tensor& operator[](const std::string& name) const { return (*this)[place_of(name)]; }
  Tensor& operator[](const std::string& name) { return (*this)[place_of(name)]; }
  bool contains(const std::string& name) const;
  /// Replaces the tensor of a name, or appends name and tensor.
  void set(const std::string& name, const Tensor& tensor);

  /// Returns true if at least one tensor has a name.
  bool named() const;
  /// Returns the name of each tensor; an empty string for a tensor without a name.
  std::vector<std::string> names() const;
  bool has_names_of(const NamedTensors& others) const {
    return layout_ == others.layout_ || names() == others.names();
  }
  /// Gives the tensors the names, and the division into parts, of other tensors.
  void take_names(const NamedTensors& others) { layout_ = others.layout_; }

  /// Joins lists of tensors, such as inputs, targets and weights, into a list in parts. Names must differ
  /// within each part only.
  static NamedTensors of_parts(const std::vector<NamedTensors>& parts);
  /// Returns the number of tensors in each part; an empty vector for a list without parts.
  std::vector<std::size_t> parts() const;
  /// Returns the tensors of a part.
  NamedTensors part(std::size_t number) const;

  // Functions that move tensors to other places drop all names and parts.
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

  std::shared_ptr<const Layout> layout_;  ///< null if there are neither names nor parts
};

}  // namespace ktape::nn
