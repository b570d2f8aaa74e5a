#include <ktape/ops/nn/ctc.hpp>

#include "families.hpp"

namespace golden {
namespace {

namespace K = ktape::backend;

Results decode(const Call& c) {
  K::CtcDecodeOptions options;
  c.set("greedy", options.greedy);
  c.set("beam_width", options.beam_width);
  c.set("top_paths", options.top_paths);
  K::CtcDecoded out = K::ctc_decode(c["y_pred"], c["input_length"], options);
  out.decoded.push_back(out.log_prob);
  return out.decoded;
}

Results dense_to_sparse(const Call& c) {
  const ktape::SparseTensor out = K::ctc_label_dense_to_sparse(c["labels"], c["label_lengths"]);
  return {out.indices(), out.values(), integers(out.shape())};
}

}  // namespace

void add_ctc(Table& table) {
  auto& ops = table.ops;
  ops["ctc_batch_cost"] = [](const Call& c) -> Results {
    return {K::ctc_batch_cost(c["y_true"], c["y_pred"], c["input_length"], c["label_length"])};
  };
  ops["ctc_decode"] = decode;
  ops["ctc_label_dense_to_sparse"] = dense_to_sparse;
}

}  // namespace golden
