#include <ktape/autograd/base/log.hpp>
#include <ktape/nn/models/model.hpp>
#include <ktape/nn/training/callback.hpp>

#include <iostream>

namespace ktape::nn {

void warn(const RunParameters& parameters, const std::string& text) {
  if (log::enabled(log::Level::Warn)) return log::write(log::Level::Warn, text);
  if (parameters.verbose == 0 || !parameters.first) return;
  std::cout.flush();
  std::cerr << "\nWarning: " << text << std::endl;  // on a line below the progress bar
}

void CallbackImpl::set_model(const Model& model) {
  model_ = std::static_pointer_cast<ModelImpl>(model.shared());
}

Model CallbackImpl::model() const { return Model(model_); }

void CallbackImpl::stop_training() const { model().stop_training(); }

}  // namespace ktape::nn
