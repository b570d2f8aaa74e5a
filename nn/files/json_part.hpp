#pragma once
#include <ktape/ops/schema/config.hpp>

#include <string>

/// JSON in files. Internal: sources only.
namespace ktape::nn::saving {

/// Parses a JSON text that is a part of a file, such as "config.json"; an empty `part` means the whole file.
/// Throws IOError, "[op] the file must hold JSON: received file (part: line, column and reason)".
Value json_part(const char* op, const std::string& file, const std::string& part, const std::string& text);

/// Returns the message of an error without the names of operations at its begin: for an error that becomes
/// the reason of another error.
std::string reason_of(const Error& error);

}  // namespace ktape::nn::saving
