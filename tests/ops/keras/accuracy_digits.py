#!/usr/bin/env python3
"""Writes accuracy_digits.txt: values and slopes of element-wise functions, computed with mpmath and rounded once to doubles.

    python3 tests/ops/keras/accuracy_digits.py > tests/ops/keras/accuracy_digits.txt      (mpmath 1.3)

A line is a name, the arguments, the value and the derivative by each argument, as hexadecimal numbers.
"""
import random

from mpmath import (acos, acosh, asin, asinh, atan, atan2, atanh, besseli, cbrt, cos, cosh, cospi, diff, erf, erfc, erfinv, exp,
                    expm1, gammainc, hypot, ln, log1p, mp, mpf, ncdf, npdf, pi, sec, sin, sinh, sinpi, sqrt, tan, tanh)

mp.dps = 80
LN2, LN10 = ln(mpf(2)), ln(mpf(10))
# The constants of Keras, as doubles.
SELU, SELU_LOW = mpf(1.0507009873554805), mpf(1.0507009873554805 * 1.6732632423543772)
CUBE, ROOT = mpf("0.044715"), sqrt(2 / pi)


def sigmoid(x):
    return 1 / (1 + exp(-x))


def sigmoid_slope(x):
    return sigmoid(x) * sigmoid(-x)


def softplus(x):
    return log1p(exp(x)) if x < 0 else x + log1p(exp(-x))


def gelu_argument(x):
    return 2 * ROOT * (x + CUBE * x**3)


def sinc(x):
    return sinpi(x) / (pi * x) if x else mpf(1)


def sinc_slope(x):
    return (cospi(x) - sinc(x)) / x if abs(x) > mpf("1e-20") else -pi**2 * x / 3


def root(x):
    return sqrt(x * x + 4)


def real_cbrt(x):
    return cbrt(x) if x >= 0 else -cbrt(-x)


def sign(x):
    return 1 if x >= 0 else -1


def less_tanh(x):
    mp.dps = 400  # x - tanh(x) cancels
    y = x - tanh(x) if abs(x) > mpf("1e-120") else x**3 / 3
    mp.dps = 80
    return +y


# Functions of one number with their derivatives, between two bounds, and points at which they are difficult.
ONE = {
    "exp": (exp, exp, -800, 720, [0, 1, -745.2, 709.78, -708.4]),
    "exp2": (lambda x: 2**x, lambda x: LN2 * 2**x, -1080, 1030, [0, 1, -1074.5, 1023.9]),
    "expm1": (expm1, exp, -800, 720, [0, 0.3466, -0.3466, 1]),
    "log": (ln, lambda x: 1 / x, 0, None, [1, 2, 0.5]),
    "log2": (lambda x: ln(x) / LN2, lambda x: 1 / x / LN2, 0, None, [1, 2, 0.75]),
    "log10": (lambda x: ln(x) / LN10, lambda x: 1 / x / LN10, 0, None, [1, 10, 0.1]),
    "log1p": (log1p, lambda x: 1 / (1 + x), -1, None, [0, -0.5, 1]),
    "sin": (sin, cos, None, None, [3.141592653589793, 6.283185307179586, 1.5707963267948966, 22, 1e5]),
    "cos": (cos, lambda x: -sin(x), None, None, [3.141592653589793, 1.5707963267948966, 11, 1e5]),
    "tan": (tan, lambda x: sec(x)**2, None, None, [3.141592653589793, 1.5707963267948966, 0.7853981633974483]),
    "arcsin": (asin, lambda x: 1 / sqrt((1 - x) * (1 + x)), -1, 1, [0, 0.5, -0.5, 1, -1]),
    "arccos": (acos, lambda x: -1 / sqrt((1 - x) * (1 + x)), -1, 1, [0, 0.5, 1, -1]),
    "arctan": (atan, lambda x: 1 / (1 + x * x), None, None, [0, 1, -1, 0.4375, 1e19]),
    "sinh": (sinh, cosh, -709, 709, [0, 0.3466, 1, 22]),
    "cosh": (cosh, sinh, -709, 709, [0, 1, 22]),
    "tanh": (tanh, lambda x: 1 / cosh(x)**2, -350, 350, [0, 0.3, 0.55, 0.625, 19, -9]),
    "arcsinh": (asinh, lambda x: 1 / hypot(x, 1), None, None, [0, 1, 0.125, 1e19]),
    "arccosh": (acosh, lambda x: 1 / sqrt((x - 1) * (x + 1)), 1, None, [1, 2, 1.1, 1e19]),
    "arctanh": (atanh, lambda x: 1 / ((1 - x) * (1 + x)), -1, 1, [0, 0.5, 1, -1]),
    "erf": (erf, lambda x: 2 / sqrt(pi) * exp(-x * x), -27, 27, [0, 0.5, 1, 3]),
    "erfc": (erfc, lambda x: -2 / sqrt(pi) * exp(-x * x), -27, 27, [0, 0.5, 1, 3, 26.5]),
    "erfinv": (erfinv, lambda y: sqrt(pi) / 2 * exp(erfinv(y)**2), -1, 1, [0, 0.5, 1, -1, 0.997]),
    "sqrt": (sqrt, lambda x: 1 / (2 * sqrt(x)), 0, None, [1, 2]),
    "rsqrt": (lambda x: 1 / sqrt(x), lambda x: -1 / (2 * x * sqrt(x)), 0, None, [1, 2]),
    "cbrt": (real_cbrt, lambda x: 1 / (3 * real_cbrt(x)**2), None, None, [1, 8, -27]),
    "square": (lambda x: x * x, lambda x: 2 * x, None, None, [1]),
    "reciprocal": (lambda x: 1 / x, lambda x: -1 / x**2, None, None, [1]),
    "sigmoid": (sigmoid, sigmoid_slope, -800, 800, [0, 1, -36, 36, -709.8, -740]),
    "silu": (lambda x: x * sigmoid(x), lambda x: sigmoid(x) + x * sigmoid_slope(x), -700, 700, [0, 1, -1.2784645]),
    "softplus": (softplus, sigmoid, -800, 800, [0, -0.5, 1, 36, -36]),
    "log_sigmoid": (lambda x: -softplus(-x), lambda x: sigmoid(-x), -800, 800, [0, 0.5, -1]),
    "elu": (lambda x: x if x > 0 else expm1(x), lambda x: mpf(1) if x > 0 else exp(x), -800, 800, [0, -1]),
    "selu": (lambda x: SELU * x if x > 0 else SELU_LOW * expm1(x),
             lambda x: SELU if x > 0 else SELU_LOW * exp(x), -800, 800, [0, -1]),
    "celu": (lambda x: x if x > 0 else 2 * expm1(x / 2), lambda x: mpf(1) if x > 0 else exp(x / 2), -1600, 800,
             [0, -1]),
    "gelu": (lambda x: x * ncdf(x), lambda x: ncdf(x) + x * npdf(x), -37, 37, [0, -0.7517915, -1, 1]),
    "gelu_tanh": (lambda x: x * sigmoid(gelu_argument(x)),
                  lambda x: sigmoid(gelu_argument(x)) + x * sigmoid_slope(gelu_argument(x)) * 2 * ROOT *
                  (1 + 3 * CUBE * x * x), -15, 15, [0, -0.7524614, 1]),
    "softsign": (lambda x: x / (1 + abs(x)), lambda x: 1 / (1 + abs(x))**2, None, None, [0, 1]),
    "squareplus": (lambda x: (x + root(x)) / 2 if x > 0 else 2 / (root(x) - x),
                   lambda x: (1 + x / root(x)) / 2 if x > 0 else 2 / (root(x) - x) / root(x), None, None,
                   [0, 1, -100]),
    "tanh_shrink": (less_tanh, lambda x: tanh(x)**2, None, None, [0, 0.3, 1.2, -1.2]),
    "sinc": (sinc, sinc_slope, -1e6, 1e6, [0, 0.318, 1, -1, 2, 3, 1000]),
    "i0": (lambda x: besseli(0, x), lambda x: besseli(1, x), -700, 700, [0, 1, 20, 10]),
}

