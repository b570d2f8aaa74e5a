#include <ktape/nn/data/stream.hpp>

#include "datasets.hpp"

namespace data = ktape::data;
using ktape::Shape, ktape::ValueError, ktape::data::Element;

namespace {

/// The rows of tensors in reverse.
class Backwards final : public data::RowStream {
 public:
  explicit Backwards(const Element& tensors)
      : RowStream(std::make_shared<const Element>(tensors)), left_(tensors[0].shape()[0]) {}
  bool next_row(std::int64_t& row) override {
    if (left_ == 0) return false;
    row = --left_;
    return true;
  }

 private:
  std::int64_t left_;
};

}  // namespace

TEST_CASE("a stream of rows gives elements and batches, and skips rows") {
  Backwards stream({counted({7, 2}), counted({7})});
  Element out;
  REQUIRE(stream.next(out));
  CHECK(out[0].shape() == Shape{2});
  CHECK(values(out[0]) == Values{12, 13});
  CHECK(values(out[1]) == Values{6});
  stream.skip(2);
  CHECK(stream.next_batch(3, out) == 3);
  CHECK(values(out[1]) == Values{3, 2, 1});
  CHECK(values(out[0]) == Values{6, 7, 4, 5, 2, 3});
  CHECK(stream.next_batch(3, out) == 1);
  CHECK(out[0].shape() == Shape{1, 2});
  CHECK_FALSE(stream.next(out));
}

TEST_CASE("rows are gathered, sliced, stacked and joined") {
  const Element tensors{counted({4, 2}), counted({4})};
  CHECK(data::expect_rows("take", tensors) == 4);
  const Element gathered = data::gathered_rows(tensors, {3, 0, 1});
  CHECK(values(gathered[0]) == Values{6, 7, 0, 1, 2, 3});
  CHECK(values(gathered[1]) == Values{3, 0, 1});
  const Element sliced = data::sliced_rows(tensors, 1, 3);
  CHECK(values(sliced[1]) == Values{1, 2});
  CHECK(data::stacked({sliced, sliced})[0].shape() == Shape{2, 2, 2});
  CHECK(values(data::joined({sliced, gathered})[1]) == Values{1, 2, 3, 0, 1});
  CHECK_THROWS_WITH_AS(
      data::expect_rows("take", {counted({4}), counted({3})}),
      "[take] all tensors must have the number of rows of the first, 4: received the shape (3,)", ValueError);
  CHECK_THROWS_WITH_AS(
      data::stacked({sliced, gathered}),
      "[Dataset.batch] elements must have one dtype and shape, float64 of shape (2, 2): received float64 of "
      "shape (3, 2); see padded_batch",
      ValueError);
}

TEST_CASE("the iterations of a dataset are counted, from any number on") {
  const auto dataset = rows(1).shared();
  CHECK(dataset->next_iteration(0) == 0);
  CHECK(dataset->next_iteration(0) == 1);
  CHECK(dataset->next_iteration(7) == 7);
  CHECK(dataset->next_iteration(0) == 8);
}
