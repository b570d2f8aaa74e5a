#include <ktape/nn/data/transformations/calling.hpp>

namespace ktape::data {

Element Dataset::reduce(const TensorList& initial_state, Reducer function) const {
  expect_callable("reduce", function);
  Element state = initial_state.vector();
  expect_values("Dataset.reduce", state);
  Caller<Reducer> next(std::make_shared<const Reducer>(std::move(function)), transformation_key(*impl_));
  for (const Element& element : *this) state = next(state, element);
  return state;
}

}  // namespace ktape::data
