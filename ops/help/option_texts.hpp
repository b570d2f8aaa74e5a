#pragma once
#include <ktape/ops/help/source_text.hpp>

#include <functional>

/// Tables of options. Internal: sources only.
namespace ktape::help_text {

/// Returns the places of a name with its namespaces below ktape, such as `nn::LayerOptions::name`.
using FindPlaces = std::function<std::vector<Place>(const std::string&)>;

/// Returns the form of a call with options, and a table of the options: name, default and meaning. `call` is the
/// name of the function or class. A field without a comment in its header has the meaning of that field in
/// another struct of its header, in LayerOptions, OptimizerOptions or arguments.txt.
std::string options_table(const FindPlaces& find, const std::string& call, const OptionStruct& options,
                          std::size_t columns);

}  // namespace ktape::help_text
