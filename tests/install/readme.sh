# readme.sh PROJECT BUILD COMPILER: compiles and runs a program with the command of README.md, for any build folder and compiler.
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$1/tests/install/save.cpp" "$folder/hello.cpp"
mkdir "$folder/build"
ln -s "$2" "$folder/build/release"
cd "$folder"
command=$(grep -m 1 '^g++ .* hello.cpp .*-Lbuild/release' "$1/README.md")
eval "$3 ${command#g++}"
