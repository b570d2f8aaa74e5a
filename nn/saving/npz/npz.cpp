#include <ktape/nn/files/npy.hpp>
#include <ktape/nn/files/npz.hpp>
#include <ktape/nn/saving/base/weights.hpp>
#include <ktape/nn/saving/npz/npz.hpp>

namespace ktape::nn::saving {
namespace {

void save_weights(const Model& model, const std::string& path) { data::save_npz(path, flat_weights(model)); }

void load_weights(const Model& model, const std::string& path, const LoadWeightsOptions& options) {
  assign_flat_weights(model, path, data::read_npz("load_weights", path, expected_bytes(model)), options);
}

}  // namespace

const Format npz = {".npz", nullptr, nullptr, save_weights, load_weights};

}  // namespace ktape::nn::saving
