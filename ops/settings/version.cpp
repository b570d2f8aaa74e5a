#include <ktape/ops/settings/version.hpp>

namespace ktape::backend {

std::string version() {
  return std::to_string(KTAPE_VERSION_MAJOR) + '.' + std::to_string(KTAPE_VERSION_MINOR) + '.' +
         std::to_string(KTAPE_VERSION_PATCH);
}

}  // namespace ktape::backend
