# The version, from its one place, and the number in the SONAME, which rises with each release that breaks programs
# compiled against the release before (CONTRIBUTING.md has the rules).
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../autograd/base/version.hpp KTAPE_VERSION REGEX "^#define KTAPE_VERSION_[A-Z]+ [0-9]+$")
list(TRANSFORM KTAPE_VERSION REPLACE "^#define KTAPE_VERSION_[A-Z]+ " "")
list(JOIN KTAPE_VERSION "." KTAPE_VERSION)
set(KTAPE_SOVERSION 0)
