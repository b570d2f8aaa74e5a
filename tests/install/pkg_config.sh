# pkg_config.sh COMPILER SOURCE FOLDER VERSION: compiles and runs a program against the library in a folder, with the flags of pkg-config alone.
set -e
export PKG_CONFIG_PATH="$3/pkgconfig" LD_LIBRARY_PATH="$3"
found=$(pkg-config --modversion ktape)
[ "$found" = "$4" ] || { echo "ktape.pc has version $found, the library $4"; exit 1; }
program=$(mktemp)
trap 'rm -f "$program"' EXIT
"$1" "$2" -o "$program" $(pkg-config --cflags --libs ktape)
"$program"
