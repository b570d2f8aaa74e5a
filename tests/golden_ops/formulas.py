#!/usr/bin/env python3
"""Writes formulas.json, in the format of README.md: golden vectors of functions of keras.ops by NumPy and SciPy.

    python3 tests/golden_ops/formulas.py          (needs python3-numpy and python3-scipy)

Gradients are central differences of the eighth order in float64. Numbers are odd multiples of 1/64, and the steps of the
differences stay within 1/128: no difference steps over a kink at a whole number or over a tie.
"""
import json
import os

import numpy as np
import scipy.linalg
import scipy.special as special

rng = np.random.RandomState(34)
cases = []
seen = {}
STEP = 2.0**-9
WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)


def numbers(*shape, low=-2, high=2):
    """Returns distinct numbers that float32 holds exactly, none of which is whole."""
    count = int(np.prod(shape, dtype=int))
    grid = (2 * np.arange(low * 32, high * 32) + 1) / 64
    return rng.choice(grid, count, replace=count > grid.size).reshape(shape)


def whole(*shape, low=-5, high=6):
    return rng.randint(low, high, shape).astype(np.int32)


def dtype_of(array):
    return {"f": "float32", "i": "int32", "u": "uint8", "b": "bool"}[array.dtype.kind]


def flat(array):
    """Returns the elements as JSON's numbers, without negative zeros."""
    out = []
    for value in np.asarray(array).ravel().tolist():
        if isinstance(value, (bool, int)):
            out.append(int(value))
        elif np.isfinite(value):
            out.append(value + 0.0)
        else:
            out.append("nan" if np.isnan(value) else "inf" if value > 0 else "-inf")
    return out


def results(f, arrays):
    found = f(*arrays)
    return [np.asarray(y) for y in (found if isinstance(found, (list, tuple)) else [found])]


def gradients(f, arrays, names, wanted, cotangents):
    """Returns the derivatives of the weighted sum of the results."""
    def total(values):
        return sum(float(np.sum(y * c)) for y, c in zip(results(f, values), cotangents) if c is not None)

    grads = {}
    for at, name in enumerate(names):
        if name not in wanted:
            continue
        gradient = np.zeros(arrays[at].size)
        for i in range(gradient.size):
            for n, weight in enumerate(WEIGHTS, 1):
                for sign in (1, -1):
                    moved = [np.array(a) for a in arrays]
                    moved[at].ravel()[i] += sign * n * STEP
                    gradient[i] += sign * weight * total(moved) / STEP
        grads[name] = {"shape": list(arrays[at].shape), "data": flat(gradient)}
    return grads


def add(op, f, inputs, attrs=None, grad="all", rtol=2e-5, atol=1e-5):
    """Adds a case. `inputs` are arrays by name; `grad` names the inputs with a gradient."""
    names, arrays = list(inputs), [np.asarray(a) for a in inputs.values()]
    seen[op] = seen.get(op, 0) + 1
    with np.errstate(all="ignore"):
        outputs = results(f, arrays)
    floating = any(y.dtype.kind == "f" for y in outputs)
    case = {
        "id": f"{op}/numpy-{seen[op]}",
        "op": op,
        "inputs": [{"name": n, "dtype": dtype_of(a), "shape": list(a.shape), "data": flat(a)} for n, a in zip(names, arrays)],
        "attrs": attrs or {},
        "outputs": [{"dtype": dtype_of(y), "shape": list(y.shape), "data": flat(y)} for y in outputs],
    }
    wanted = [n for n, a in zip(names, arrays) if a.dtype.kind == "f" and a.size and (grad == "all" or n in (grad or ()))]
    if wanted and floating:
        cotangents = [numbers(*y.shape) if y.dtype.kind == "f" else None for y in outputs]
        case["cotangents"] = [None if c is None else {"shape": list(c.shape), "data": flat(c)} for c in cotangents]
        case["grads"] = gradients(f, arrays, names, wanted, cotangents)
    case.update({"rtol": rtol if floating else 0, "atol": atol if floating else 0, "oracles": ["numpy", "numeric-diff"]})
    cases.append(case)


# --- element by element -----------------------------------------------------------------------------------------------


def sigmoid(x):
    return special.expit(x)


def softplus(x):
    return np.logaddexp(x, 0)


