"""Compiles each public header alone with clang, and searches all headers for code that a JIT cannot run: mutable state
(the library and the session would have separate copies), thread_local, OpenMP.

Usage: headers.py CLANG CLANG_QUERY FLAG... -- FOLDER HEADER...    (names as in #include, in FOLDER; @FILE is a list)
       headers.py CLANG CLANG_QUERY FLAG... --self-test
"""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

# const objects and references are not mutable; a declaration without a definition means that the library has the state.
STATE = ("varDecl(unless(parmVarDecl()), hasStaticStorageDuration(), isDefinition(), unless(isConstexpr()), "
         "unless(hasType(isConstQualified())), unless(hasType(referenceType())), unless(isExpansionInSystemHeader()))")
THREAD_LOCAL = "varDecl(hasThreadStorageDuration(), unless(isExpansionInSystemHeader()))"
RULES = {"state that is written": STATE, "thread_local": THREAD_LOCAL}
OPENMP = re.compile(r'^\s*#\s*pragma\s+omp\b|_Pragma\s*\(\s*"omp|#\s*include\s*<omp\.h>', re.MULTILINE)


FIRST = re.compile(r"^\s*#\s*include\s*<(ktape/[^>]+)>", re.MULTILINE)


def violations(query, flags, text, sources):
    """Returns the violations of the rules in a program and in the headers that the program includes."""
    found = ["OpenMP" for source in sources if OPENMP.search(source)]
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program.cpp")
        with open(program, "w") as file:
            file.write(text)
        commands = [part for matcher in RULES.values() for part in ("-c", "match " + matcher)]
        run = subprocess.run([query, "-c", "set output diag", *commands, program, "--", *flags],
                             capture_output=True, text=True)
    if run.returncode != 0 or "error:" in run.stderr:
        return found + ["it does not compile: " + run.stderr]
    answers = re.split(r"^\d+ match(?:es)?\.$", run.stdout, flags=re.MULTILINE)
    if len(answers) != len(RULES) + 1:
        return found + ["clang-query answers: " + run.stdout + run.stderr]
    for rule, answer in zip(RULES, answers):
        found += [f"{rule}: {line}" for line in answer.splitlines() if "note: " in line and '"root"' in line]
    return found


class Alone:
    """Compiles headers, each as if it were alone in a program.

    A header's first include is read before the header's other lines, so the included file can be precompiled: once for
    all headers that begin with this include. The result is the same as without precompiling, in a fraction of the time.
    """

    def __init__(self, clang, flags, folder, scratch):
        self.clang, self.flags, self.folder, self.scratch = clang, flags, folder, scratch
        self.precompiled = {}  # the file, or None for a header that does not compile
        self.problems = {}

    def path(self, header):
        return os.path.join(self.folder, header)

    def first(self, header):
        with open(self.path(header)) as file:
            match = FIRST.search(file.read())
        return match and match[1]

    def compile(self, header, *more):
        before = self.first(header)
        if before and not self.precompile(before):
            return False

        def run(*use):
            return subprocess.run([self.clang, *self.flags, *use, "-x", "c++-header", *more, self.path(header)],
                                  capture_output=True, text=True)

        if before and run("-include-pch", self.precompiled[before]).returncode == 0:
            return True
        # clang fails over some precompiled headers, so the header is compiled without them.
        alone = run()
        if alone.returncode != 0:
            self.problems[header] = "it does not compile alone: " + alone.stderr
        return alone.returncode == 0

    def precompile(self, header):
        if header not in self.precompiled:
            file = os.path.join(self.scratch, header.replace("/", "_") + ".pch")
            self.precompiled[header] = file if self.compile(header, "-o", file) else None
        return self.precompiled[header]

    def check(self, headers):
        """Returns the faults by header. Headers that other headers begin with are compiled first, then two headers at a time."""
        begun_with = {self.first(header) for header in headers} - {None}
        for header in sorted(begun_with):
            self.precompile(header)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda header: self.compile(header, "-fsyntax-only"),
                          [header for header in headers if header not in begun_with]))
        return self.problems


def header_problems(clang, query, flags, folder, headers):
    with tempfile.TemporaryDirectory() as scratch:
        alone = Alone(clang, flags, folder, scratch).check(headers)
    texts = []
    for header in headers:
        with open(os.path.join(folder, header)) as file:
            texts.append(file.read())
    together = "".join(f"#include <{header}>\n" for header in headers)
    return [f"{header}: {problem}" for header, problem in alone.items()] + violations(query, flags, together, texts)


def self_test(clang, query, flags):
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
        "int f( { }": "it does not compile",
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
    return wrong + self_test_alone(clang, flags)


def self_test_alone(clang, flags):
    headers = {
        "ktape/base.hpp": "#pragma once\n#include <vector>\ninline std::vector<int> some() { return {1}; }\n",
        "ktape/good.hpp": "#pragma once\n#include <ktape/base.hpp>\ninline int one() { return some()[0]; }\n",
        "ktape/own.hpp": "#pragma once\n#include <ktape/good.hpp>\ninline std::string name();\n",
        "ktape/bad.hpp": "#pragma once\ninline int two() { return 2 * one(); }\n",
        "ktape/after_bad.hpp": "#pragma once\n#include <ktape/bad.hpp>\n",
    }
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as scratch:
        os.mkdir(os.path.join(folder, "ktape"))
        for header, text in headers.items():
            with open(os.path.join(folder, header), "w") as file:
                file.write(text)
        found = Alone(clang, [*flags, "-I" + folder], folder, scratch).check(list(headers))
    return [] if set(found) == {"ktape/own.hpp", "ktape/bad.hpp"} else [f"headers that do not compile alone: {found}"]


def main(clang, query, *words):
    if words[-1] == "--self-test":
        problems = self_test(clang, query, words[:-1])
    else:
        cut = words.index("--")
        flags, folder, headers = words[:cut], words[cut + 1], words[cut + 2:]
        if headers and headers[0].startswith("@"):
            with open(headers[0][1:]) as file:
                headers = file.read().split()
        if not headers:
            sys.exit("no headers are named")
        problems = header_problems(clang, query, flags, folder, headers)
        print(f"{len(headers)} headers, each alone")
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
