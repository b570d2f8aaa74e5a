#include <ktape/autograd/base/suggestion.hpp>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace ktape {
namespace {

std::string lowered(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Returns the smallest number of edits that turn a into b. An edit inserts, removes or replaces a letter, or
/// exchanges two neighbours.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

std::string in_quotes(const std::vector<std::string>& names, const std::string& before_last) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "'" : i + 1 == names.size() ? before_last + "'" : ", '") + names[i] + "'";
  return text;
}

std::string near_names(const std::string& unknown, const std::vector<std::string>& known) {
  constexpr std::size_t few = 3;
  std::vector<std::size_t> away;
  for (const std::string& name : known) away.push_back(distance(lowered(unknown), lowered(name)));
  std::vector<std::size_t> order(known.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return away[i] < away[j]; });
  std::vector<std::string> near;
  for (std::size_t i : order)
    if (near.size() < few && away[i] <= 1 + unknown.size() / 4) near.push_back(known[i]);
  return near.empty() ? "" : "; did you mean " + in_quotes(near, " or ") + "?";
}

std::string suggestion(const std::string& unknown, const std::vector<std::string>& known) {
  constexpr std::size_t many = 12;
  const std::string near = near_names(unknown, known);
  if (!near.empty() || known.empty() || known.size() > many) return near;
  return "; known are " + in_quotes(known);
}

}  // namespace ktape
