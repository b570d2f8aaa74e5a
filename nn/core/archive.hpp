#pragma once
#include <ktape/autograd/variable.hpp>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ktape::nn {

/// A recorder of the values that change during training, so that another program can resume the training. The
/// values are numbers, text and tensors under names, all of them stored as tensors. A callback, a metric or a
/// layer names its values in a single function, which serves for saving and for loading:
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

  /// One that keeps what it is shown.
  Archive() = default;
  /// One that sets what it is shown to what has been kept.
  explicit Archive(std::vector<Entry> entries) : entries_(std::move(entries)), sets_(true) {}

  /// Returns true if this State sets values (loading), false if this State records values (saving).
  bool sets() const { return sets_; }
  /// Returns the recorded entries.
  const std::vector<Entry>& entries() const { return entries_; }

  /// Records the value under the name, or sets the value. Setting throws ValueError if no entry has the name,
  /// and if the entry's dtype or shape does not fit the value.
  void operator()(const std::string& name, bool& value);
  void operator()(const std::string& name, int& value);
  void operator()(const std::string& name, std::int64_t& value);
  void operator()(const std::string& name, std::uint64_t& value);
  void operator()(const std::string& name, double& value);
  void operator()(const std::string& name, std::string& value);
  void operator()(const std::string& name, std::vector<int>& values);
  void operator()(const std::string& name, std::vector<std::int64_t>& values);
  /// Records or sets a list of numbers. With `size`, setting throws ValueError unless the entry has `size`
  /// numbers.
  void operator()(const std::string& name, std::vector<double>& values, std::optional<std::size_t> size = {});
  void operator()(const std::string& name, std::vector<std::string>& values);
  /// Records or sets a tensor. An undefined tensor makes no entry, and a missing entry sets an undefined
  /// tensor.
  void operator()(const std::string& name, Tensor& value);
  void operator()(const std::string& name, std::vector<Tensor>& values);
  /// Records or sets the value of a variable.
  void operator()(const std::string& name, const Variable& variable);

  /// Records or sets the number of values that stand under names derived from `name`. Setting throws
  /// ValueError for a number larger than the number of all entries.
  void count(const std::string& name, std::size_t& value);

  /// Calls f; during the call, all names have the prefix "name/".
  template <class F>
  void part(const std::string& name, F&& f) {
    const std::size_t outer = prefix_.size();
    prefix_ += name + '/';
    f();
    prefix_.resize(outer);
  }
  /// Returns true if an entry has the prefix "name/".
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
