#pragma once
#include <ktape/autograd/variable.hpp>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ktape::nn {

/// The state of a training, from which another program can resume: numbers, texts and tensors with names,
/// stored as tensors. An archive either stores the values that it is called with, or sets them to stored
/// values. A callback, a metric or a layer names its values in one function, for both directions:
///
///     struct PatienceImpl : nn::CallbackImpl {
///       int waited = 0;
///       double best = 0;
///       void state(nn::Archive& state) override {
///         state("waited", waited);
///         state("best", best);
///       }
///     };
class Archive {
 public:
  using Entry = std::pair<std::string, Tensor>;

  /// Makes an archive that stores values (saving).
  Archive() = default;
  /// Makes an archive that sets values to the stored entries (loading).
  explicit Archive(std::vector<Entry> entries) : entries_(std::move(entries)), sets_(true) {}

  /// Returns whether calls set values; otherwise they store values.
  bool sets() const { return sets_; }
  /// Returns the stored values.
  const std::vector<Entry>& entries() const { return entries_; }

  /// Stores or sets the value. Setting throws ValueError for an unknown name, and for a stored value whose
  /// dtype or shape does not fit.
  void operator()(const std::string& name, bool& value);
  void operator()(const std::string& name, int& value);
  void operator()(const std::string& name, std::int64_t& value);
  void operator()(const std::string& name, std::uint64_t& value);
  void operator()(const std::string& name, double& value);
  void operator()(const std::string& name, std::string& value);
  void operator()(const std::string& name, std::vector<int>& values);
  void operator()(const std::string& name, std::vector<std::int64_t>& values);
  /// Stores or sets a list of numbers. With `size`, setting throws ValueError unless the entry has `size`
  /// numbers.
  void operator()(const std::string& name, std::vector<double>& values, std::optional<std::size_t> size = {});
  void operator()(const std::string& name, std::vector<std::string>& values);
  /// Stores or sets a tensor. An undefined tensor makes no entry, and a missing entry sets an undefined
  /// tensor.
  void operator()(const std::string& name, Tensor& value);
  void operator()(const std::string& name, std::vector<Tensor>& values);
  /// Stores the variable's value, or assigns the stored value.
  void operator()(const std::string& name, const Variable& variable);

  /// Stores or sets the number of values that are stored under separate names. Setting throws ValueError for
  /// a number larger than the number of all entries.
  void count(const std::string& name, std::size_t& value);

  /// Calls f; names that f uses get the prefix "name/".
  template <class F>
  void part(const std::string& name, F&& f) {
    const std::size_t outer = prefix_.size();
    prefix_ += name + '/';
    f();
    prefix_.resize(outer);
  }
  /// Returns whether a stored name begins with "name/".
  bool has_part(const std::string& name) const;

 private:
  template <class Kept, class T>
  void number(const std::string& name, T& value);
  template <class Kept, class T>
  void list(const std::string& name, std::vector<T>& values);
  template <class T>
  std::span<const T> numbers(const std::string& name, int ndim) const;
  void keep(const std::string& name, const Tensor& value);
  const Tensor* find(const std::string& name) const;
  const Tensor& at(const std::string& name) const;

  std::vector<Entry> entries_;
  std::string prefix_;
  bool sets_ = false;
};

/// The name of Archive until version 0.1.
using State [[deprecated("State is called Archive")]] = Archive;

}  // namespace ktape::nn
