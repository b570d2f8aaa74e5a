#!/bin/sh
# Checks that the header for cling compiles in the way that cling compiles headers: in the build tree, and in an install
# tree, where the header must find the include folders.
#
# Usage: cling.sh CLANG BUILD_FOLDER [FLAG...]
set -eu
clang=$1 build=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/session.cpp" <<'SESSION'
#include <ktape/interactive/cling.hpp>
ktape::Tensor of_session() { return K::sum(nn::Dense(1)(K::ones({1, 2}))); }
SESSION

reads() {  # reads FLAG...; the headers are listed
  "$clang" "$@" -D__CLING__ -Wno-unknown-pragmas -Werror -fsyntax-only -H "$folder/session.cpp" 2>"$folder/headers" ||
    { grep -v '^\.' "$folder/headers"; exit 1; }
}

reads -I"$build/include" "$@"

# With DESTDIR, the installation does not precompile the headers of the prompt.
DESTDIR="$folder/root" cmake --install "$build" --prefix /usr >"$folder/log" || { cat "$folder/log"; exit 1; }
reads -I"$folder/root/usr/include" "$@"
grep -q 'usr/include/ktape/interactive/cling_paths.hpp' "$folder/headers"
grep -q 'add_include_path("/usr/include")' "$folder/root/usr/include/ktape/interactive/cling_paths.hpp"
