#pragma once
#include <ktape/nn/core/config.hpp>

#include <string>

/// JSON in files. Internal: sources only.
namespace ktape::nn::saving {

/// The value of a JSON text that is a part of a file, as "config.json"; of none where it is the whole file.
/// Throws IOError, "[op] the file must hold JSON: received file (part: line, column and what is wrong
/// there)".
Value json_part(const char* op, const std::string& file, const std::string& part, const std::string& text);

/// Returns the message of an error without the names of operations at its begin: for an error that becomes
/// the reason of another error.
std::string reason_of(const Error& error);

}  // namespace ktape::nn::saving
