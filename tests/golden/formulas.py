#!/usr/bin/env python3
"""Writes formulas.json: golden vectors of ops that have none from elsewhere, in the format of README.md.

    python3 tests/golden/formulas.py          (needs numpy)

Each op is its formula in float64. Gradients are complex-step derivatives of the formula: for a real analytic f,
f'(x) = Im f(x + ih) / h up to h^2, and with h = 1e-30 nothing cancels. Formulas therefore take complex arrays; where
they compare or sort, they look at the real part.
"""
import json
import os

import numpy as np

rng = np.random.RandomState(14)


def numbers(*shape):
    """Numbers that float32 holds exactly."""
    return np.round(rng.uniform(-2, 2, shape) * 128) / 128


def ids(*values):
    return np.array(values, dtype=np.int32)


# --- formulas ---------------------------------------------------------------------------------------------------------


def erf(x):
    """2 / sqrt(pi) exp(-x^2) sum of 2^n x^(2n+1) / (1 3 5 ... (2n+1))"""
    term = total = x
    for n in range(1, 200):
        term = term * 2 * x * x / (2 * n + 1)
        total = total + term
    return 2 / np.sqrt(np.pi) * np.exp(-x * x) * total


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x, approximate=False):
    if approximate:
        return x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2
    return x * (1 + erf(x / np.sqrt(2))) / 2


