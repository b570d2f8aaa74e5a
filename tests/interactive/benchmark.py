"""Measures the prompt through a terminal: the time until the prompt is ready, until the first gradient, of a typical
line, of a line after five hundred lines, and of a loop that is typed, in comparison with a compiler at -O2.

Usage: benchmark.py PROMPT COMPILER
"""
import os
import pty
import select
import statistics
import subprocess
import sys
import tempfile
import time

PAGE = os.sysconf("SC_PAGE_SIZE")
TICK = os.sysconf("SC_CLK_TCK")

LOOP = """double loop(int n) {
  double x = 0.5, sum = 0;
  for (int i = 0; i < n; ++i) {
    x = 3.9 * x * (1 - x);
    sum += x > 0.5 ? x * i : -x;
  }
  return sum;
}
"""
TIMED = """double timed() {
  double best = 1e9;
  for (int i = 0; i < 7; ++i) {
    auto begin = std::chrono::steady_clock::now();
    volatile double sum = loop(20000000);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}
"""


class Prompt:
    """A prompt in a terminal."""

    def __init__(self, program, home):
        self.begin = time.monotonic()
        self.pid, self.screen = pty.fork()
        if self.pid == 0:
            os.environ.update(HOME=home, TERM="dumb", KERAS_HOME=home + "/none")
            os.execv(program, [program])
        self.text = self.until(">>> ")
        self.ready, self.ready_cpu = time.monotonic() - self.begin, self.cpu()

    def until(self, end):
        text = ""
        while not text.endswith(end):
            if not select.select([self.screen], [], [], 120)[0]:
                sys.exit("the prompt is silent after: " + text)
            text += os.read(self.screen, 4096).decode(errors="replace")
        return text.replace("\r", "")

    def line(self, text):
        """Returns the output, the seconds until the next prompt, and the seconds of processor time."""
        begin, cpu = time.monotonic(), self.cpu()
        os.write(self.screen, text.encode() + b"\n")
        said = self.until("\n>>> ")
        return said.split("\n", 1)[1][:-5], time.monotonic() - begin, self.cpu() - cpu

    def cpu(self):
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def memory(self):
        with open(f"/proc/{self.pid}/statm") as file:
            return int(file.read().split()[1]) * PAGE

    def leave(self):
        os.write(self.screen, b"\x04")
        os.waitpid(self.pid, 0)
        os.close(self.screen)


def typical(i):
    """Lines as people type them."""
    return [f"Tensor t{i} = K::random_normal({{4, 4}});", f"t{i}", f"K::sum(K::square(t{i}))",
            f"Variable v{i} = K::ones({{4, 4}});", f"K::gradients(K::mean(K::tanh(K::dot(v{i}, t{i}))), {{v{i}}})[0]",
            f"auto f{i} = [](float x) {{ return {i} * x; }};", f"f{i}(2)", f"K::int_shape(t{i})",
            f"for (int k = 0; k < 3; ++k) K::update_add(v{i}, t{i});", f"v{i}"]


def report(what, wall, cpu, target):
    print(f"{what:44} {wall * 1e3:8.0f} ms {cpu * 1e3:8.0f} ms   {target}")


def of_lines(prompt, first, sets):
    times = [prompt.line(line)[1:] for i in range(first, first + sets) for line in typical(i)]
    return [statistics.median(column) for column in zip(*times)]


def loop_ratio(prompt, compiler, home):
    source, program = home + "/loop.cpp", home + "/loop"
    with open(source, "w") as file:
        file.write("#include <algorithm>\n#include <chrono>\n#include <cstdio>\n" + LOOP + TIMED +
                   'int main() { std::printf("%.6f", timed()); }\n')
    subprocess.run([compiler, "-std=c++20", "-O2", source, "-o", program], check=True)
    for definition in (LOOP, TIMED):
        prompt.line(" ".join(definition.split()))
    typed, compiled = [], []
    for _ in range(3):  # in turn, for what else runs on the machine
        typed.append(float(prompt.line("timed()")[0]))
        compiled.append(float(subprocess.run([program], capture_output=True, text=True, check=True).stdout))
    return min(typed), min(compiled)


def main(program, compiler):
    with tempfile.TemporaryDirectory() as home:
        print(f"{'':44} {'time':>11} {'processor':>11}   wanted")
        starts = []
        for _ in range(5):
            prompt = Prompt(program, home)
            starts.append((prompt.ready, prompt.ready_cpu))
            gradient = prompt.line("Variable w = K::ones({2}); K::gradients(K::sum(K::square(w)), {w})[0]")
            starts[-1] += gradient[1:]
            prompt.leave()
        ready, ready_cpu, first, first_cpu = (statistics.median(column) for column in zip(*starts))
        report("prompt ready", ready, ready_cpu, "300 ms")
        report("first gradient after that", first, first_cpu, "200 ms")

        prompt = Prompt(program, home)
        report("a typical line (median of 50)", *of_lines(prompt, 0, 5), "50 ms")
        before = prompt.memory()
        of_lines(prompt, 5, 50)
        grown = prompt.memory() - before
        report("the same 500 lines later", *of_lines(prompt, 55, 5), "50 ms")
        print(f"{'memory of a line':44} {grown / 500 / 1024:8.0f} kB")
        typed, compiled = loop_ratio(prompt, compiler, home)
        report("a loop that is typed", typed, typed, f"within 10 % of {compiled * 1e3:.0f} ms, compiled at -O2")
        prompt.leave()


if __name__ == "__main__":
    main(*sys.argv[1:])
