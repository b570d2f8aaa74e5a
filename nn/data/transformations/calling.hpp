#pragma once
#include <ktape/nn/data/transformations/transformation.hpp>

/// Datasets that call functions of the user. Internal: sources only.
namespace ktape::data {

/// A function of the user, whose random numbers follow from a key and the number of the call.
template <class F>
class Caller {
 public:
  Caller(std::shared_ptr<const F> function, std::uint64_t key) : function_(std::move(function)), key_(key) {}
  auto operator()(const auto&... arguments) {
    return called(*function_, derived_key(key_, count_++), arguments...);
  }

 private:
  std::shared_ptr<const F> function_;
  std::uint64_t key_, count_ = 0;
};

template <class F>
class CallingDataset : public Transformation {
 public:
  CallingDataset(const Dataset& input, F function)
      : Transformation(input),
        function_(std::make_shared<const F>(std::move(function))),
        key_(transformation_key(*input_)) {}

 protected:
  std::uint64_t key(std::uint64_t iteration) const { return derived_key(key_, iteration); }
  Caller<F> caller(std::uint64_t iteration) const { return {function_, key(iteration)}; }

  std::shared_ptr<const F> function_;

 private:
  std::uint64_t key_;
};

template <class F>
void expect_callable(const char* op, const F& function) {
  if (!function) fail("[Dataset.", op, "] the function must be a callable: received none");
}

}  // namespace ktape::data