def log_softmax(x, axis=-1):
    x = x - x.real.max(axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def norm(x, axis=None, keepdims=False):
    return np.sqrt((x * x).sum(None if axis is None else tuple(np.atleast_1d(axis)), keepdims=keepdims))


def matmul(a, b, transpose_a=False, transpose_b=False):
    return np.matmul(a.swapaxes(-1, -2) if transpose_a else a, b.swapaxes(-1, -2) if transpose_b else b)


def layer_normalization(x, gamma, beta, axis=-1, epsilon=1e-3):
    axes = tuple(np.atleast_1d(axis))
    mean = x.mean(axes, keepdims=True)
    variance = ((x - mean) ** 2).mean(axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * gamma + beta


def scaled_dot_product_attention(query, key, value, mask=None, causal=False, scale=None):
    scores = np.einsum("bhqd,bhkd->bhqk", query, key) * (query.shape[-1] ** -0.5 if scale is None else scale)
    seen = np.ones(scores.shape)
    if mask is not None:
        seen = seen * (mask != 0)
    if causal:
        seen = seen * np.tril(np.ones(scores.shape[-2:]))
    weights = np.exp(scores - scores.real.max(-1, keepdims=True)) * seen
    total = weights.sum(-1, keepdims=True)
    return np.einsum("bhqk,bhkv->bhqv", weights / np.where(total == 0, 1, total), value)


def sequence(step, x, states, mask=None, go_backwards=False, zero_output_for_mask=False):
    """The last output, all outputs in the order of the steps, the final states, as K.rnn returns them."""
    steps = range(x.shape[1])
    outputs, output = [], np.zeros_like(states[0])
    for t in reversed(steps) if go_backwards else steps:
        new = step(x[:, t], states)
        here = np.ones((len(x), 1)) if mask is None else mask[:, t : t + 1]
        output = np.where(here, new[0], np.zeros_like(output) if zero_output_for_mask else output)
        states = [np.where(here, after, before) for after, before in zip(new, states)]
        outputs.append(output)
    return [output, np.stack(outputs, 1), *states]


def lstm(x, kernel, recurrent_kernel, bias, h, c, **options):
    def step(x, states):
        h, c = states
        i, f, n, o = np.split(x @ kernel + h @ recurrent_kernel + bias, 4, -1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(n)
        return [sigmoid(o) * np.tanh(c), c]

    return sequence(step, x, [h, c], **options)


def gru(x, kernel, recurrent_kernel, bias, h, reset_after=True, **options):
    def step(x, states):
        h = states[0]
        xz, xr, xn = np.split(x @ kernel + (bias[0] if reset_after else bias), 3, -1)
        uz, ur, un = np.split(recurrent_kernel, 3, -1)
        bz, br, bn = np.split(bias[1], 3) if reset_after else (0, 0, 0)
        z, r = sigmoid(xz + h @ uz + bz), sigmoid(xr + h @ ur + br)
        n = np.tanh(xn + (r * (h @ un + bn) if reset_after else (r * h) @ un))
        return [z * h + (1 - z) * n]

    return sequence(step, x, [h], **options)


def simple_rnn(x, kernel, recurrent_kernel, bias, h, activation="tanh", **options):
    act = np.tanh if activation == "tanh" else lambda v: np.where(v.real > 0, v, 0)
    return sequence(lambda x, s: [act(x @ kernel + s[0] @ recurrent_kernel + bias)], x, [h], **options)


def adam_update(x, gradient, m, v, step, learning_rate=1e-3, beta_1=0.9, beta_2=0.999, epsilon=1e-7):
    m, v = beta_1 * m + (1 - beta_1) * gradient, beta_2 * v + (1 - beta_2) * gradient**2
    rate = learning_rate * np.sqrt(1 - beta_2**step) / (1 - beta_1**step)
    return [x - rate * m / (np.sqrt(v) + epsilon), m, v]


def order(x, axis=-1, direction="ASCENDING"):
    return np.argsort(-x.real if direction == "DESCENDING" else x.real, axis, kind="stable")


def sort(values, axis=-1, direction="ASCENDING"):
    return np.take_along_axis(values, order(values, axis, direction), axis)


def top_k(x, k=1):
    first = order(x, -1, "DESCENDING")[..., :k]
    return [np.take_along_axis(x, first, -1), first.astype(np.int32)]


def scatter_nd(indices, updates, shape):
    out = np.zeros(shape, updates.dtype)
    np.add.at(out, tuple(np.moveaxis(indices, -1, 0)), updates)
    return out


def block(x, start, size):
    return x[tuple(slice(a, None if n == -1 else a + n) for a, n in zip(start, size))]


def parts(x, sections, axis=0):
    return np.split(x, sections if isinstance(sections, int) else np.cumsum(sections)[:-1], axis)


def unstack(x, axis=0):
    return [part.squeeze(axis) for part in np.split(x, x.shape[axis], axis)]


def pad(x, paddings, mode="constant", constant_values=0):
    return np.pad(x, paddings, mode, **({"constant_values": constant_values} if mode == "constant" else {}))


def sum_to(x, shape):
    shape = tuple(shape)
    x = x.sum(tuple(range(x.ndim - len(shape)))) if x.ndim > len(shape) else x
    return x.sum(tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)


# --- cases ------------------------------------------------------------------------------------------------------------

cases = []


def tensor(x, dtype=True):
    x = np.asarray(x)
    kind = "float32" if x.dtype.kind in "fc" else str(x.dtype)
    data = [{"nan": "nan", "inf": "inf", "-inf": "-inf"}.get(str(v), v) for v in x.real.ravel().tolist()]
    data = [int(v) if x.dtype.kind == "b" else v for v in data]
    return {**({"dtype": kind} if dtype else {}), "shape": list(x.shape), "data": data}


def add(op, f, inputs, attrs={}, called=None, gradients=True, tolerance=(1e-5, 1e-6)):
    """A case of f(*inputs, **attrs). `called` gives f another form of the attributes."""

    def outputs(arrays):
        result = f(*arrays, **(attrs if called is None else called))
        return result if isinstance(result, list) else [result]

    names, arrays = list(inputs), [np.asarray(x) for x in inputs.values()]
    wanted = outputs(arrays)
    case = {"id": "%s/formula-%d" % (op, sum(c["op"] == op for c in cases) + 1), "op": op}
    case["inputs"] = [{"name": name, **tensor(x)} for name, x in zip(names, arrays)]
    case.update(attrs=attrs, outputs=[tensor(y) for y in wanted])
    floating = [y.dtype.kind == "f" for y in wanted]
    if gradients and any(floating):
        cotangents = [numbers(*y.shape) if is_float else None for y, is_float in zip(wanted, floating)]
        case["cotangents"] = [c if c is None else tensor(c, dtype=False) for c in cotangents]
        case["grads"] = {}
        for k, x in enumerate(arrays):
            if x.dtype.kind != "f":
                continue
            slope = np.zeros(x.shape)
            for at in np.ndindex(x.shape):
                moved = x.astype(complex)
                moved[at] += 1e-30j
                results = outputs(arrays[:k] + [moved] + arrays[k + 1 :])
                slope[at] = sum((y * c).sum().imag / 1e-30 for y, c in zip(results, cotangents) if c is not None)
            case["grads"][names[k]] = tensor(slope, dtype=False)
    case.update(rtol=tolerance[0], atol=tolerance[1], oracles=["formula"])
    cases.append(case)


x23, y23, x234 = numbers(2, 3), numbers(2, 3), numbers(2, 3, 4)
odd = np.array([np.nan, np.inf, -np.inf, 0.0, -1.5])

for op, f in {"erf": erf, "expm1": np.expm1, "gelu": gelu}.items():
    add(op, f, {"x": np.array([-2.5, -1, -0.125, 0, 2**-20, 0.5, 3])})
add("gelu", gelu, {"x": numbers(2, 3)}, {"approximate": True})
add("log1p", np.log1p, {"x": np.array([-0.875, -0.125, 0, 2**-20, 0.5, 30])})
add("is_nan", np.isnan, {"x": odd})
add("is_finite", np.isfinite, {"x": odd})
add("where", lambda c, x, y: np.where(c, x, y), {"condition": x23 > 0, "x": x23, "y": numbers(3)})
add("where", lambda c, x, y: np.where(c, x, y), {"condition": ids([0], [2]), "x": numbers(3), "y": y23})
add("log_softmax", log_softmax, {"x": x23})
add("log_softmax", log_softmax, {"x": x234}, {"axis": 1})
add("norm", norm, {"x": x23})
add("norm", norm, {"x": x234}, {"axis": [0, 2], "keepdims": True})

add("matmul", matmul, {"a": numbers(2, 3), "b": numbers(3, 4)})
add("matmul", matmul, {"a": numbers(2, 1, 2, 3), "b": numbers(2, 3, 2)})
add("matmul", matmul, {"a": numbers(2, 3, 2), "b": numbers(4, 3)}, {"transpose_a": True, "transpose_b": True})
equations = {"bij,bjk->bik": [(2, 2, 3), (2, 3, 2)], "ij,kj": [(2, 3), (4, 3)], "...i,i->...": [(2, 2, 3), (3,)],
             "ij->": [(2, 3)], "abc->cab": [(2, 3, 2)], "i,j,k->kji": [(2,), (3,), (2,)]}
for equation, shapes in equations.items():
    add("einsum", lambda *x, equation: np.einsum(equation, *x),
        {"operands/%d" % i: numbers(*shape) for i, shape in enumerate(shapes)}, {"equation": equation})

qkv = {"query": numbers(2, 1, 3, 2), "key": numbers(2, 1, 4, 2), "value": numbers(2, 1, 4, 3)}
add("scaled_dot_product_attention", scaled_dot_product_attention, qkv)
add("scaled_dot_product_attention", scaled_dot_product_attention, qkv, {"causal": True, "scale": 0.5})
add("scaled_dot_product_attention", scaled_dot_product_attention,
    {**qkv, "mask": np.array([[1, 1, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]]) != 0})

add("layer_normalization", layer_normalization, {"x": x23, "gamma": numbers(3), "beta": numbers(3)})
add("layer_normalization", layer_normalization, {"x": x234, "gamma": numbers(3, 4), "beta": numbers(3, 4)},
    {"axis": [1, 2], "epsilon": 0.01})
add("layer_normalization", layer_normalization, {"x": numbers(2, 3, 2), "gamma": numbers(3, 1), "beta": numbers(3, 1)},
    {"axis": 1})

half = np.array([[1, 0, 1], [1, 1, 0]]) != 0
layers = [("lstm", lstm, 4, 2, {}), ("gru", gru, 3, 1, {}), ("gru", gru, 3, 1, {"reset_after": False}),
          ("simple_rnn", simple_rnn, 1, 1, {}), ("simple_rnn", simple_rnn, 1, 1, {"activation": "relu"})]
for op, f, gates, states, more in layers:
    bias = (2, gates * 2) if op == "gru" and not more else (gates * 2,)
    inputs = {"x": numbers(2, 3, 2), "kernel": numbers(2, gates * 2), "recurrent_kernel": numbers(2, gates * 2),
              "bias": numbers(*bias), **{"initial_states/%d" % i: numbers(2, 2) for i in range(states)}}
    add(op, f, inputs, more)
    masked = {**inputs, "mask": half}
    add(op, lambda *x, f=f, **options: f(*x[:-1], mask=x[-1], **options), masked,
        {**more, "go_backwards": True, "zero_output_for_mask": not more})

add("sort", sort, {"values": x234})
add("sort", sort, {"values": x234}, {"axis": 1, "direction": "DESCENDING"})
add("argsort", lambda x: order(x).astype(np.int32), {"values": np.array([[2, 1.5, 2, -1], [0, 0, 3, 0]])})
add("top_k", top_k, {"x": x234}, {"k": 2})
add("gather_nd", lambda x, i: x[tuple(np.moveaxis(i, -1, 0))], {"params": x234, "indices": ids([0, 2], [1, 0], [0, 2])})
add("scatter_nd", scatter_nd, {"indices": ids([2], [0], [2]), "updates": numbers(3, 2)}, {"shape": [4, 2]})
add("index", lambda x, indices: x[1, ::-2, 1:], {"x": x234}, {"indices": [1, [None, None, -2], [1, None, None]]})
add("slice", block, {"x": x234}, {"start": [0, 1, 2], "size": [2, -1, 1]})
add("split", parts, {"x": x234}, {"sections": 2, "axis": 2})
add("split", parts, {"x": x234}, {"sections": [1, 2], "axis": 1})
add("unstack", unstack, {"x": x234}, {"axis": 1})
add("pad", pad, {"x": x23}, {"paddings": [[1, 0], [0, 2]], "constant_values": 0.5})
add("pad", pad, {"x": x23}, {"paddings": [[0, 1], [2, 1]], "mode": "reflect"})
add("pad", pad, {"x": x23}, {"paddings": [[1, 1], [0, 2]], "mode": "symmetric"})
add("broadcast_to", lambda x, shape: x + np.zeros(shape), {"x": numbers(3, 1)}, {"shape": [2, 3, 2]})
add("sum_to", sum_to, {"x": numbers(2, 3, 2)}, {"shape": [3, 1]})

add("full", lambda shape, value: np.full(shape, value), {}, {"shape": [2, 2], "value": 1.5}, gradients=False)
add("size", lambda x: ids(x.size)[0], {"x": x234})
add("cast_to_floatx", lambda x: x.astype(float), {"x": ids(3, -2, 0)}, gradients=False)
moments = {"x": numbers(3), "gradient": numbers(3), "m": numbers(3), "v": np.abs(numbers(3))}
add("adam_update", adam_update, moments, {"step": 3, "learning_rate": 0.125, "epsilon": 1e-6}, gradients=False)
add("adam_update", adam_update, {**moments, "m": np.zeros(3), "v": np.zeros(3)}, {"step": 1}, gradients=False)

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "formulas.json"), "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n")
