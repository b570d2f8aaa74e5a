#include "examples.hpp"

EXAMPLE("backend::help") { std::cout << K::help("relu").substr(0, 31); }

EXAMPLE("backend::SizeOptions") {
  std::cout << K::size(K::zeros({2, 3}), {.name = "elements"});
}

EXAMPLE("backend::AttentionOptions") {
  Tensor q = K::random_normal({2, 4, 5, 8});
  std::cout << K::scaled_dot_product_attention(q, q, q, {.causal = true}).shape();
}

EXAMPLE("backend::LocalConvOptions") {
  std::cout << K::local_conv1d(K::ones({1, 4, 2}), K::ones({3, 4, 5}), 2, 1,
                               {.data_format = "channels_last"})
                   .shape();
}

EXAMPLE("backend::NormalizationOptions") {
  auto batch = K::normalize_batch_in_training(
      K::constant({{1.}, {3.}}), K::ones({1}), K::zeros({1}), 0, {.epsilon = 1e-5});
  std::cout << batch.normalized;
}

EXAMPLE("backend::get_session backend::set_session backend::Session") {
  K::Session session = K::get_session();
  K::set_session(session);
  std::cout << "sessions do nothing";
}

EXAMPLE("backend::random_key") {
  K::set_random_seed(3);
  auto first = K::random_key(), second = K::random_key();
  std::cout << "each call has its own key";
}

EXAMPLE("backend::concatenate_mixed backend::MixedList") {
  ktape::SparseTensor s({{0, 1}, {1, 0}}, {3.f, 4.f}, {2, 2});
  std::cout << K::concatenate({K::MixedList::Entry(s), K::ones({2, 1})}, 1);
}

EXAMPLE("backend::PerAxis") {
  Tensor x = K::ones({1, 6, 6, 1});
  std::cout << K::pool2d(x, 2, {.strides = 2}).shape() << " "
            << K::pool2d(x, {2, 3}, {.strides = {2, 3}}).shape();
}

EXAMPLE("backend::PaddingPair") {
  std::cout << K::spatial_2d_padding(K::ones({1, 2, 2, 1}),
                                     {.padding = {{1, 0}, {2, 2}}})
                   .shape();
}

EXAMPLE("backend::ShapeLike backend::Extent") {
  Tensor x = K::zeros({2, 3});
  std::cout << K::random_normal(K::shape(x)).shape() << " "
            << K::zeros({K::shape(x)[0], 4}).shape();
}

EXAMPLE(
    "backend::FunctionInputs backend::FunctionInput backend::FunctionValues "
    "backend::FunctionValue") {
  Tensor x = K::placeholder({2}), y = K::placeholder({2});
  auto f = K::function({x, y}, {x + y});
  std::cout << f({K::ones({2}), K::constant({1., 2.})})[0];
}

EXAMPLE("backend::RnnStep") {
  K::RnnStep step = [](const std::vector<Tensor>& x,
                       const std::vector<Tensor>& states) {
    std::vector<Tensor> sum = {x[0] + states[0]};
    return std::pair{sum, sum};
  };
  std::cout
      << K::rnn(step, {K::ones({1, 3, 2})}, {K::zeros({1, 2})}).last_output[0];
}

EXAMPLE("Assignable TensorOrNumber") {
  Variable w = K::variable({1.f});
  K::update(w, K::constant({5.}));
  std::cout << w << " " << K::maximum(w, 7);
}

EXAMPLE("ArrayLike") {
  std::cout << K::constant({{1, 2}, {3, 4}}) << " " << K::constant(2.5) << " "
            << K::constant(std::vector<int>{1, 2});
}

EXAMPLE("Scalar") { std::cout << K::full({2}, 3) << " " << K::full({2}, 3.5); }

EXAMPLE("TensorList TensorArgument") {
  Variable w = K::variable({1.f}), v = K::variable({2.f});
  std::vector<Tensor> grads = K::gradients(K::sum(w * v), {w, v});
  std::cout << grads[0] << grads[1];
}

