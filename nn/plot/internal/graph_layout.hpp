#pragma once
#include <cstddef>
#include <vector>

namespace ktape::nn {

/// A box of a drawing: its size along and across the direction of the graph, and the boxes, all earlier in
/// the list, from which arrows lead to this box.
struct LayoutBox {
  double length = 0, breadth = 0;
  std::vector<std::size_t> from;
};

/// The layout of a graph in ranks: each box has a higher rank than all boxes that lead to it, and an arrow
/// that crosses a rank has a spot in the rank, so that no arrow runs below a box. (Sugiyama's method: ranks,
/// an order in each rank that avoids crossings, then the positions that bend arrows least.)
class GraphLayout {
 public:
  struct Point {
    double along = 0, across = 0;
  };

  explicit GraphLayout(const std::vector<LayoutBox>& boxes);

  double length() const { return length_; }
  double breadth() const { return breadth_; }
  /// Returns the middle of a box.
  Point at(std::size_t box) const {
    return {starts_[spots_[box].rank] + half_of_rank(box), spots_[box].across};
  }
  /// Returns the points of an arrow: the end of the box at its start, the points where it enters and leaves
  /// each rank on its way, and the begin of the box at its end.
  std::vector<Point> route(std::size_t from, std::size_t to) const;

 private:
  /// A box, or the spot of an arrow in a rank that the arrow crosses.
  struct Spot {
    std::size_t rank = 0;
    double length = 0, breadth = 0, across = 0, weight = 1;
    std::vector<std::size_t> before, after;  ///< its neighbours in the previous and in the next rank
  };

  double half_of_rank(std::size_t box) const { return lengths_[spots_[box].rank] / 2; }
  void rank(const std::vector<LayoutBox>& boxes);
  void connect(const std::vector<LayoutBox>& boxes);
  void order();
  std::size_t crossings() const;
  void sort_rank(std::vector<std::size_t>& rank, const std::vector<std::size_t> Spot::*neighbours);
  void place();
  void place_rank(const std::vector<std::size_t>& rank, bool by_before, bool by_after);
  void straighten();
  void align(const std::vector<std::size_t>& chain);
  void measure();

  std::vector<Spot> spots_;                      ///< the spots of the boxes, then the spots of arrows
  std::vector<std::vector<std::size_t>> ranks_;  ///< the spots of each rank, in their order across
  std::vector<std::size_t> positions_;           ///< the positions of the spots in the order of their rank
  std::vector<std::vector<std::size_t>>
      lanes_;                             ///< for each box, the spots of its arrows in the following ranks
  std::vector<double> starts_, lengths_;  ///< the starts and lengths of the ranks
  double length_ = 0, breadth_ = 0;
};

}  // namespace ktape::nn