def elementwise():
    away = {  # the functions of all numbers
        "arctan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "arcsinh": np.arcsinh, "cbrt": np.cbrt, "deg2rad": np.deg2rad,
        "rad2deg": np.rad2deg, "sinc": np.sinc, "i0": np.i0, "erf": special.erf, "erfc": special.erfc, "fabs": np.fabs,
        "absolute": np.abs, "abs": np.abs, "negative": np.negative, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1,
        "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "sigmoid": sigmoid, "reciprocal": lambda x: 1 / x, "square": np.square,
        "real": np.real, "conj": np.conj, "conjugate": np.conj,
        "relu": lambda x: np.maximum(x, 0), "relu6": lambda x: np.clip(x, 0, 6), "softplus": softplus,
        "log_sigmoid": lambda x: -softplus(-x), "silu": lambda x: x * sigmoid(x), "softsign": lambda x: x / (1 + np.abs(x)),
        "tanh_shrink": lambda x: x - np.tanh(x), "hard_tanh": lambda x: np.clip(x, -1, 1),
        "hard_sigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1), "hard_silu": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
        "elu": lambda x: np.where(x > 0, x, np.expm1(x)), "celu": lambda x: np.where(x > 0, x, np.expm1(x)),
        "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
        "leaky_relu": lambda x: np.where(x > 0, x, 0.2 * x), "squareplus": lambda x: (x + np.sqrt(x * x + 4)) / 2,
        "sparse_sigmoid": lambda x: np.clip((x + 1) / 2, 0, 1),
        "hard_shrink": lambda x: np.where(np.abs(x) > 0.5, x, 0), "soft_shrink": lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0),
    }
    for op, f in away.items():
        low = 1 if op in ("cbrt", "reciprocal") else -2  # the higher derivatives at 0 are too large for differences
        for x in (numbers(5, low=low), numbers(2, 1, 3, low=low)):
            add(op, f, {"x": x})
    positive = {"log": np.log, "log2": np.log2, "log10": np.log10, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "log1p": np.log1p}
    for op, f in positive.items():
        for shape in ((5,), (3, 2)):
            add(op, f, {"x": numbers(*shape, low=1, high=6)})
    for op, f in {"arcsin": np.arcsin, "arccos": np.arccos, "arctanh": np.arctanh, "erfinv": special.erfinv, "tan": np.tan}.items():
        for shape in ((5,), (3, 2)):
            add(op, f, {"x": numbers(*shape, low=-1, high=1) / 2}, rtol=5e-5)
    add("arccosh", np.arccosh, {"x": numbers(4, low=2, high=5)})
    add("erfinv", special.erfinv, {"x": np.array([0.0, 1.0, -1.0, 2.0, 0.9990234375])}, grad=None, rtol=1e-4)
    add("i0", np.i0, {"x": np.array([0.0, 7.5, 8.5, -30.0, 60.0])}, grad=None, rtol=1e-4)
    steps = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.round, "sign": np.sign, "signbit": np.signbit,
             "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "isposinf": np.isposinf, "isneginf": np.isneginf}
    awkward = np.array([0.5, 1.5, -2.5, 3.25, np.inf, -np.inf, np.nan, 1e30, -0.25])
    for op, f in steps.items():
        for x in (numbers(2, 3), awkward[[0, 1, 2, 3, 7, 8]] if op == "signbit" else awkward):
            add(op, f, {"x": x}, grad=None)
    for value in (whole(4), np.array([[True, False]])):
        add("logical_not", np.logical_not, {"x": value})
    for a in (whole(4), whole(2, 3)):
        for op, f in {"absolute": np.abs, "negative": np.negative, "square": np.square, "sign": np.sign, "bitwise_not": np.invert}.items():
            add(op, f, {"x": a})


