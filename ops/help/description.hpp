#pragma once
#include <ktape/ops/help/option_texts.hpp>

/// The text of the headers about a name, as K::help and the prompt show it. Internal: sources only.
namespace ktape::help_text {

/// Returns the comments and declarations at the places, tables of the options with lines of `columns` characters, and the
/// text about a class's family.
std::string description(const std::string& name, const std::vector<Place>& places,
                        const std::vector<OptionStruct>& options, const FindPlaces& find,
                        std::size_t columns);

}  // namespace ktape::help_text
