"""Looks in public headers, each compiled alone by clang, for what a JIT cannot have in them: state that is written
(each side would have its own), thread_local, OpenMP.

Usage: headers.py CLANG_QUERY FLAG... -- FOLDER HEADER...    (as they are included from FOLDER; @FILE lists them)
       headers.py CLANG_QUERY FLAG... --self-test
"""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

# const objects and references are not written; a mere declaration says that the state is in the library.
STATE = ("varDecl(unless(parmVarDecl()), hasStaticStorageDuration(), isDefinition(), unless(isConstexpr()), "
         "unless(hasType(isConstQualified())), unless(hasType(referenceType())), unless(isExpansionInSystemHeader()))")
THREAD_LOCAL = "varDecl(hasThreadStorageDuration(), unless(isExpansionInSystemHeader()))"
RULES = {"state that is written": STATE, "thread_local": THREAD_LOCAL}
OPENMP = re.compile(r'^\s*#\s*pragma\s+omp\b|_Pragma\s*\(\s*"omp|#\s*include\s*<omp\.h>', re.MULTILINE)


def violations(query, flags, text, sources):
    """What breaks the rules in a program, and in the texts of the headers that are tried."""
    found = ["OpenMP" for source in sources if OPENMP.search(source)]
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program.cpp")
        with open(program, "w") as file:
            file.write(text)
        commands = [part for matcher in RULES.values() for part in ("-c", "match " + matcher)]
        run = subprocess.run([query, "-c", "set output diag", *commands, program, "--", *flags],
                             capture_output=True, text=True)
    if run.returncode != 0 or "error:" in run.stderr:
        return found + ["it does not compile alone: " + run.stderr]
    answers = re.split(r"^\d+ match(?:es)?\.$", run.stdout, flags=re.MULTILINE)
    if len(answers) != len(RULES) + 1:
        return found + ["clang-query answers: " + run.stdout + run.stderr]
    for rule, answer in zip(RULES, answers):
        found += [f"{rule}: {line}" for line in answer.splitlines() if "note: " in line and '"root"' in line]
    return found


def header_violations(query, flags, folder, header):
    with open(os.path.join(folder, header)) as file:
        text = file.read()
    return violations(query, flags, f"#include <{header}>\n", [text])


def self_test(query, flags):
    bad = {
        "inline int count = 0;": "state that is written",
        "static int count = 0;": "state that is written",
        "inline int next() { static int count = 0; return ++count; }": "state that is written",
        "template <class T> int next() { static int count = 0; return ++count; }": "state that is written",
        "struct S { inline static int count = 0; };": "state that is written",
        "template <class T> struct S { static int count; }; template <class T> int S<T>::count = 0;":
            "state that is written",
        "inline thread_local int count = 0;": "thread_local",
        "inline void f(int* p) {\n#pragma omp parallel for\nfor (int i = 0; i < 9; ++i) p[i] = i;\n}": "OpenMP",
        "int f( { }": "it does not compile alone",
    }
    good = ["inline constexpr int most = 9;", "extern int count;", "inline const char* const name = \"a\";",
            "inline int one() { static const int value = 1; return value; }", "struct S { static int count; };",
            "inline int twice(int n) { int result = n; return result + n; }"]
    wrong = []
    for text, rule in bad.items():
        found = violations(query, flags, text, [text])
        if not any(one.startswith(rule) for one in found):
            wrong.append(f"not found in {text!r}: {rule} (found: {found})")
    for text in good:
        if found := violations(query, flags, text, [text]):
            wrong.append(f"found in {text!r}: {found}")
    return wrong


def main(query, *words):
    if words[-1] == "--self-test":
        problems = self_test(query, words[:-1])
    else:
        cut = words.index("--")
        flags, folder, headers = words[:cut], words[cut + 1], words[cut + 2:]
        if headers and headers[0].startswith("@"):
            with open(headers[0][1:]) as file:
                headers = file.read().split()
        if not headers:
            sys.exit("no headers are named")
        with ThreadPoolExecutor(2) as pool:
            results = pool.map(lambda header: header_violations(query, flags, folder, header), headers)
        problems = [f"{header}: {one}" for header, found in zip(headers, results) for one in found]
        print(f"{len(headers)} headers, each alone")
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
