#include <ktape/nn/plot/internal/graph_layout.hpp>

#include <algorithm>
#include <limits>

namespace ktape::nn {
namespace {

constexpr double gap_along = 40, gap_across = 24, lane_breadth = 8;
/// The weight of the spots of arrows, relative to the weight 1 of boxes: straight arrows are preferred to
/// straight rows of boxes.
constexpr double lane_weight = 4;

}  // namespace

GraphLayout::GraphLayout(const std::vector<LayoutBox>& boxes) {
  rank(boxes);
  connect(boxes);
  order();
  place();
  straighten();
  measure();
}

/// Assigns ranks: the length of the longest path from a box without inputs. A box with no more incoming than
/// outgoing arrows moves as near to its first successor as possible.
void GraphLayout::rank(const std::vector<LayoutBox>& boxes) {
  spots_.resize(boxes.size());
  std::vector<std::size_t> users(boxes.size()),
      nearest(boxes.size(), std::numeric_limits<std::size_t>::max());
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    spots_[i].length = boxes[i].length;
    spots_[i].breadth = boxes[i].breadth;
    for (const std::size_t from : boxes[i].from) {
      spots_[i].rank = std::max(spots_[i].rank, spots_[from].rank + 1);
      ++users[from];
    }
  }
  std::size_t last = 0;
  for (std::size_t i = boxes.size(); i-- > 0;) {
    if (users[i] > 0 && users[i] >= boxes[i].from.size())
      spots_[i].rank = std::max(spots_[i].rank, nearest[i] - 1);
    for (const std::size_t from : boxes[i].from) nearest[from] = std::min(nearest[from], spots_[i].rank);
    last = std::max(last, spots_[i].rank);
  }
  ranks_.resize(boxes.empty() ? 0 : last + 1);
}

/// Connects the boxes by arrows. Arrows of one box that cross a rank share one spot in the rank.
void GraphLayout::connect(const std::vector<LayoutBox>& boxes) {
  lanes_.resize(boxes.size());
  const auto join = [&](std::size_t a, std::size_t b) {
    if (std::find(spots_[b].before.begin(), spots_[b].before.end(), a) != spots_[b].before.end()) return;
    spots_[a].after.push_back(b);
    spots_[b].before.push_back(a);
  };
  for (std::size_t i = 0; i < boxes.size(); ++i)
    for (const std::size_t from : boxes[i].from) {
      std::size_t at = from;
      for (std::size_t rank = spots_[from].rank + 1; rank < spots_[i].rank; ++rank) {
        const std::size_t lane = rank - spots_[from].rank - 1;
        if (lane == lanes_[from].size()) {
          lanes_[from].push_back(spots_.size());
          spots_.push_back({rank, 0, lane_breadth, 0, lane_weight, {}, {}});
        }
        join(at, lanes_[from][lane]);
        at = lanes_[from][lane];
      }
      join(at, i);
    }
  for (std::size_t i = 0; i < spots_.size(); ++i) ranks_[spots_[i].rank].push_back(i);
}

/// Sorts each rank by the middle of its neighbours, down and up, and keeps the order with the fewest
/// crossings.
void GraphLayout::order() {
  positions_.resize(spots_.size());
  for (auto& rank : ranks_)
    for (std::size_t i = 0; i < rank.size(); ++i) positions_[rank[i]] = i;
  auto best = ranks_;
  std::size_t fewest = crossings();
  for (int sweep = 0; sweep < 12 && fewest > 0; ++sweep) {
    if (sweep % 2 == 0)
      for (auto& rank : ranks_) sort_rank(rank, &Spot::before);
    else
      for (std::size_t i = ranks_.size(); i-- > 0;) sort_rank(ranks_[i], &Spot::after);
    const std::size_t now = crossings();
    if (now < fewest) fewest = now, best = ranks_;
  }
  ranks_ = std::move(best);
  for (auto& rank : ranks_)
    for (std::size_t i = 0; i < rank.size(); ++i) positions_[rank[i]] = i;
}

std::size_t GraphLayout::crossings() const {
  std::size_t count = 0;
  for (const auto& rank : ranks_)
    for (std::size_t i = 0; i < rank.size(); ++i)
      for (std::size_t j = i + 1; j < rank.size(); ++j)
        for (const std::size_t a : spots_[rank[i]].before)
          for (const std::size_t b : spots_[rank[j]].before) count += positions_[a] > positions_[b];
  return count;
}

void GraphLayout::sort_rank(std::vector<std::size_t>& rank,
                            const std::vector<std::size_t> Spot::*neighbours) {
  std::vector<double> middles(spots_.size());
  for (const std::size_t spot : rank) {
    const auto& all = spots_[spot].*neighbours;
    double sum = 0;
    for (const std::size_t neighbour : all) sum += static_cast<double>(positions_[neighbour]);
    middles[spot] =
        all.empty() ? static_cast<double>(positions_[spot]) : sum / static_cast<double>(all.size());
  }
  std::stable_sort(rank.begin(), rank.end(), [&](auto a, auto b) { return middles[a] < middles[b]; });
  for (std::size_t i = 0; i < rank.size(); ++i) positions_[rank[i]] = i;
}

