#include "networks.hpp"

#include <doctest/doctest.h>

TEST_CASE("a sum becomes a part of the later convolution, at the place of the sum") {
  Network sums{{node(Kind::Input), node(Kind::Convolution, {0}), node(Kind::Convolution, {0}),
                node(Kind::Sum, {2, 1})},
               {3}};
  fuse_sums(sums);
  CHECK(kinds(sums) == std::vector{Kind::Input, Kind::Convolution, Kind::Convolution});
  CHECK(sums.nodes[2].inputs == std::vector{0, 1});

  // The result of a function is no part of a convolution before the sum.
  NetworkNode activated = node(Kind::Convolution, {0});
  activated.functions = {{ElementFunction::Kind::Relu}};
  Network none{{node(Kind::Input), activated, node(Kind::Sum, {0, 1})}, {2}};
  fuse_sums(none);
  CHECK(kinds(none) == std::vector{Kind::Input, Kind::Convolution, Kind::Sum});

  Network twice{{node(Kind::Input), node(Kind::Convolution, {0}), node(Kind::Sum, {1, 1})}, {2}};
  fuse_sums(twice);
  CHECK(kinds(twice) == std::vector{Kind::Input, Kind::Convolution, Kind::Sum});
}
