#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/nn/optimizers/internal/row_gradients.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/optimizer_update.hpp>

#include <bit>

namespace ktape::nn {
namespace K = backend;
namespace {

Tensor zeros(std::int64_t rows, Shape shape, DType dtype) {
  shape[0] = rows;
  return K::full(shape, 0, dtype);
}

/// A hash table that numbers rows in the order of their first occurrence: open addressing, at most half full.
class Distinct {
 public:
  explicit Distinct(std::size_t most) : places_(std::bit_ceil(2 * most + 1), -1) {}

  std::int64_t number_of(std::int64_t row) {
    const std::size_t mask = places_.size() - 1;
    std::size_t place = static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15 >> 32 & mask;
    while (places_[place] >= 0 && rows_[static_cast<std::size_t>(places_[place])] != row)
      place = (place + 1) & mask;
    if (places_[place] < 0) {
      places_[place] = static_cast<std::int64_t>(rows_.size());
      rows_.push_back(row);
    }
    return places_[place];
  }
  const std::vector<std::int64_t>& rows() const { return rows_; }

 private:
  std::vector<std::int64_t> places_, rows_;
};

/// The sum of the gradients of all lookups of a variable.
class Lookups {
 public:
  void add(const LookupGradient& lookup) {
    all_.push_back(&lookup);
    count_ += lookup.rows.size();
  }

  RowGradient sum(const Variable& of, const Tensor& rest) const {
    if (all_.empty()) return {rest, {}};
    const Shape& shape = of.shape();
    if (rest.defined() || count_ >= shape[0]) {
      const Tensor whole = rest.defined() ? copy_of(rest) : zeros(shape[0], shape, of.dtype());
      for (const LookupGradient* lookup : all_)
        op_helpers::add_rows(whole, lookup->rows.pointer<std::int64_t>(), lookup->values,
                             lookup->rows.size());
      return {whole, {}};
    }
    return distinct_rows(of);
  }

 private:
  static Tensor copy_of(const Tensor& x) {
    return Tensor::from_buffer(x.raw(), static_cast<std::size_t>(x.size()) * x.dtype().size(), x.shape(),
                               x.dtype());
  }

  RowGradient distinct_rows(const Variable& of) const {
    std::vector<std::int64_t> numbers;
    numbers.reserve(static_cast<std::size_t>(count_));
    Distinct distinct(static_cast<std::size_t>(count_));
    for (const LookupGradient* lookup : all_) {
      const std::int64_t* row = lookup->rows.pointer<std::int64_t>();
      for (std::int64_t i = 0; i < lookup->rows.size(); ++i) numbers.push_back(distinct.number_of(row[i]));
    }
    RowGradient sum;
    sum.rows = Tensor::from_buffer(distinct.rows().data(), distinct.rows().size() * sizeof(std::int64_t),
                                   {static_cast<std::int64_t>(distinct.rows().size())}, DType::Int64);
    sum.value = zeros(sum.rows.size(), of.shape(), of.dtype());
    const std::int64_t* number = numbers.data();
    for (const LookupGradient* lookup : all_) {
      op_helpers::add_rows(sum.value, number, lookup->values, lookup->rows.size());
      number += lookup->rows.size();
    }
    return sum;
  }

  std::vector<const LookupGradient*> all_;
  std::int64_t count_ = 0;
};

}  // namespace

Tensor RowGradient::whole(const Shape& shape) const {
  if (!of_rows()) return value;
  const Tensor out = zeros(shape[0], shape, value.dtype());
  op_helpers::add_rows(out, rows.pointer<std::int64_t>(), value, rows.size());
  return out;
}

std::vector<RowGradient> row_gradients(const Tensor& loss, const std::vector<Variable>& variables,
                                       const GradientReady& ready) {
  std::vector<LookupGradient> found;
  std::vector<Tensor> rest = gradients(loss, variables, found, ready);
  std::vector<RowGradient> sums;
  sums.reserve(rest.size());
  if (found.empty()) {
    for (Tensor& value : rest) sums.push_back({std::move(value), {}});
    return sums;
  }
  std::vector<Lookups> lookups(variables.size());
  for (const LookupGradient& lookup : found) lookups[lookup.variable].add(lookup);
  for (std::size_t i = 0; i < rest.size(); ++i) sums.push_back(lookups[i].sum(variables[i], rest[i]));
  return sums;
}

RowGradient sum_of(const std::vector<LookupGradient>& lookups, const Variable& variable, const Tensor& rest) {
  Lookups all;
  for (const LookupGradient& lookup : lookups) all.add(lookup);
  return all.sum(variable, rest);
}

}  // namespace ktape::nn
