#pragma once
#include <string>
#include <vector>

/// Names in messages about names that are not known.
namespace ktape {

/// Returns a list of names for a message: "'a', 'b' and 'c'".
std::string in_quotes(const std::vector<std::string>& names, const std::string& before_last = " and ");

/// Returns the known names with a similar spelling for the end of a message: "; did you mean 'relu' or 'relu6'?"; an
/// empty text if there are none.
std::string near_names(const std::string& unknown, const std::vector<std::string>& known);
/// Returns the end of a message about an unknown name: the known names with a similar spelling, "; did you
/// mean 'relu' or 'relu6'?", or all known names if there are few.
std::string suggestion(const std::string& unknown, const std::vector<std::string>& known);

}  // namespace ktape
