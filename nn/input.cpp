#include <ktape/nn/input.hpp>

namespace ktape::nn {

Tensor Input(const Shape& shape, const InputOptions& options) {
  if (options.batch_size && *options.batch_size < 0)
    fail("[Input] batch_size must be at least 0: received batch_size=", *options.batch_size);
  backend::PlaceholderOptions placeholder;
  placeholder.shape = shape;
  placeholder.shape->insert(0, options.batch_size.value_or(None));
  placeholder.dtype = options.dtype;
  placeholder.sparse = options.sparse;
  placeholder.name =
      options.name.empty() ? "input_" + std::to_string(backend::get_uid("input")) : options.name;
  const Tensor input = backend::placeholder(placeholder);
  input.get()->symbol->set_owner(std::make_shared<std::string>(placeholder.name));
  return input;
}

}  // namespace ktape::nn
