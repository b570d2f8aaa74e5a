#include <ktape/ktape.hpp>
#include "report.hpp"

namespace K = ktape::backend;
using ktape::Tensor, ktape::Variable;

namespace {

const bench::Group tiny([] {
  const Variable a = K::random_normal_variable({4}, 0, 1), b = K::random_normal_variable({4}, 0, 1);
  auto chain = [&] {
    Tensor t = a;
    for (int i = 0; i < 500; ++i) t = K::tanh(t * b);
    return t;
  };
  bench::report("tiny_chain_grad", [&] { K::gradients(K::sum(chain()), {a, b}); });
  bench::report("tiny_chain_forward", [&] {
    ktape::NoGrad off;
    chain();
  });
});

const bench::Group elementwise([] {
  {
    const Variable a = K::random_normal_variable({10000000}, 0, 1);
    const Tensor b = K::random_normal({10000000});
    bench::report("elementwise_10M_grad",
                  [&] { K::gradients(K::mean(K::tanh(a * b) + K::exp(-K::square(a))), {a}); });
  }
  const Variable s = K::random_normal_variable({64, 1024}, 0, 1), g = K::random_normal_variable({1024}, 0, 1);
  bench::report("bias_gelu_grad", [&] { K::gradients(K::sum(K::gelu(s + g)), {s, g}); });
});

const bench::Group ctc([] {
  const Variable logits = K::random_normal_variable({32, 100, 64}, 0, 1);
  const Tensor labels = K::cast(K::random_uniform({32, 20}, {.maxval = 63}), "int32");
  const Tensor steps = K::full({32, 1}, 100, "int32"), counts = K::full({32, 1}, 20, "int32");
  bench::report("ctc_grad", [&] {
    K::gradients(K::mean(K::ctc_batch_cost(labels, K::softmax(logits), steps, counts)), {logits});
  });
});

const bench::Group memory_bound([] {
  const Tensor z = K::random_normal({4096, 4096});
  bench::report("sum_axis0", [&] { K::sum(z, 0); });
  bench::report("sum_axis1", [&] { K::sum(z, 1); });
  bench::report("max_axis0", [&] { K::max(z, 0); });
  bench::report("softmax", [&] { K::softmax(z); });
  bench::report("transpose", [&] { K::transpose(z); });
  bench::report("cumsum", [&] { K::cumsum(z, 1); });
  const Tensor images = K::random_normal({32, 64, 56, 56});
  bench::report("permute_nchw_nhwc", [&] { K::permute_dimensions(images, {0, 2, 3, 1}); });
});

// Small tensors, of 10 to 100 kB, and a few that are not much larger.
const bench::Group small([] {
  const Tensor x = K::random_normal({64, 128}), y = K::random_normal({64, 64}), row = K::random_normal({128});
  const Tensor column = K::random_normal({64, 1}), qkv = K::random_normal({64, 192});
  const Tensor heads = K::random_normal({16, 16, 4, 16}), square = K::random_normal({128, 128});
  bench::report("permute_small", [&] { K::permute_dimensions(heads, {0, 2, 1, 3}); });
  bench::report("transpose_small", [&] { K::transpose(square); });
  bench::report("concatenate_small", [&] { K::concatenate({x, y}, 1); });
  bench::report("split_small", [&] { K::split(qkv, 3, 1); });
  bench::report("slice_small", [&] { K::slice(x, {0, 32}, {64, 64}); });
  bench::report("broadcast_row_small", [&] { x + row; });
  bench::report("broadcast_column_small", [&] { x* column; });
  bench::report("softmax_small", [&] { K::softmax(x); });
  const Tensor queries = K::random_normal({16, 64, 12, 64});
  bench::report("permute_queries", [&] { K::permute_dimensions(queries, {0, 2, 1, 3}); });
  const Tensor wide = K::random_normal({256, 1000}), narrow = K::random_normal({256, 500});
  bench::report("concatenate", [&] { K::concatenate({wide, narrow}, 1); });
});

// Layouts that have no peer line: the floor is (bytes read + written) / 50 GB/s.
const bench::Group layouts([] {
  const Tensor x = K::random_normal({64, 128, 1024}), row = K::random_normal({1024});
  const Tensor column = K::random_normal({64, 128, 1}), middle = K::random_normal({64, 1, 1024});
  bench::report("add_same", [&] { x + x; });
  bench::report("add_row", [&] { x + row; });
  bench::report("add_column", [&] { x + column; });
  bench::report("add_middle", [&] { x + middle; });
  const Tensor positive = x > 0.f, short_rows = K::reshape(x, {-1, 4}), short_row = K::random_normal({4});
  bench::report("add_short_row", [&] { short_rows + short_row; });
  bench::report("where_row", [&] { K::where(positive, x, row); });
  bench::report("sum_leading", [&] { K::sum(x, 0); });
  bench::report("sum_middle", [&] { K::sum(x, 1); });
  bench::report("sum_trailing", [&] { K::sum(x, 2); });
  bench::report("sum_short", [&] { K::sum(short_rows, 1); });
  bench::report("permute_2d", [&] { K::permute_dimensions(K::reshape(x, {8192, 1024}), {1, 0}); });
  bench::report("permute_3d", [&] { K::permute_dimensions(x, {1, 0, 2}); });
  bench::report("permute_4d", [&] { K::permute_dimensions(K::reshape(x, {64, 8, 16, 1024}), {0, 2, 1, 3}); });
  bench::report("permute_5d", [&] {
    K::permute_dimensions(K::reshape(x, {64, 8, 16, 32, 32}), {0, 4, 2, 1, 3});
  });
  const Tensor heads = K::reshape(x, {128, 128, 8, 64}), images = K::random_normal({32, 3, 224, 224});
  bench::report("permute_heads", [&] { K::permute_dimensions(heads, {0, 2, 1, 3}); });
  bench::report("permute_rgb", [&] { K::permute_dimensions(images, {0, 2, 3, 1}); });
  const Tensor sequences = K::random_normal({256, 101, 301}), points = K::random_normal({3000, 1000, 5});
  bench::report("permute_time_major", [&] { K::permute_dimensions(sequences, {1, 0, 2}); });
  bench::report("permute_points", [&] { K::permute_dimensions(points, {1, 0, 2}); });
  bench::report("permute_reversed", [&] { K::transpose(x); });
  const Tensor odd = K::random_normal({3001, 2999});
  bench::report("transpose_odd", [&] { K::transpose(odd); });
  bench::report("max_short", [&] { K::max(short_rows, 1); });
  bench::report("argmax_leading", [&] { K::argmax(x, 0); });
  bench::report("var_trailing", [&] { K::var(x, 2); });
  bench::report("softmax_leading", [&] { K::softmax(x, 0); });
  bench::report("softmax_short", [&] { K::softmax(short_rows); });
  const Tensor halves = K::cast(x, "float16");
  bench::report("add_halves", [&] { halves + halves; });
  const Variable few = K::random_normal_variable({4}, 0, 1);
  bench::report("op_add_4", [&] { few + few; });
  bench::report("op_exp_4", [&] { K::exp(few); });
  bench::report("op_sum_4", [&] { K::sum(few); });
  bench::report("op_reshape_4", [&] { K::reshape(few, {2, 2}); });
});

}  // namespace