EXAMPLE("float16") {
  ktape::float16 half(1.5f);
  std::cout << static_cast<float>(half) * 2;
}

EXAMPLE("OptionalShape NoneType") {
  Tensor x = K::placeholder({K::None, 3});
  std::cout << K::int_shape(x);
}

EXAMPLE("Constraint") {
  Variable w = K::variable({-1.f}, {.constraint = nn::NonNeg()});
  std::cout << w.constraint()(w);
}

EXAMPLE("SparseVariable") {
  ktape::SparseTensor s({{0, 1}, {1, 0}}, {3.f, 4.f}, {2, 2});
  ktape::SparseVariable w = K::variable(s);
  std::cout << K::is_sparse(s);
}

EXAMPLE("to_string") {
  std::cout << ktape::to_string(Shape{2, 3}) << " "
            << ktape::to_string(K::ones({2}));
}

EXAMPLE("numbers") {
  for (std::int64_t extent : ktape::numbers(Shape{2, 3}))
    std::cout << extent << " ";
}

EXAMPLE("log::print log::write") {
  ktape::log::write(ktape::log::Level::Debug, "is not shown");
  std::cout << "messages of the level Info and above are shown";
}

EXAMPLE("is_symbolic") {
  std::cout << ktape::is_symbolic(K::placeholder({2}))
            << ktape::is_symbolic(K::zeros({2}));
}

EXAMPLE("variable_of") {
  Variable w = K::variable({1.f});
  Tensor x = w;
  std::cout << ktape::variable_of(x).defined();
}

EXAMPLE("broadcast_shapes broadcasts_to") {
  std::cout << ktape::broadcast_shapes("add", {2, 1}, {3}) << " "
            << ktape::broadcasts_to({3}, {2, 3});
}

EXAMPLE("canonical_axis canonical_axes") {
  std::cout << ktape::canonical_axis("sum", -1, 3);
}

EXAMPLE("fail") {
  try {
    ktape::fail<ktape::ValueError>("[mine] x must be positive: received x=", -1);
  } catch (const ktape::ValueError& error) {
    std::cout << error.what();
  }
}

EXAMPLE("expect_defined expect_rank expect_value") {
  try {
    ktape::expect_defined("mine", "x", Tensor());
  } catch (const ktape::Error& error) {
    std::cout << error.what();
  }
}

EXAMPLE("ops::AdaptivePoolOptions") {
  std::cout << ops::adaptive_max_pool(ops::ones({1, 3, 8}), 4,
                                      {.data_format = "channels_first"})
                   .shape();
}

EXAMPLE("ops::AssociativeScanOptions") {
  auto add = [](const Tensor& a, const Tensor& b) { return a + b; };
  std::cout << ops::associative_scan(add, K::constant({1., 2., 3.}),
                                     {.reverse = true});
}

EXAMPLE("ops::IsCloseOptions") {
  std::cout << ops::isclose(K::constant({1., 2.}), K::constant({1.05, 2.5}),
                            {.rtol = 0.1});
}

EXAMPLE("ops::IsInOptions") {
  std::cout << ops::isin(K::constant({1., 2.}), K::constant({1.}),
                         {.invert = true});
}

EXAMPLE("ops::LayerNormalizationOptions") {
  std::cout << ops::layer_normalization(K::constant({{1., 2.}, {3., 4.}}), {}, {},
                                        {.axis = 0, .epsilon = 1e-6});
}

EXAMPLE("ops::LinspaceOptions") {
  std::cout << ops::linspace(0, 1, 4, {.endpoint = false});
}

EXAMPLE("ops::PatchOptions") {
  std::cout << ops::extract_patches(ops::ones({1, 6, 6, 1}), 3,
                                    {.strides = 1, .padding = "same"})
                   .shape();
}

EXAMPLE("ops::PoolOptions") {
  std::cout << ops::max_pool(ops::ones({1, 5, 5, 1}), 3,
                             {.strides = 1, .padding = "same"})
                   .shape();
}