void GraphLayout::place() {
  for (const auto& rank : ranks_) place_rank(rank, true, false);
  for (int sweep = 0; sweep < 8; ++sweep) {
    for (std::size_t i = ranks_.size(); i-- > 0;) place_rank(ranks_[i], true, true);
    for (const auto& rank : ranks_) place_rank(rank, true, true);
  }
}

/// Moves each spot of a rank as near to the middle of its neighbours as the other spots allow: minimizes the
/// weighted squares of the distances while order and gaps are kept (the algorithm of pooling adjacent
/// violators).
void GraphLayout::place_rank(const std::vector<std::size_t>& rank, bool by_before, bool by_after) {
  struct Pool {
    double weight, wish;  ///< the weight of all spots in the pool, and the wanted position of its first spot
    std::size_t count;
  };
  std::vector<Pool> pools;
  std::vector<double> offsets;
  double offset = 0;
  for (std::size_t i = 0; i < rank.size(); ++i) {
    const Spot& spot = spots_[rank[i]];
    if (i > 0) offset += (spots_[rank[i - 1]].breadth + spot.breadth) / 2 + gap_across;
    offsets.push_back(offset);
    double sum = 0, count = 0;
    const auto add = [&](const std::vector<std::size_t>& neighbours) {
      for (const std::size_t neighbour : neighbours) {
        sum += spots_[neighbour].across * spots_[neighbour].weight;
        count += spots_[neighbour].weight;
      }
    };
    if (by_before) add(spot.before);
    if (by_after) add(spot.after);
    pools.push_back({spot.weight, (count > 0 ? sum / count : spot.across) - offset, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].wish > pools.back().wish) {
      const Pool last = pools.back();
      pools.pop_back();
      Pool& pool = pools.back();
      pool.wish = (pool.wish * pool.weight + last.wish * last.weight) / (pool.weight + last.weight);
      pool.weight += last.weight;
      pool.count += last.count;
    }
  }
  std::size_t i = 0;
  for (const Pool& pool : pools)
    for (std::size_t in_pool = 0; in_pool < pool.count; ++in_pool, ++i)
      spots_[rank[i]].across = pool.wish + offsets[i];
}

/// Aligns the spots of each chain. A chain is a row of boxes, each with one successor, or the spots of an
/// arrow.
void GraphLayout::straighten() {
  std::vector<std::vector<std::size_t>> chains = lanes_;
  std::vector<char> chained(spots_.size());
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (chained[i]) continue;
    std::vector<std::size_t> chain{i};
    while (spots_[chain.back()].after.size() == 1) {
      const std::size_t next = spots_[chain.back()].after[0];
      if (next >= lanes_.size() || spots_[next].before.size() > 1) break;
      chain.push_back(next);
      chained[next] = 1;
    }
    chains.push_back(std::move(chain));
  }
  for (int sweep = 0; sweep < 10; ++sweep)
    for (const auto& chain : chains) align(chain);
}

/// Moves a chain to the free line that is nearest to its middle, if there is a free line.
void GraphLayout::align(const std::vector<std::size_t>& chain) {
  if (chain.size() < 2) return;
  double least = std::numeric_limits<double>::lowest(), most = std::numeric_limits<double>::max(), sum = 0;
  const auto apart = [&](std::size_t a, std::size_t b) {
    return (spots_[a].breadth + spots_[b].breadth) / 2 + gap_across;
  };
  for (const std::size_t i : chain) {
    const auto& rank = ranks_[spots_[i].rank];
    const std::size_t at = positions_[i];
    if (at > 0) least = std::max(least, spots_[rank[at - 1]].across + apart(rank[at - 1], i));
    if (at + 1 < rank.size()) most = std::min(most, spots_[rank[at + 1]].across - apart(i, rank[at + 1]));
    sum += spots_[i].across;
  }
  if (least > most) return;
  const double line = std::clamp(sum / static_cast<double>(chain.size()), least, most);
  for (const std::size_t i : chain) spots_[i].across = line;
}

void GraphLayout::measure() {
  double least = std::numeric_limits<double>::max(), most = std::numeric_limits<double>::lowest(), along = 0;
  for (const auto& rank : ranks_) {
    double longest = 0;
    for (const std::size_t i : rank) {
      least = std::min(least, spots_[i].across - spots_[i].breadth / 2);
      most = std::max(most, spots_[i].across + spots_[i].breadth / 2);
      longest = std::max(longest, spots_[i].length);
    }
    starts_.push_back(along);
    lengths_.push_back(longest);
    along += longest + gap_along;
  }
  if (ranks_.empty()) return;
  for (Spot& spot : spots_) spot.across -= least;
  length_ = along - gap_along;
  breadth_ = most - least;
}

std::vector<GraphLayout::Point> GraphLayout::route(std::size_t from, std::size_t to) const {
  std::vector<Point> points{{at(from).along + spots_[from].length / 2, at(from).across}};
  points.push_back({starts_[spots_[from].rank] + lengths_[spots_[from].rank], at(from).across});
  for (std::size_t rank = spots_[from].rank + 1; rank < spots_[to].rank; ++rank) {
    const double across = spots_[lanes_[from][rank - spots_[from].rank - 1]].across;
    points.push_back({starts_[rank], across});
    points.push_back({starts_[rank] + lengths_[rank], across});
  }
  points.push_back({starts_[spots_[to].rank], at(to).across});
  points.push_back({at(to).along - spots_[to].length / 2, at(to).across});
  return points;
}

}  // namespace ktape::nn