# Functions of two numbers with their derivatives, and the ranges of both arguments.
TWO = {
    "power": (lambda x, y: x**y, lambda x, y: y * x**(y - 1), lambda x, y: x**y * ln(x), [(0.01, 100), (-100, 100)]),
    "arctan2": (atan2, lambda y, x: x / (x * x + y * y), lambda y, x: -y / (x * x + y * y), [(-9, 9), (-9, 9)]),
    "hypot": (hypot, lambda x, y: x / hypot(x, y), lambda x, y: y / hypot(x, y), [(-1e200, 1e200), (-1e200, 1e200)]),
    "logaddexp": (lambda x, y: max(x, y) + log1p(exp(-abs(x - y))), lambda x, y: sigmoid(x - y),
                  lambda x, y: sigmoid(y - x), [(1, 9), (1, 9)]),
    "logaddexp2": (lambda x, y: max(x, y) + log1p(exp(-abs(x - y) * LN2)) / LN2, lambda x, y: sigmoid((x - y) * LN2),
                   lambda x, y: sigmoid((y - x) * LN2), [(1, 9), (1, 9)]),
    "gammainc": (lambda a, x: gammainc(a, 0, x, regularized=True),
                 lambda a, x: diff(lambda b: gammainc(b, 0, x, regularized=True), a),
                 lambda a, x: exp((a - 1) * ln(x) - x) / mp.gamma(a), [(0.1, 30), (0.1, 40)]),
}


def text(value):
    """Returns a number of mpmath, rounded to a double."""
    try:
        return float(value).hex()
    except OverflowError:
        return "inf" if value > 0 else "-inf"


def points(low, high, difficult):
    """Returns doubles of all sizes, and such that lie near difficult ones."""
    found = [random.choice([-1, 1]) * random.uniform(1, 2) * 2.0**e for e in range(-1060, 1023, 60)]
    found += [random.gauss(0, size) for size in (0.05, 0.3, 1, 3, 10, 30, 100, 300) for _ in range(4)]
    found += [float(at + distance) for at in difficult for distance in (0, 1e-13, -1e-9, 1e-5, -3e-3, 0.04)]
    inside = [x for x in found if (low is None or x > low) and (high is None or x < high)]
    return inside + [-x for x in found[:35] if low is not None and low >= 0 and x < -low and (high is None or -x < high)]


def main():
    random.seed(1)
    for name, (f, slope, low, high, difficult) in ONE.items():
        for x in points(low, high, difficult):
            if x == 0 and name in ("reciprocal",):
                continue
            print(name, x.hex(), text(f(mpf(x))), text(slope(mpf(x))))
    for name, (f, first, second, ranges) in TWO.items():
        for _ in range(60):
            x, y = (random.uniform(*bounds) for bounds in ranges)
            print(name, x.hex(), y.hex(), text(f(mpf(x), mpf(y))), text(first(mpf(x), mpf(y))), text(second(mpf(x), mpf(y))))


main()