def binary():
    shapes = (((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 4)), ((), (2, 2)))
    smooth = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "true_divide": np.divide,
        "maximum": np.maximum, "minimum": np.minimum, "fmax": np.fmax, "fmin": np.fmin, "arctan2": np.arctan2, "hypot": np.hypot,
        "logaddexp": np.logaddexp, "logaddexp2": np.logaddexp2, "divide_no_nan": np.divide,
    }
    for op, f in smooth.items():
        for first, second in shapes:
            pair = numbers(int(np.prod(first, dtype=int) + np.prod(second, dtype=int)))
            size = int(np.prod(first, dtype=int))
            far = 2 + 1 / 32 if op in ("divide", "true_divide", "divide_no_nan", "arctan2", "hypot") else 0
            add(op, f, {"x1": pair[:size].reshape(first), "x2": pair[size:].reshape(second) + far})
    for first, second in shapes:
        add("power", np.power, {"x1": numbers(*first, low=1, high=3), "x2": numbers(*second)})
        add("gammainc", special.gammainc, {"x1": numbers(*first, low=1, high=4), "x2": numbers(*second, low=1, high=5)}, grad=("x2",))
        for op, f in {"floor_divide": np.floor_divide, "mod": np.mod, "fmod": np.fmod}.items():
            add(op, f, {"x1": numbers(*first), "x2": numbers(*second)}, grad=None)
            add(op, f, {"x1": whole(*first), "x2": whole(*second, low=1)})
    for op, f in {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}.items():
        add(op, f, {"x1": whole(2, 3), "x2": whole(3)})
        add(op, f, {"x1": whole(2, 3), "x2": numbers(3)})
    for op in ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal"):
        add(op, getattr(np, op), {"x1": whole(2, 4, low=0, high=3), "x2": whole(4, low=0, high=3)})
        add(op, getattr(np, op), {"x1": np.array([1.0, np.nan, np.inf, 0.0]), "x2": np.array([1.0, np.nan, np.inf, 2.0])})
    for op in ("logical_and", "logical_or", "logical_xor"):
        add(op, getattr(np, op), {"x1": whole(2, 4, low=0, high=2), "x2": whole(4, low=0, high=2)})
        add(op, getattr(np, op), {"x1": whole(4, low=0, high=2) > 0, "x2": whole(3, 1, low=0, high=2) > 0})
    for op in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        add(op, getattr(np, op), {"x": whole(2, 4), "y": whole(4)})
    for op in ("gcd", "lcm"):
        add(op, getattr(np, op), {"x1": whole(2, 4), "x2": whole(4)})
    add("heaviside", np.heaviside, {"x1": np.array([-1.0, 0.0, 2.0]), "x2": np.array(0.5)}, grad=None)


# --- whole arrays -----------------------------------------------------------------------------------------------------

AXES = ((None, False), (0, False), (-1, True), (1, False))


def reductions():
    axes_too = AXES + (((0, 2), True),)
    smooth = {"sum": np.sum, "mean": np.mean, "prod": np.prod, "var": np.var, "std": np.std, "max": np.max, "min": np.min, "amax": np.max,
              "amin": np.min, "median": np.median, "ptp": np.ptp,
              "logsumexp": lambda x, axis, keepdims: special.logsumexp(x, axis=axis, keepdims=keepdims)}
    for op, f in smooth.items():
        for axis, keepdims in axes_too:
            if op == "ptp" and isinstance(axis, tuple):
                continue
            add(op, lambda x, f=f, axis=axis, keepdims=keepdims: f(x, axis=axis, keepdims=keepdims), {"x": numbers(2, 3, 2)},
                {"axis": list(axis) if isinstance(axis, tuple) else axis, "keepdims": keepdims})
    for op in ("nansum", "nanmean", "nanprod", "nanmax", "nanmin", "nanvar", "nanstd"):
        for axis, keepdims in AXES:
            x = numbers(3, 4)
            x[1, 2] = x[0, 0] = np.nan
            f = getattr(np, op)
            add(op, lambda x, f=f, axis=axis, keepdims=keepdims: f(x, axis=axis, keepdims=keepdims), {"x": x},
                {"axis": axis, "keepdims": keepdims}, grad=None)
    for op in ("any", "all"):
        for axis, keepdims in AXES:
            f = getattr(np, op)
            add(op, lambda x, f=f, axis=axis, keepdims=keepdims: f(x, axis=axis, keepdims=keepdims),
                {"x": whole(2, 3, low=0, high=2) > 0}, {"axis": axis, "keepdims": keepdims})
    for axis in (None, 0, -1):
        add("count_nonzero", lambda x, axis=axis: np.count_nonzero(x, axis=axis), {"x": whole(3, 4, low=-1, high=2)}, {"axis": axis})
        for op in ("argmax", "argmin"):
            add(op, lambda x, f=getattr(np, op), axis=axis: f(x, axis=axis), {"x": numbers(3, 4)}, {"axis": axis})
        for op in ("cumsum", "cumprod"):
            add(op, lambda x, f=getattr(np, op), axis=axis: f(x, axis=axis), {"x": numbers(3, 4)}, {"axis": axis})
    for axis in (0, 1, -1):
        add("sort", lambda x, axis=axis: np.sort(x, axis), {"x": numbers(3, 4)}, {"axis": axis})
        add("argsort", lambda x, axis=axis: np.argsort(x, axis), {"x": numbers(3, 4)}, {"axis": axis})
        add("softmax", lambda x, axis=axis: special.softmax(x, axis=axis), {"x": numbers(3, 4)}, {"axis": axis})
        add("log_softmax", lambda x, axis=axis: special.log_softmax(x, axis=axis), {"x": numbers(3, 4)}, {"axis": axis})
        add("diff", lambda a, axis=axis: np.diff(a, 1, axis), {"a": numbers(3, 4)}, {"n": 1, "axis": axis})
        for q in (0.25, 0.5, 1.0):
            add("quantile", lambda x, q=q, axis=axis: np.quantile(x, q, axis=axis), {"x": numbers(3, 4)}, {"q": q, "axis": axis})
    for order in (1, 2, 3.5):
        for axis in (0, 1):
            add("norm", lambda x, order=order, axis=axis: np.linalg.norm(x, order, axis), {"x": numbers(3, 4)}, {"ord": order, "axis": axis})


