#pragma once
#include <clang/Frontend/CompilerInstance.h>

#include <memory>
#include <string>
#include <vector>

namespace ktape::interactive {

/// Returns the words that may replace the last word of `text` (a cell or its beginning) after the given
/// declarations, found by clang's completer; none where any name at all may follow. The compiler cannot be
/// used again.
std::vector<std::string> complete(std::unique_ptr<clang::CompilerInstance> compiler,
                                  const std::string& declarations, const std::string& text);

}  // namespace ktape::interactive