EXAMPLE("ops::QuantileOptions") {
  std::cout << ops::quantile(K::constant({1., 2., 4.}), 0.4, 0,
                             {.method = "nearest"});
}

EXAMPLE("ops::ResizeOptions") {
  std::cout << ops::resize(ops::ones({1, 4, 4, 1}), {8, 8},
                           {.interpolation = "bicubic", .antialias = true})
                   .shape();
}

EXAMPLE("ops::ScanOptions") {
  auto [last, sums] = ops::scan(
      [](const Tensor& sum, const Tensor& x) {
        return std::pair{sum + x, sum + x};
      },
      K::constant(0.), K::constant({1., 2., 3.}), {.reverse = true});
  std::cout << sums;
}

EXAMPLE("ops::SsimOptions") {
  std::cout << ops::ssim(ops::ones({1, 16, 16, 1}), ops::ones({1, 16, 16, 1}), 1,
                         {.filter_size = 7});
}

EXAMPLE("ops::StftOptions ops::StftWindow") {
  std::cout << ops::stft(ops::ones({64}), 16, 8, 16,
                         {.window = "hamming", .center = false})
                   .first.shape();
}

EXAMPLE("ops::TransformOptions") {
  Tensor x = ops::ones({1, 3, 3, 1});
  std::cout << ops::ravel(
      ops::affine_transform(x, K::constant({{1., 0., 1., 0., 1., 0., 0., 0.}}),
                            {.fill_mode = "constant", .fill_value = 9}));
}

EXAMPLE("ops::UnfoldOptions") {
  std::cout << ops::unfold(ops::ones({1, 1, 6, 6}), 2, {.stride = 2}).shape();
}

EXAMPLE("ops::TopK ops::Histogram") {
  ops::TopK best = ops::top_k(K::constant({3., 9., 5.}), 1);
  ops::Histogram bins = ops::histogram(K::constant({1., 2., 2.}), 2);
  std::cout << best.values << " " << bins.counts;
}

EXAMPLE("ops::DotAxes ops::Cuts") {
  std::cout << ops::tensordot(ops::ones({2, 3}), ops::ones({3, 2}),
                              {{0, 1}, {1, 0}})
            << " " << ops::split(ops::arange(0, 5), {2, 3})[1];
}

EXAMPLE("ops::Extents ops::ImageSize ops::Deviations") {
  std::cout << ops::max_pool(ops::ones({1, 6, 6, 1}), {2, 3}).shape() << " "
            << ops::gaussian_blur(ops::ones({1, 5, 5, 1}), 3, 0.5).shape();
}

EXAMPLE("ops::NormOrder") {
  Tensor x = K::constant({{3., 0.}, {0., 4.}});
  std::cout << ops::norm(x, "fro") << " " << ops::norm(x, "nuc") << " "
            << ops::norm(x, 1.);
}

EXAMPLE("ops::ComplexPair") {
  ops::ComplexPair spectrum = ops::rfft(K::constant({1., 2., 3., 4.}));
  std::cout << spectrum.second;
}

EXAMPLE("ops::LoopVariables ops::Function") {
  ops::Function square = [](const Tensor& x) { return x * x; };
  std::cout << ops::jacobian(square, K::constant({1., 2.}));
}

EXAMPLE("random::OptionalDType") {
  std::cout << ktape::random::normal({2}, 0, 1, "float64", 7).dtype();
}

EXAMPLE("JacobianOptions") {
  Variable w = K::variable({1.f, 2.f});
  ktape::GradientTape tape;
  Tensor y = w * w;
  std::cout << tape.jacobian(y, w);
}

EXAMPLE("operators") {
  Tensor x = K::constant({{1., 2.}, {3., 4.}}), row = K::constant({10., 100.});
  std::cout << x * row + 1 << "\n" << (x > 2) << "\n" << ((x > 1) & (x < 4));
}
