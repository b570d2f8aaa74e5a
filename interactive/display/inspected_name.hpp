#pragma once
#include <string>
#include <vector>

namespace ktape::interactive {

/// Returns the names that a question at a place of the code may mean, the likeliest first: the name at the place if
/// the name is qualified or called, then the functions whose parentheses are open there, from the innermost outwards,
/// then any other name at the place. `nn::Conv2D(32, |` asks for nn::Conv2D, `m.fit(x, |` for m.fit.
std::vector<std::string> inspected_names(const std::string& code, std::size_t at);

}  // namespace ktape::interactive
