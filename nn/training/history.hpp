#pragma once
#include <ktape/nn/training/callback.hpp>

namespace ktape::nn {

/// The logs of every epoch of a training; the result of `fit`.
///
///     nn::History history = model.fit(x, y, {.epochs = 8});
///     history["val_loss"].back();
///
/// For example:
///
///     Tensor x = K::random_normal({64, 2}), y = K::sum(x, 1, true);
///     nn::Sequential model({nn::Dense(1, {.kernel_initializer = "zeros"})});
///     model.compile({.optimizer = nn::SGD(0.1), .loss = "mse"});
///     nn::History history = model.fit(x, y, {.epochs = 20, .verbose = 0});
///     std::cout << history["loss"].size() << " epochs, smaller loss: "
///               << (history["loss"].back() < history["loss"].front());
class History : public Callback {
 public:
  History();

  /// Returns the numbers with a name, one for each epoch that reported the name. Throws ValueError, with the
  /// nearest known names, for an unknown name.
  const std::vector<double>& operator[](const std::string& name) const;
  template <std::integral T>
  const std::vector<double>& operator[](T) const = delete;  // 0 would be a null string
  const std::vector<double>& at(const std::string& name) const { return (*this)[name]; }
  bool contains(const std::string& name) const;
  std::size_t count(const std::string& name) const { return contains(name) ? 1 : 0; }
  std::vector<std::string> names() const;
  /// Returns the epochs, which count from 0.
  const std::vector<int>& epoch() const;
};

}  // namespace ktape::nn
