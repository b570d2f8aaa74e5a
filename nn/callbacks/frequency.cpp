#include <ktape/autograd/base/error.hpp>
#include <ktape/nn/callbacks/frequency.hpp>

namespace ktape::nn {
namespace {

constexpr const char* rule =
    "[callback] a frequency must be \"epoch\", \"batch\" or a number of batches, at least 1: received ";

}  // namespace

Frequency::Frequency(const std::string& word) : batches_(word == "batch" ? 1 : 0) {
  if (word != "epoch" && word != "batch") fail(rule, '"', word, '"');
}

std::int64_t Frequency::checked(std::int64_t batches) {
  if (batches < 1) fail(rule, batches);
  return batches;
}

}  // namespace ktape::nn
