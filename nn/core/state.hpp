#pragma once
#include <ktape/autograd/variable.hpp>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ktape::nn {

/// What changes while a training goes on, so that it can be written down and taken up again in another
/// program: numbers, text and tensors under names, all of them kept as tensors. A callback, a metric or a
/// layer names its own once, for both directions:
///
///     struct PatienceImpl : nn::CallbackImpl {
///       int waited = 0;
///       double best = 0;
///       void state(nn::State& state) override {
///         state("waited", waited);
///         state("best", best);
///       }
///     };
class State {
 public:
  using Entry = std::pair<std::string, Tensor>;

  /// One that keeps what it is shown.
  State() = default;
  /// One that sets what it is shown to what has been kept.
  explicit State(std::vector<Entry> entries) : entries_(std::move(entries)), sets_(true) {}

  /// Whether what is shown is set, and not kept.
  bool sets() const { return sets_; }
  /// What has been kept.
  const std::vector<Entry>& entries() const { return entries_; }

  /// Keeps the value, or sets it. Setting throws ValueError for a name that is not there, and for what has
  /// another dtype or shape than the value can have.
  void operator()(const std::string& name, bool& value);
  void operator()(const std::string& name, int& value);
  void operator()(const std::string& name, std::int64_t& value);
  void operator()(const std::string& name, std::uint64_t& value);
  void operator()(const std::string& name, double& value);
  void operator()(const std::string& name, std::string& value);
  void operator()(const std::string& name, std::vector<int>& values);
  void operator()(const std::string& name, std::vector<std::int64_t>& values);
  /// With `size` there must be so many.
  void operator()(const std::string& name, std::vector<double>& values, std::optional<std::size_t> size = {});
  void operator()(const std::string& name, std::vector<std::string>& values);
  /// An undefined tensor stays undefined.
  void operator()(const std::string& name, Tensor& value);
  void operator()(const std::string& name, std::vector<Tensor>& values);
  /// The variable takes on the value.
  void operator()(const std::string& name, const Variable& variable);

  /// A number of values of their own names; set, it is at most that of all that has been kept.
  void count(const std::string& name, std::size_t& value);

  /// Calls f with the names in it behind "name/".
  template <class F>
  void part(const std::string& name, F&& f) {
    const std::size_t outer = prefix_.size();
    prefix_ += name + '/';
    f();
    prefix_.resize(outer);
  }
  /// Whether something is kept behind "name/".
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

}  // namespace ktape::nn
