#pragma once
#include <clang/Frontend/CompilerInstance.h>

#include <memory>
#include <string>
#include <vector>

namespace ktape::interactive {

/// What may follow `text`, a cell or its beginning, behind these declarations: whole words that begin as its
/// last one does, by clang's completer. Nothing where any name at all may follow. The compiler is used up.
std::vector<std::string> complete(std::unique_ptr<clang::CompilerInstance> compiler,
                                  const std::string& declarations, const std::string& text);

}  // namespace ktape::interactive
