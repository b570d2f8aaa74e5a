#include "run_operation.hpp"

using namespace run_operation;

TEST_CASE("operations on shapes that Keras writes have the values of their formulas") {
  const Tensor x = normal({2, 3, 4}, 4, "float32");
  check_same(run("Moveaxis", {{"x", of(x)}, {"source", value("0")}, {"destination", value("-1")}}),
             K::permute_dimensions(x, {1, 2, 0}));
  check_same(run("Moveaxis", {{"x", of(x)}, {"source", value("[0, 1]")}, {"destination", value("[1, 0]")}}),
             K::permute_dimensions(x, {1, 0, 2}));
  check_same(run("Swapaxes", {{"x", of(x)}, {"axis1", value("0")}, {"axis2", value("2")}}),
             K::permute_dimensions(x, {2, 1, 0}));
  check_same(run("Transpose", {{"x", of(x)}}), K::transpose(x));
  check_same(run("Squeeze", {{"x", of(K::reshape(x, {1, 24, 1}))}}), K::flatten(x));
  check_same(run("Squeeze", {{"x", of(K::reshape(x, {1, 24, 1}))}, {"axis", value("[0, -1]")}}),
             K::flatten(x));
  check_same(run("ExpandDims", {{"x", of(x)}, {"axis", value("[0, -1]")}}), K::reshape(x, {1, 2, 3, 4, 1}));
  check_same(run("Hstack", {{"xs", list({x, x})}}), K::concatenate({x, x}, 1));
  check_same(run("Vstack", {{"xs", list({K::flatten(x), K::flatten(x)})}}),
             K::stack({K::flatten(x), K::flatten(x)}));
  check_same(run("Concatenate", {{"xs", list({x, x})}, {"axis", value("null")}}),
             K::concatenate({K::flatten(x), K::flatten(x)}, 0));
  check_same(run("Repeat", {{"x", of(x)}, {"repeats", value("2")}}), K::repeat_elements(K::flatten(x), 2, 0));
  check_same(run("Tile", {{"x", of(x)}, {"repeats", value("[2]")}}), K::tile(x, {1, 1, 2}));
  check_same(run("Tile", {{"x", of(K::flatten(x))}, {"repeats", value("[2, 1]")}}),
             K::stack({K::flatten(x), K::flatten(x)}));
  check_same(
      all_of("Split", {{"x", of(x)}, {"indices_or_sections", value("[1, 3]")}, {"axis", value("-1")}}).at(1),
      x[{Ellipsis, Slice(1, 3)}]);
  check_same(run("Pad", {{"x", of(x)}, {"pad_width", value("1")}}), K::pad(x, {1, 1, 1}));
  check_same(run("Pad", {{"x", of(x)}, {"pad_width", value("[0, 1]")}}), K::pad(x, {{0, 1}, {0, 1}, {0, 1}}));
  check_same(run("DepthToSpace",
                 {{"x", of(K::reshape(counted({8}, "float32"), {1, 1, 2, 4}))}, {"block_size", value("2")}}),
             K::reshape(K::constant({0., 1., 4., 5., 2., 3., 6., 7.}), {1, 2, 4, 1}));
  const Tensor image = normal({2, 4, 6, 3}, 2, "float32");
  check_same(
      run("DepthToSpace", {{"x", of(run("SpaceToDepth", {{"x", of(image)}, {"block_size", value("2")}}))},
                           {"block_size", value("2")}}),
      image);
  CHECK_THROWS_WITH_AS(all_of("Unstack", {{"x", of(x)}, {"num", value("3")}}),
                       Contains("[Unstack] num must be the extent of the axis, 2: received num=3"),
                       ValueError);
  CHECK_THROWS_WITH_AS(run("Swapaxes", {{"x", of(x)}, {"axis1", value("3")}, {"axis2", value("0")}}),
                       Contains("[swapaxes] axis must be in [-3, 3) for a tensor of rank 3: received axis=3"),
                       ValueError);
}
