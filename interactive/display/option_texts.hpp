#pragma once
#include <ktape/interactive/clang/interpreter.hpp>

#include <string>

namespace ktape::interactive {

/// Returns the form of a call with options, and a table of the options: name, default and meaning. `call` is the
/// name of the function or class. A field without a comment in its header has the meaning of that field in
/// LayerOptions, OptimizerOptions or another struct of its header.
std::string options_table(Interpreter& interpreter, const std::string& call,
                          const Interpreter::OptionStruct& options, std::size_t columns);

}  // namespace ktape::interactive
