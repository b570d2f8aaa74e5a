#include "examples.hpp"

EXAMPLE("backend::reshape") {
  std::cout << K::reshape(K::constant({1., 2., 3., 4.}), {2, -1});
}

EXAMPLE("backend::transpose backend::permute_dimensions") {
  Tensor x = K::zeros({2, 3, 4});
  std::cout << K::transpose(x).shape() << " "
            << K::permute_dimensions(x, {0, 2, 1}).shape();
}

EXAMPLE("backend::concatenate") {
  Tensor a = K::constant({{1., 2.}}), b = K::constant({{3., 4.}});
  std::cout << K::concatenate({a, b}, 0) << "\n" << K::concatenate({a, b});
}

EXAMPLE("backend::stack backend::unstack") {
  Tensor x = K::stack({K::constant({1., 2.}), K::constant({3., 4.})});
  std::cout << x << "\n" << K::unstack(x)[1];
}

EXAMPLE("backend::repeat backend::repeat_elements backend::tile") {
  Tensor x = K::constant({{1., 2.}});
  std::cout << K::repeat(x, 2) << "\n"
            << K::repeat_elements(x, 2, 1) << "\n"
            << K::tile(x, {1, 2});
}

EXAMPLE("backend::flatten backend::batch_flatten") {
  Tensor x = K::zeros({2, 3, 4});
  std::cout << K::flatten(x).shape() << " " << K::batch_flatten(x).shape();
}

EXAMPLE("backend::expand_dims backend::squeeze") {
  Tensor x = K::zeros({3});
  std::cout << K::expand_dims(x, 0).shape() << " "
            << K::squeeze(K::expand_dims(x, 0), 0).shape();
}

EXAMPLE("backend::reverse") {
  std::cout << K::reverse(K::constant({1., 2., 3.}), 0);
}

EXAMPLE("backend::slice") {
  std::cout << K::slice(K::constant({{1., 2., 3.}, {4., 5., 6.}}), {0, 1}, {2, -1});
}

EXAMPLE("backend::split backend::Sections") {
  auto parts = K::split(K::constant({1., 2., 3., 4.}), 2);
  std::cout << parts[0] << " " << parts[1];
}

EXAMPLE("backend::pad backend::PadOptions") {
  std::cout << K::pad(K::constant({1., 2.}), {{1, 2}}, {.constant_values = 9});
}

EXAMPLE("backend::broadcast_to backend::sum_to") {
  Tensor x = K::broadcast_to(K::constant({1., 2.}), {3, 2});
  std::cout << x << "\n" << K::sum_to(x, {2});
}

EXAMPLE("backend::constant backend::ConstantOptions") {
  std::cout << K::constant({{1, 2}, {3, 4}}, {.dtype = "float32"}) << "\n"
            << K::constant(0.5, {.shape = {3}});
}

EXAMPLE("backend::variable backend::VariableOptions") {
  Variable w = K::variable({1.f, 2.f}, {.name = "w"});
  K::update_add(w, K::ones({2}));
  std::cout << w;
}

EXAMPLE("backend::zeros backend::ones backend::CreationOptions") {
  std::cout << K::zeros({2}) << " " << K::ones({2}, {.dtype = "int32"});
}

EXAMPLE("backend::zeros_like backend::ones_like") {
  Tensor x = K::constant({5., 6.});
  std::cout << K::zeros_like(x) << " " << K::ones_like(x);
}

EXAMPLE("backend::full") { std::cout << K::full({2, 2}, 7.f); }

EXAMPLE("backend::eye") { std::cout << K::eye(2); }

EXAMPLE("backend::identity backend::IdentityOptions") {
  std::cout << K::identity(K::constant({1., 2.}));
}

EXAMPLE("backend::arange backend::ArangeOptions backend::RangeBound") {
  std::cout << K::arange(5) << " " << K::arange(1., 2., 0.5, {.dtype = "float32"});
}

EXAMPLE("backend::shape backend::int_shape backend::ndim backend::size") {
  Tensor x = K::zeros({2, 3});
  std::cout << K::shape(x) << " " << K::int_shape(x) << " " << K::ndim(x) << " "
            << K::size(x);
}

EXAMPLE("backend::dtype backend::cast backend::cast_to_floatx") {
  Tensor x = K::cast(K::constant({1.7, -1.7}), "int32");
  std::cout << x << " " << K::dtype(x) << " " << K::dtype(K::cast_to_floatx(x));
}

EXAMPLE("backend::count_params") { std::cout << K::count_params(K::zeros({2, 3})); }

