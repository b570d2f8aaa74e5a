#include <ktape/autograd/defer.hpp>
#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/preprocessing/encoding.hpp>
#include <ktape/nn/layers/preprocessing/internal/categories.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/nn/class_numbers.hpp>

namespace ktape::nn {
namespace K = backend;

namespace {

struct CategoryEncodingArguments : CategoryEncodingOptions {
  std::int64_t num_tokens = 0;
};

template <class F>
void fields(CategoryEncodingArguments& a, F&& field) {
  field("num_tokens", a.num_tokens);
  field("output_mode", a.output_mode);
  field("sparse", a.sparse);
}

class CategoryEncodingImpl final : public LayerWith<CategoryEncodingArguments> {
 public:
  explicit CategoryEncodingImpl(const CategoryEncodingArguments& arguments)
      : LayerWith("CategoryEncoding", canonical(arguments)), mode_(mode_of(args)) {}

  Tensor call(const Tensor& x, const CallArguments& arguments) override {
    const Tensor& weights = arguments.count_weights;
    if (weights.defined()) expect_weights(x, weights);
    if (is_symbolic(x) || is_symbolic(weights)) {
      const OutputInfo result{encoded_shape(x.shape(), mode_, args.num_tokens), compute_dtype()};
      const auto again = [self = shared_from_this()](const Tensor& given, const Tensor& counted) {
        return self->call(given, CallArguments{.count_weights = counted});
      };
      return defer("category_encoding", result, again, x, weights);
    }
    return encoded(categories(x), mode_, args.num_tokens, compute_dtype(),
                   weights.defined() ? K::as_dtype(weights, compute_dtype()) : weights);
  }

 private:
  static OutputMode mode_of(const CategoryEncodingArguments& a) {
    return output_mode("CategoryEncoding", a.output_mode,
                       {OutputMode::MultiHot, OutputMode::OneHot, OutputMode::Count});
  }
  static CategoryEncodingArguments canonical(CategoryEncodingArguments a) {
    expect_at_least<std::int64_t>("CategoryEncoding", "num_tokens", a.num_tokens, 1);
    K::expect_columns("CategoryEncoding", "num_tokens", a.num_tokens);
    a.output_mode = name_of(mode_of(a));
    if (a.sparse) fail("[CategoryEncoding] outputs are dense: received sparse=true");
    return a;
  }
  void expect_weights(const Tensor& x, const Tensor& weights) const {
    if (mode_ != OutputMode::Count)
      fail("[", name(), "] count_weights are for output_mode=\"count\": received output_mode=\"",
           args.output_mode, '"');
    if (!compatible(weights.shape(), x.shape()))
      fail("[", name(),
           "] count_weights must have the shape of the input: received count_weights=", weights.shape(),
           ", shape=", x.shape());
  }
  Tensor categories(const Tensor& x) const {
    const Tensor out = K::class_numbers(name(), "category", x);
    const auto* category = out.pointer<std::int64_t>();
    for (std::int64_t i = 0; i < out.size(); ++i)
      if (category[i] < 0 || category[i] >= args.num_tokens)
        fail("[", name(), "] the numbers must be in [0, num_tokens): received ", category[i],
             ", num_tokens=", args.num_tokens);
    return out;
  }

  OutputMode mode_;
};

}  // namespace

CategoryEncoding::CategoryEncoding(const CategoryEncodingOptions& options)
    : Layer(std::make_shared<CategoryEncodingImpl>(CategoryEncodingArguments{
          options, internal::given("CategoryEncoding", "num_tokens", options.num_tokens)})) {}

void add_encoding_layers(ClassRegistry& registry) {
  add_layer<CategoryEncodingImpl, CategoryEncodingArguments>(registry, "CategoryEncoding");
}

}  // namespace ktape::nn