def shapes():
    x = numbers(2, 3, 4)
    for shape in ([6, 4], [-1], [4, 3, -1], [2, 3, 4, 1]):
        add("reshape", lambda x, s=shape: x.reshape(s), {"x": x}, {"newshape": shape})
    for axes in (None, [2, 0, 1], [0, 2, 1]):
        add("transpose", lambda x, a=axes: np.transpose(x, a), {"x": x}, {"axes": axes})
    for axis in (0, 2, -1):
        add("expand_dims", lambda x, a=axis: np.expand_dims(x, a), {"x": x}, {"axis": axis})
        add("flip", lambda x, a=axis: np.flip(x, a), {"x": x}, {"axis": axis})
        add("squeeze", lambda x, a=axis: np.squeeze(x, a), {"x": x.reshape(1, 24, 1) if axis == 0 else x.reshape(4, 6, 1)}, {"axis": axis})
        add("repeat", lambda x, a=axis: np.repeat(x, 2, a), {"x": x}, {"repeats": 2, "axis": axis})
        add("stack", lambda p, q, a=axis: np.stack([p, q], a), {"x/0": x, "x/1": numbers(2, 3, 4)}, {"axis": axis})
        add("concatenate", lambda p, q, a=axis: np.concatenate([p, q], a), {"xs/0": x, "xs/1": numbers(2, 3, 4)}, {"axis": axis})
        for shift in (1, -2, 7):
            add("roll", lambda x, s=shift, a=axis: np.roll(x, s, a), {"x": x}, {"shift": shift, "axis": axis})
        add("take", lambda x, i, a=axis: np.take(x, i, a), {"x": x, "indices": np.array([[1, 0], [-1, 1]], np.int32)}, {"axis": axis})
        add("swapaxes", lambda x, a=axis: np.swapaxes(x, a, 1), {"x": x}, {"axis1": axis, "axis2": 1})
        add("moveaxis", lambda x, a=axis: np.moveaxis(x, a, 1), {"x": x}, {"source": axis, "destination": 1})
        index = whole(2, 3, 4, low=0, high=2)
        add("take_along_axis", lambda x, i, a=axis: np.take_along_axis(x, i, a), {"x": x, "indices": index}, {"axis": axis})
        add("split", lambda x, a=axis: np.split(x, 2, a), {"x": numbers(2, 4, 4)}, {"indices_or_sections": 2, "axis": axis})
    add("ravel", np.ravel, {"x": x})
    for op in ("hstack", "vstack", "dstack", "column_stack"):
        for shape in ((3,), (2, 3)):
            add(op, lambda p, q, f=getattr(np, op): f([p, q]), {"xs/0": numbers(*shape), "xs/1": numbers(*shape)})
    for axis in (None, 0, 1):
        add("append", lambda p, q, a=axis: np.append(p, q, a), {"x1": numbers(2, 3), "x2": numbers(2, 3)}, {"axis": axis})
    for low, high in ((-1, 1), (0, 2), (-3, 3)):
        add("clip", lambda x, a=low, b=high: np.clip(x, a, b), {"x": numbers(2, 4)}, {"x_min": low, "x_max": high})
    for repeats in ([2], [2, 1, 3], [1, 2, 1, 1]):
        add("tile", lambda x, r=repeats: np.tile(x, r), {"x": numbers(2, 2)}, {"repeats": repeats})
    for mode in ("constant", "reflect", "symmetric"):
        for width in ([[1, 2], [0, 1]], [[0, 0], [2, 2]], [[2, 0], [1, 1]]):
            add("pad", lambda x, w=width, m=mode: np.pad(x, w, m), {"x": numbers(3, 4)}, {"pad_width": width, "mode": mode})
    for shape in ([2, 3], [4, 2, 3]):
        add("broadcast_to", lambda x, s=shape: np.broadcast_to(x, s), {"x": numbers(3)}, {"shape": shape})
    for k in (-1, 0, 2):
        add("tril", lambda x, k=k: np.tril(x, k), {"x": numbers(3, 4)}, {"k": k})
        add("triu", lambda x, k=k: np.triu(x, k), {"x": numbers(2, 3, 4)}, {"k": k})
        add("diag", lambda x, k=k: np.diag(x, k), {"x": numbers(3)}, {"k": k})
        add("diagonal", lambda x, k=k: np.diagonal(x, k), {"x": numbers(3, 4)}, {"offset": k})
        add("trace", lambda x, k=k: np.trace(x, k), {"x": numbers(3, 4)}, {"offset": k})
        add("rot90", lambda x, k=k: np.rot90(x, k), {"array": numbers(3, 2)}, {"k": k})
        add("tri", lambda k=k: np.tri(3, 4, k), {}, {"N": 3, "M": 4, "k": k})
        add("eye", lambda k=k: np.eye(3, 4, k), {}, {"N": 3, "M": 4, "k": k})
    for lower, upper, count in ((0, 1, 5), (-2, 3, 7), (3, 3, 2), (5, -1, 1)):
        add("linspace", lambda a=lower, b=upper, n=count: np.linspace(a, b, n), {}, {"start": lower, "stop": upper, "num": count})
        add("logspace", lambda a=lower, b=upper, n=count: np.logspace(a, b, n), {}, {"start": lower, "stop": upper, "num": count})
        add("full", lambda a=lower, n=count: np.full((n, 2), a, np.float64), {}, {"shape": [count, 2], "fill_value": float(lower)})
    for op in ("bartlett", "hanning", "hamming", "blackman"):
        for count in (1, 2, 7):
            add(op, lambda n, f=getattr(np, op): f(int(n)), {"x": np.array(count, np.int32)})