EXAMPLE(
    "backend::is_tensor backend::is_variable backend::is_placeholder "
    "backend::is_keras_tensor "
    "backend::is_sparse") {
  Tensor x = K::zeros({2}), p = K::placeholder({2});
  Variable w = K::variable({1.f});
  std::cout << K::is_tensor(x) << K::is_variable(w) << K::is_placeholder(p)
            << K::is_keras_tensor(p) << K::is_sparse(x);
}

EXAMPLE("backend::print_tensor backend::PrintOptions") {
  Tensor x = K::print_tensor(K::constant({1., 2.}), "x is ");
  std::cout << x;
}

EXAMPLE("backend::eval backend::get_value") {
  Variable w = K::variable({1.f, 2.f});
  auto array = K::get_value(w);
  std::cout << array(0) + array(1) << " " << K::eval(2 * w)(1);
}

EXAMPLE("backend::batch_get_value backend::batch_set_value") {
  Variable a = K::variable({1.f}), b = K::variable({2.f});
  K::batch_set_value({{a, {5.f}}, {b, {6.f}}});
  std::cout << K::batch_get_value({a, b})[1](0);
}

EXAMPLE(
    "backend::set_value backend::update backend::update_add backend::update_sub") {
  Variable w = K::variable({1.f, 2.f});
  K::set_value(w, {3.f, 4.f});
  K::update_add(w, K::ones({2}));
  K::update_sub(w, K::constant({0.5, 0.5}));
  std::cout << w;
  K::update(w, w * 2);
  std::cout << w;
}

EXAMPLE("backend::moving_average_update") {
  Variable w = K::variable({1.f});
  K::moving_average_update(w, K::constant({3.}), 0.9);
  std::cout << w;
}

EXAMPLE(
    "backend::random_normal backend::RandomNormalOptions "
    "backend::truncated_normal") {
  std::cout << K::random_normal({2}, {.mean = 5, .stddev = 0.1, .seed = 7}) << " "
            << K::truncated_normal({2}, {.seed = 7});
}

EXAMPLE("backend::random_uniform backend::RandomUniformOptions") {
  std::cout << K::random_uniform(
      {3}, {.minval = 0, .maxval = 10, .dtype = "int32", .seed = 7});
}

EXAMPLE(
    "backend::random_binomial backend::random_bernoulli "
    "backend::RandomBernoulliOptions") {
  std::cout << K::random_binomial({6}, {.p = 0.5, .seed = 7}) << " "
            << K::random_bernoulli({6}, {.p = 0.5, .seed = 7});
}

EXAMPLE(
    "backend::random_normal_variable backend::random_uniform_variable "
    "backend::RandomVariableOptions") {
  std::cout << K::random_normal_variable({2}, 0, 1, {.seed = 7}) << " "
            << K::random_uniform_variable({2}, 0, 1, {.seed = 7});
}

EXAMPLE("backend::dropout backend::DropoutOptions") {
  std::cout << K::dropout(K::ones({6}), 0.5, {.seed = 7});
}

EXAMPLE("backend::set_random_seed") {
  K::set_random_seed(3);
  Tensor a = K::random_normal({2});
  K::set_random_seed(3);
  std::cout << K::all(K::equal(a, K::random_normal({2})));
}

EXAMPLE("backend::floatx backend::set_floatx") {
  K::set_floatx("float64");
  std::cout << K::floatx() << " " << K::zeros({1}).dtype();
  K::set_floatx("float32");
}

EXAMPLE("backend::epsilon backend::set_epsilon") { std::cout << K::epsilon(); }

EXAMPLE("backend::image_data_format backend::set_image_data_format") {
  std::cout << K::image_data_format();
}

EXAMPLE("backend::backend backend::version") {
  std::cout << (K::backend().empty() ? "none" : "an engine") << " " << K::version();
}

EXAMPLE("backend::clear_session backend::get_uid backend::reset_uids") {
  std::cout << K::get_uid("dense") << K::get_uid("dense");
  K::reset_uids();
  std::cout << " " << K::get_uid("dense");
}

EXAMPLE("backend::set_deterministic backend::deterministic") {
  K::set_deterministic(true);
  std::cout << K::deterministic();
  K::set_deterministic(false);
}

EXAMPLE("backend::name_scope backend::current_name_scope") {
  K::name_scope scope("encoder");
  std::cout << K::current_name_scope() << " "
            << K::variable({1.f}, {.name = "w"}).name();
}

EXAMPLE(
    "backend::learning_phase backend::set_learning_phase backend::in_train_phase "
    "backend::in_test_phase") {
  K::set_learning_phase(1);
  std::cout << K::in_train_phase(K::constant(1.), K::constant(0.)) << " "
            << K::in_test_phase(K::constant(1.), K::constant(0.));
  K::set_learning_phase(0);
}
