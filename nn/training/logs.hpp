#pragma once
#include <ktape/autograd/tensor.hpp>

#include <concepts>
#include <string>
#include <utility>
#include <vector>

namespace ktape::nn {

/// The results of a step or an epoch, such as losses and metrics: numbers with names, in order.
///
///     return nn::Logs{{"loss", loss}, {"penalty", penalty}};       // tensors of one element, or numbers
///
/// For example:
///
///     nn::Sequential model({nn::Dense(1, {.kernel_initializer = "ones"})});
///     model.compile({.loss = "mse"});
///     nn::Logs logs = model.evaluate(K::ones({4, 2}), K::ones({4, 1}), {.verbose = 0});
///     std::cout
///         << logs << " "
///         << model.predict(K::ones({4, 2}), {.batch_size = 2, .verbose = 0}).shape();
class Logs {
 public:
  class Number {
   public:
    template <Arithmetic T>
    Number(T value) : value_(static_cast<double>(value)) {}
    Number(const Tensor& value) : value_(value.item<double>()) {}
    operator double() const { return value_; }

   private:
    double value_;
  };
  using Entry = std::pair<std::string, double>;

  Logs() = default;
  Logs(std::initializer_list<std::pair<std::string, Number>> entries);

  bool contains(const std::string& name) const { return find(name) != nullptr; }
  std::size_t count(const std::string& name) const { return contains(name) ? 1 : 0; }
  /// Returns the number with a name. Throws ValueError, with the nearest known names, for an unknown name.
  double at(const std::string& name) const;
  double operator[](const std::string& name) const { return at(name); }
  template <std::integral T>
  double operator[](T) const = delete;  // 0 would be a null string
  /// Sets the number of a name. A known name keeps its position; a new name is appended.
  void set(const std::string& name, double value);
  /// Sets all numbers of other logs, with a prefix before each name.
  void update(const Logs& other, const std::string& prefix = {});

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  friend bool operator==(const Logs& a, const Logs& b) = default;

 private:
  const double* find(const std::string& name) const;
  std::vector<Entry> entries_;
};

std::ostream& operator<<(std::ostream& out, const Logs& logs);

}  // namespace ktape::nn
