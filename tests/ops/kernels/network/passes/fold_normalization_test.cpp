#include "networks.hpp"

#include <doctest/doctest.h>

TEST_CASE("a normalization is folded into the only convolution that feeds the normalization") {
  Network chain{{node(Kind::Input), node(Kind::Convolution, {0}), node(Kind::Normalization, {1}),
                 node(Kind::Normalization, {2})},
                {3}};
  fold_normalization(chain);
  remove_unused(chain);
  CHECK(kinds(chain) == std::vector{Kind::Input, Kind::Convolution});
  CHECK(chain.nodes[1].normalizers.size() == 2);
  CHECK(chain.outputs == std::vector{1});

  Network shared{{node(Kind::Input), node(Kind::Convolution, {0}), node(Kind::Normalization, {1})}, {1, 2}};
  fold_normalization(shared);
  CHECK(shared.nodes[1].normalizers.empty());

  // The second normalization must stay, because the first normalization has another reader.
  Network forked{{node(Kind::Input), node(Kind::Convolution, {0}), node(Kind::Normalization, {1}),
                  node(Kind::Normalization, {2})},
                 {2, 3}};
  fold_normalization(forked);
  remove_unused(forked);
  CHECK(kinds(forked) == std::vector{Kind::Input, Kind::Convolution, Kind::Normalization});
}
