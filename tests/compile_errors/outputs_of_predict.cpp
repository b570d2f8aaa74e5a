// Does not compile: the number of outputs is not known then, and the error says how to take them.
#include <ktape/ktape.hpp>

void outputs_of_predict(const ktape::nn::Model& model, const ktape::Tensor& x) {
  auto [a, b] = model.predict(x);
}
