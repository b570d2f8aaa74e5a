#include <ktape/interactive/session/open_if.hpp>

#include <utility>

namespace ktape::interactive {
namespace {
bool noted = false;
}

void note_untaken() { noted = true; }
bool untaken() { return std::exchange(noted, false); }

}  // namespace ktape::interactive