def linear_algebra():
    regular = numbers(2, 3, 3) + 4 * np.eye(3)
    add("det", np.linalg.det, {"x": regular})
    add("inv", np.linalg.inv, {"x": regular})
    add("pinv", np.linalg.pinv, {"x": regular[0, :, :2]})
    add("logdet", lambda x: np.linalg.slogdet(x)[1], {"x": regular @ regular.transpose(0, 2, 1) / 16}, rtol=1e-4, atol=1e-4)
    for n in (-2, 0, 1, 3):
        add("matrix_power", lambda x, n=n: np.linalg.matrix_power(x, n), {"x": regular[0] / 4}, {"n": n}, rtol=1e-4, atol=1e-4)
    add("solve", np.linalg.solve, {"a": regular, "b": numbers(2, 3, 2)})
    for lower in (True, False):
        add("solve_triangular", lambda a, b, lower=lower: scipy.linalg.solve_triangular(a, b, lower=lower),
            {"a": regular[0], "b": numbers(3, 2)}, {"lower": lower})
    pairs = (((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 2, 3), (2, 3, 1)), ((2, 1, 2, 3), (3, 3, 2)))
    for first, second in pairs:
        add("matmul", np.matmul, {"x1": numbers(*first), "x2": numbers(*second)})
    for first, second in pairs[:5]:
        add("dot", np.dot, {"x1": numbers(*first), "x2": numbers(*second)})
    for first, second in (((3,), (3,)), ((2, 3), (4, 3)), ((2, 1, 3), (2, 3))):
        add("inner", np.inner, {"x1": numbers(*first), "x2": numbers(*second)})
        add("outer", np.outer, {"x1": numbers(*first), "x2": numbers(*second)})
        add("kron", np.kron, {"x1": numbers(*first), "x2": numbers(*second)})
    for axes in (0, 1, 2):
        add("tensordot", lambda p, q, axes=axes: np.tensordot(p, q, axes), {"x1": numbers(2, 2), "x2": numbers(2, 2)}, {"axes": axes})
    for text, *parts in (("ij,jk->ik", (2, 3), (3, 2)), ("bij,bkj->bik", (2, 2, 3), (2, 4, 3)), ("ii->i", (3, 3)), ("ijk->kj", (2, 3, 2)),
                         ("i,j->ij", (2,), (3,)), ("...i,i->...", (2, 2, 3), (3,))):
        add("einsum", lambda *x, text=text: np.einsum(text, *x), {f"operands/{i}": numbers(*s) for i, s in enumerate(parts)},
            {"subscripts": text})
    for a in (numbers(3, 3), numbers(4, 3)):
        add("cross", np.cross, {"x1": a, "x2": numbers(3)})


