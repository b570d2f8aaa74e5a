// Does not compile: a call with () returns one tensor, and the error says what returns several.
#include <ktape/ktape.hpp>

void outputs_of_a_call(const ktape::nn::Model& model, const ktape::Tensor& x) { auto [a, b] = model(x); }
