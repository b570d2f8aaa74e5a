#include <ktape/nn/callbacks/callback.hpp>
#include <ktape/nn/models/model.hpp>

namespace ktape::nn {

void CallbackImpl::set_model(const Model& model) {
  model_ = std::static_pointer_cast<ModelImpl>(model.shared());
}

Model CallbackImpl::model() const { return Model(model_); }

void CallbackImpl::stop_training() const { model().stop_training(); }

}  // namespace ktape::nn