def segments_and_sets():
    ids = np.array([0, 2, 0, 1, 2], np.int32)

    def segments(f, data):
        return np.stack([f(data[ids == i], axis=0) for i in range(3)])
    for shape in ((5,), (5, 2), (5, 2, 2)):
        for op, f in {"segment_sum": np.sum, "segment_prod": np.prod, "segment_max": np.max, "segment_min": np.min}.items():
            add(op, lambda data, i, f=f: segments(f, data), {"data": numbers(*shape), "segment_ids": ids}, {"num_segments": 3})
    line = np.sort(numbers(6))
    for side in ("left", "right"):
        for values in (numbers(4), np.append(line[2:4], [9.0, -9.0]).reshape(2, 2)):
            add("searchsorted", lambda s, v, side=side: np.searchsorted(s, v, side).astype(np.int32),
                {"sorted_sequence": line, "values": values}, {"side": side})
    add("digitize", np.digitize, {"x": numbers(2, 3), "bins": line})
    add("bincount", np.bincount, {"x": whole(9, low=0, high=5)})
    for invert in (False, True):
        add("isin", lambda p, q, invert=invert: np.isin(p, q, invert=invert), {"x1": whole(2, 4), "x2": whole(4)}, {"invert": invert})
    add("histogram", lambda x: list(np.histogram(x, 4, (-2, 2))), {"x": numbers(9)}, {"bins": 4, "range": [-2, 2]}, grad=None)
    for shape in ((6,), (2, 5)):
        parts = {"x/0": numbers(*shape), "x/1": numbers(*shape)}

        def pair(z):
            return [z.real, z.imag]
        add("fft", lambda r, i, pair=pair: pair(np.fft.fft(r + 1j * i)), parts)
        add("rfft", lambda x, pair=pair: pair(np.fft.rfft(x)), {"x": numbers(*shape)})
    add("fft2", lambda r, i: pair(np.fft.fft2(r + 1j * i)), {"x/0": numbers(3, 4), "x/1": numbers(3, 4)})
    add("ifft2", lambda r, i: pair(np.fft.ifft2(r + 1j * i)), {"x/0": numbers(3, 4), "x/1": numbers(3, 4)})


def lengths():
    """Adds cases of lengths for which kernels have paths of their own."""
    def pair(z):
        return [z.real, z.imag]
    for n in (1, 2, 7, 16, 37, 60, 96, 210):
        add("fft", lambda r, i: pair(np.fft.fft(r + 1j * i)), {"x/0": numbers(n), "x/1": numbers(n)}, grad="all" if n < 40 else None)
        add("rfft", lambda x: pair(np.fft.rfft(x)), {"x": numbers(2, n)}, grad="all" if n < 40 else None)
    for n, length in ((4, 6), (4, 7), (6, 4), (3, 9)):
        add("irfft", lambda r, i, m=length: np.fft.irfft(np.concatenate([r[:1].real + 0j, (r + 1j * i)[1:]]), m),
            {"x/0": numbers(n), "x/1": numbers(n)}, {"fft_length": length})
        add("rfft", lambda x, m=length: pair(np.fft.rfft(x, m)), {"x": numbers(n)}, {"fft_length": length})
    for shape in ((3, 5), (1, 8), (6, 37)):
        add("fft2", lambda r, i: pair(np.fft.fft2(r + 1j * i)), {"x/0": numbers(*shape), "x/1": numbers(*shape)}, grad="all" if shape[1] < 9 else None)
    ties = (rng.randint(-40, 40, (2, 300)) / 4).astype(np.float64)
    ties[0, ::29] = np.inf
    ties[1, ::31] = -np.inf
    for x in (ties, rng.randint(-(2**31), 2**31 - 1, 500).astype(np.int32), rng.randint(0, 256, 300).astype(np.uint8)):
        add("sort", lambda x: np.sort(x, -1, kind="stable"), {"x": x}, grad=None)
        add("argsort", lambda x: np.argsort(x, -1, kind="stable").astype(np.int32), {"x": x}, grad=None)
    broken = ties[0].copy()
    broken[[3, 77]] = np.nan
    add("sort", np.sort, {"x": broken}, grad=None)
    add("argsort", lambda x: np.argsort(x, kind="stable").astype(np.int32), {"x": broken}, grad=None)
    for k in (1, 4, 250):
        order = np.argsort(-ties, -1, kind="stable")[:, :k]
        add("top_k", lambda x, k=k, order=order: [np.take_along_axis(x, order, -1), order.astype(np.int32)], {"x": ties}, {"k": k}, grad=None)
    long = np.sort(numbers(120, low=-9, high=9))
    for side in ("left", "right"):
        add("searchsorted", lambda s, v, side=side: np.searchsorted(s, v, side).astype(np.int32),
            {"sorted_sequence": long, "values": np.append(long[::7], numbers(20, low=-10, high=10))}, {"side": side})
    many = whole(2, 150, low=-30, high=30)
    add("unique", lambda x: [y.astype(np.int32) for y in np.unique(x, True, True, True)][:1], {"x": many})
    add("isin", np.isin, {"x1": many, "x2": whole(40, low=-60, high=0)})


