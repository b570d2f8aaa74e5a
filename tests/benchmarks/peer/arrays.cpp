#include "peer.hpp"

namespace peer {
namespace {

void sorting() {
  const Tensor x = torch::randn({1000000}), rows = torch::randn({1000, 1000});
  const Tensor ids = torch::randint(10000, {1000000});
  const Tensor sorted = std::get<0>(torch::randn({100000}).sort());
  report("sort_1M", [&] { x.sort(); });
  report("argsort_1M", [&] { x.argsort(); });
  report("sort_rows", [&] { rows.sort(); });
  report("sort_rows_short", [&] { rows.reshape({-1, 50}).sort(); });
  report("top_k_10", [&] { x.topk(10); });
  report("top_k_rows", [&] { rows.topk(100); });
  report("unique", [&] { at::_unique(ids); });
  report("searchsorted", [&] { torch::searchsorted(sorted, x, /*out_int32=*/true); });
}

void factorizations() {
  const Tensor x = torch::randn({256, 256}), small = torch::randn({1000, 16, 16});
  const Tensor symmetric = x + x.t(), batch = small + small.transpose(1, 2);
  report("svd_256", [&] { torch::linalg_svd(x); });
  report("svd_16", [&] { torch::linalg_svd(small); });
  report("eigh_256", [&] { torch::linalg_eigh(symmetric); });
  report("eigh_16", [&] { torch::linalg_eigh(batch); });
}

}  // namespace

void arrays() {
  torch::NoGradGuard off;
  sorting();
  factorizations();
}

}  // namespace peer
