#!/bin/sh
# What cling is told to include compiles, as cling reads it: in the build tree, and where ktape is installed, from
# where it also finds the folders.
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

# With DESTDIR, lest the prompt's headers are precompiled there.
DESTDIR="$folder/root" cmake --install "$build" --prefix /usr >"$folder/log" || { cat "$folder/log"; exit 1; }
reads -I"$folder/root/usr/include" "$@"
grep -q 'usr/include/ktape/interactive/cling_paths.hpp' "$folder/headers"
grep -q 'add_include_path("/usr/include")' "$folder/root/usr/include/ktape/interactive/cling_paths.hpp"
