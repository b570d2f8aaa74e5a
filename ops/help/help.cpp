#include <dlfcn.h>
#include <ktape/autograd/base/error.hpp>
#include <ktape/ops/help/description.hpp>
#include <ktape/ops/help/header_index.hpp>
#include <ktape/ops/help/help.hpp>

#include <cstdlib>
#include <filesystem>

namespace ktape::backend {
namespace {

/// Returns the folder of the headers that belong to the loaded library: the folder include beside it, or beside a folder
/// above. Throws IOError if there is none.
std::string folder_of_headers() {
  namespace fs = std::filesystem;
  const auto has_headers = [](const fs::path& folder) { return fs::exists(folder / "ktape/ktape.hpp"); };
  const char* const given = std::getenv("KTAPE_HEADERS");
  if (given && has_headers(given)) return given;
  Dl_info info{};
  std::error_code error;
  if (dladdr(reinterpret_cast<const void*>(&folder_of_headers), &info) && info.dli_fname)
    for (fs::path folder = fs::absolute(info.dli_fname, error).parent_path();;
         folder = folder.parent_path()) {
      if (has_headers(folder / "include")) return (folder / "include").string();
      if (folder == folder.parent_path()) break;
    }
  fail<IOError>(
      "[help] the headers must be installed (libktape-dev), or KTAPE_HEADERS must name a folder with ",
      "ktape/ktape.hpp: received KTAPE_HEADERS=", given ? given : "");
}

}  // namespace

HelpText help(const std::string& name) {
  static const help_text::HeaderIndex index(folder_of_headers());
  const std::string known = index.resolved(name);
  if (known.empty()) fail<ValueError>("[help] a name must be one of the headers: received name=", name);
  return HelpText(help_text::description(
      known.starts_with("backend::") ? "K::" + known.substr(9) : known, index.places(known),
      index.options_of(known), [](const std::string& other) { return index.places(other); }, 100));
}

}  // namespace ktape::backend