def awkward():
    """Adds cases of empty tensors, scalars, mixed dtypes, broadcasting and rare arguments."""
    for first, second in (((3,), (3,)), ((2, 1), (1, 3)), ((), (2, 2))):
        add("gammainc", special.gammainc, {"x1": numbers(*first, low=1, high=4), "x2": numbers(*second, low=1, high=5)})
    add("gammainc", special.gammainc, {"x1": np.array([0.25, 40.0, 900.0]), "x2": np.array([0.125, 39.0, 930.0])}, grad=None)
    for op, f in {"sum": np.sum, "prod": np.prod, "cumsum": np.cumsum, "any": np.any, "all": np.all, "count_nonzero": np.count_nonzero}.items():
        for axis in (0, 1):
            add(op, lambda x, f=f, axis=axis: f(x, axis=axis), {"x": np.zeros((0, 3))}, {"axis": axis})
    for op, f in {"floor": np.floor, "exp": np.exp, "abs": np.abs, "sort": np.sort, "relu": lambda x: x}.items():
        add(op, f, {"x": np.zeros((2, 0))})
    add("concatenate", lambda p, q: np.concatenate([p, q]), {"xs/0": np.zeros((0, 2)), "xs/1": numbers(3, 2)}, {"axis": 0}, grad=None)
    add("matmul", np.matmul, {"x1": np.zeros((2, 0)), "x2": np.zeros((0, 3))})
    for op, f in {"sum": np.sum, "mean": np.mean, "max": np.max, "var": np.var, "argmax": lambda x: np.argmax(x).astype(np.int32), "median": np.median}.items():
        add(op, f, {"x": numbers()})
    add("expand_dims", lambda x: np.expand_dims(x, (0, 2)), {"x": numbers(3)}, {"axis": [0, 2]})
    add("squeeze", lambda x: np.squeeze(x, (0, -1)), {"x": numbers(1, 3, 1)}, {"axis": [0, -1]})
    add("moveaxis", lambda x: np.moveaxis(x, (0, 1), (-1, 0)), {"x": numbers(2, 3, 2)}, {"source": [0, 1], "destination": [-1, 0]})
    add("roll", lambda x: np.roll(x, (1, -2), (0, 1)), {"x": numbers(3, 4)}, {"shift": [1, -2], "axis": [0, 1]})
    add("flip", lambda x: np.flip(x, (0, 2)), {"x": numbers(2, 3, 2)}, {"axis": [0, 2]})
    add("rot90", lambda x: np.rot90(x, 3, (2, 0)), {"array": numbers(2, 2, 3)}, {"k": 3, "axes": [2, 0]})
    add("repeat", lambda x: np.repeat(x, [2, 0, 1], 1), {"x": numbers(2, 3)}, {"repeats": [2, 0, 1], "axis": 1})
    add("tile", lambda x: np.tile(x, [2, 1, 2]), {"x": numbers(3)}, {"repeats": [2, 1, 2]})
    add("split", lambda x: np.split(x, [1, 1, 4], 0), {"x": numbers(3, 2)}, {"indices_or_sections": [1, 1, 4], "axis": 0}, grad=None)
    add("take_along_axis", lambda x, i: np.take_along_axis(np.broadcast_to(x, (2, 3)), i, 1),
        {"x": numbers(1, 3), "indices": np.array([[2, 0], [-1, 1]], np.int32)}, {"axis": 1})
    add("take", lambda x, i: np.take(x, i), {"x": numbers(2, 3), "indices": np.array([5, -6, 0], np.int32)})
    for method in ("linear", "lower", "higher", "midpoint", "nearest"):
        add("quantile", lambda x, q, m=method: np.quantile(x, q, axis=(0, 2), method=m), {"x": numbers(3, 2, 3), "q": np.array([0.0, 0.3125, 0.5, 1.0])},
            {"axis": [0, 2], "method": method}, grad=("x",))
        x = numbers(4, 3)
        x[1, 0] = x[2, 2] = np.nan
        add("nanquantile", lambda x, m=method: np.nanquantile(x, 0.25, axis=0, method=m), {"x": x}, {"q": 0.25, "axis": 0, "method": method}, grad=None)
    add("average", lambda x, w: np.average(x, 1, w), {"x": numbers(2, 3), "weights": numbers(3, low=1, high=3)}, {"axis": 1})
    add("trapezoid", lambda y, x: np.trapz(y, x), {"y": numbers(2, 5), "x": np.sort(numbers(5))})
    for mode in ("valid", "same", "full"):
        add("correlate", lambda a, b, m=mode: np.correlate(a, b, m), {"x1": numbers(3), "x2": numbers(5)}, {"mode": mode})
    add("diff", lambda a: np.diff(a, 3, 0), {"a": numbers(6, 2)}, {"n": 3, "axis": 0})
    add("vander", lambda x: np.vander(x, 4), {"x": numbers(3)}, {"N": 4})
    add("cross", np.cross, {"x1": numbers(2, 1, 3), "x2": numbers(4, 3)})
    add("tensordot", lambda p, q: np.tensordot(p, q, [[0, 2], [1, 0]]), {"x1": numbers(2, 3, 4), "x2": numbers(4, 2, 2)}, {"axes": [[0, 2], [1, 0]]})
    add("einsum", lambda *x: np.einsum("ab...,bc->ac...", *x), {"operands/0": numbers(2, 3, 2), "operands/1": numbers(3, 2)}, {"subscripts": "ab...,bc->ac..."})
    add("einsum", lambda *x: np.einsum("i,ij,j->", *x), {"operands/0": numbers(2), "operands/1": numbers(2, 3), "operands/2": numbers(3)}, {"subscripts": "i,ij,j->"})
    for order in (1, -1, "inf", "-inf", 2, -2, "fro", "nuc"):
        ord_ = {"inf": np.inf, "-inf": -np.inf}.get(order, order)
        add("norm", lambda x, o=ord_: np.linalg.norm(x, o, (0, 1)), {"x": numbers(3, 2)}, {"ord": order, "axis": [0, 1]}, rtol=1e-4, atol=1e-4)
    for value in (whole(3), np.array([True, False, True])):
        for op, f in {"mean": np.mean, "exp": np.exp, "sqrt": lambda x: np.sqrt(np.abs(x)), "std": np.std, "median": np.median}.items():
            add(op, lambda x, f=f: f(x.astype(np.float64)), {"x": np.abs(value) if op == "sqrt" else value})
    for op in ("nancumsum", "nancumprod"):
        x = numbers(2, 4)
        x[0, 0] = x[1, 2] = np.nan
        add(op, lambda x, f=getattr(np, op): f(x, axis=1), {"x": x}, {"axis": 1}, grad=None)
    add("meshgrid", lambda p, q, r: np.meshgrid(p, q, r), {"x/0": numbers(2), "x/1": numbers(3), "x/2": numbers(2)})
    add("nan_to_num", lambda x: np.nan_to_num(x, nan=0.5, posinf=9.0, neginf=-8.0), {"x": np.array([np.nan, np.inf, -np.inf, 1.5])},
        {"nan": 0.5, "posinf": 9.0, "neginf": -8.0}, grad=None)
    add("solve_triangular", lambda a, b: scipy.linalg.solve_triangular(a, b), {"a": numbers(3, 3) + 4 * np.eye(3), "b": numbers(3)}, {"lower": False}, grad=None)
    add("lstsq", lambda a, b: np.linalg.lstsq(a, b, None)[0], {"a": np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]), "b": numbers(3)}, grad=None)
    add("pinv", np.linalg.pinv, {"x": numbers(2, 2, 4)}, rtol=1e-4, atol=1e-4)
    add("det", np.linalg.det, {"x": np.zeros((3, 3))}, grad=None)
    add("bincount", lambda x, w: np.bincount(x, w), {"x": whole(7, low=0, high=4), "weights": numbers(7)})


if __name__ == "__main__":
    for family in (elementwise, binary, reductions, shapes, linear_algebra, segments_and_sets,
                   lengths, awkward):
        family()
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "formulas.json"), "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n")
    print(len(cases), "cases of", len(seen), "functions")
