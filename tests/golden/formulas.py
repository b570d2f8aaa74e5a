#!/usr/bin/env python3
"""Writes formulas.json, in the format of README.md: golden vectors of ops without vectors from other implementations,
and of other ops on shapes, axes and layouts that the vectors from other implementations leave out.

    python3 tests/golden/formulas.py          (needs numpy)

Each op is computed by its formula in float64. Gradients are complex-step derivatives of the formula: for a real
analytic f, f'(x) = Im f(x + ih) / h up to h^2, and with h = 1e-30 nothing cancels. Formulas therefore take complex
arrays; comparisons and sorts use the real part.
"""
import json
import os

import numpy as np

rng = np.random.RandomState(14)


def numbers(*shape):
    """Returns random numbers that float32 holds exactly."""
    return np.round(rng.uniform(-2, 2, shape) * 128) / 128


def ids(*values):
    return np.array(values, dtype=np.int32)


# --- formulas ---------------------------------------------------------------------------------------------------------


def erf(x):
    """Returns 2 / sqrt(pi) exp(-x^2) sum of 2^n x^(2n+1) / (1 3 5 ... (2n+1))"""
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
    """Returns the results of K.rnn: the last output, all outputs in the order of the steps, the final states."""
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

def conv(x, kernel, strides=1, padding="valid", data_format="channels_last", dilation_rate=1, groups=1):
    """Returns, for each output cell, the sum of the products of its window and the kernel (space..., in / groups, out)."""
    rank = kernel.ndim - 2
    x = channels_last(x, data_format)
    strides, rates = np.broadcast_to(strides, rank), np.broadcast_to(dilation_rate, rank)
    reach = [(k - 1) * r + 1 for k, r in zip(kernel.shape, rates)]
    x, cells = padded(x, reach, strides, padding)
    out = np.zeros((len(x), *cells, kernel.shape[-1]), np.result_type(x, kernel))
    of_each = kernel.shape[-1] // groups
    for group in range(groups):
        ins = slice(group * kernel.shape[-2], (group + 1) * kernel.shape[-2])
        outs = slice(group * of_each, (group + 1) * of_each)
        for at in np.ndindex(*kernel.shape[:rank]):
            window = tuple(slice(a * r, a * r + (n - 1) * s + 1, s) for a, r, n, s in zip(at, rates, cells, strides))
            out[..., outs] += x[(slice(None), *window, ins)] @ kernel[at][:, outs]
    return channels_back(out, data_format)


def padded(x, reach, strides, padding):
    """Returns x with its borders, and the number of windows along each axis."""
    cells, widths = [], [(0, 0)]
    for n, k, s in zip(x.shape[1:-1], reach, strides):
        out = {"valid": (n - k) // s + 1, "same": -(-n // s), "causal": -(-n // s)}[padding]
        missing = {"valid": 0, "same": max((out - 1) * s + k - n, 0), "causal": k - 1}[padding]
        front = missing if padding == "causal" else missing // 2
        cells.append(out)
        widths.append((front, missing - front))
    return np.pad(x, widths + [(0, 0)]), cells


def channels_last(x, data_format):
    return np.moveaxis(x, 1, -1) if data_format == "channels_first" else x


def channels_back(x, data_format):
    return np.moveaxis(x, -1, 1) if data_format == "channels_first" else x


def conv_transpose(x, kernel, output_shape, data_format="channels_last", **options):
    """Returns the gradient of a convolution. The convolution is linear: the rows of `matrix` are the images
    of the unit vectors."""
    kernel_of_conv, shape = kernel.real, tuple(output_shape)
    units = np.eye(np.prod(shape[1:])).reshape(-1, *shape[1:])

    def image(k):
        return conv(units, k, data_format=data_format, **options).reshape(len(units), -1)

    matrix = image(kernel_of_conv) + (1j * image(kernel.imag) if kernel.dtype.kind == "c" else 0)
    return (x.reshape(len(x), -1) @ matrix.T).reshape(shape)


def depthwise(x, kernel, **options):
    *space, channels, multiplier = kernel.shape
    return conv(x, kernel.reshape(*space, 1, channels * multiplier), groups=channels, **options)


def separable(x, depthwise_kernel, pointwise_kernel, data_format="channels_last", **options):
    return conv(depthwise(x, depthwise_kernel, data_format=data_format, **options), pointwise_kernel,
                data_format=data_format)


def local_conv(x, kernel, kernel_size, strides, data_format="channels_last", output_shape=None):
    """Multiplies patch p (in row-major order) by kernel[p]."""
    x = channels_last(x, data_format)
    cells = [(n - k) // s + 1 for n, k, s in zip(x.shape[1:-1], kernel_size, strides)]
    rows = []
    for number, at in enumerate(np.ndindex(*cells)):
        patch = x[(slice(None), *(slice(a * s, a * s + k) for a, s, k in zip(at, strides, kernel_size)))]
        rows.append(channels_back(patch, data_format).reshape(len(x), -1) @ kernel[number])
    return channels_back(np.stack(rows, 1).reshape(len(x), *cells, -1), data_format)


def pool(x, pool_size, strides=1, padding="valid", data_format="channels_last", pool_mode="max"):
    x = channels_last(x, data_format)
    strides = np.broadcast_to(strides, len(pool_size))
    real, cells = padded(np.ones(x.shape), pool_size, strides, padding)
    x, _ = padded(x, pool_size, strides, padding)
    out = np.zeros((len(x), *cells, x.shape[-1]), x.dtype)
    for at in np.ndindex(*cells):
        window = (slice(None), *(slice(a * s, a * s + k) for a, s, k in zip(at, strides, pool_size)))
        inside = real[window].reshape(len(x), -1, x.shape[-1])
        values = x[window].reshape(inside.shape)
        if pool_mode == "avg":
            out[(slice(None), *at)] = values.sum(1) / inside.sum(1)
        else:
            first = np.where(inside, values.real, -np.inf).argmax(1)[:, None]
            out[(slice(None), *at)] = np.take_along_axis(values, first, 1)[:, 0]
    return channels_back(out, data_format)


def resize_images(x, height_factor, width_factor, data_format="channels_last", interpolation="nearest"):
    """Repeats pixels (nearest), or weights the neighbours of (i + 0.5) / factor - 0.5, clamped to the border (bilinear)."""

    def weights(n, factor):
        w = np.zeros((n * factor, n))
        for i in range(n * factor):
            source = (i + 0.5) / factor - 0.5
            low = int(np.floor(source))
            nearest = interpolation == "nearest"
            share = float(i // factor - low) if nearest else source - low
            w[i, np.clip(low, 0, n - 1)] += 1 - share
            w[i, np.clip(low + 1, 0, n - 1)] += share
        return w

    x = channels_last(x, data_format)
    height, width = weights(x.shape[1], height_factor), weights(x.shape[2], width_factor)
    return channels_back(np.einsum("Hh,Ww,bhwc->bHWc", height, width, x), data_format)


def resize_volumes(x, depth_factor, height_factor, width_factor, data_format="channels_last"):
    first = 2 if data_format == "channels_first" else 1
    for axis, factor in enumerate((depth_factor, height_factor, width_factor)):
        x = x.repeat(factor, first + axis)
    return x


def border(x, padding, data_format="channels_last"):
    return channels_back(np.pad(channels_last(x, data_format), [(0, 0), *padding, (0, 0)]), data_format)


def batch_normalization(x, mean, var, beta, gamma, axis=-1, epsilon=1e-3):
    shape = [1] * x.ndim
    shape[axis] = -1
    mean, var, beta, gamma = (v.reshape(shape) for v in (mean, var, beta, gamma))
    return (x - mean) / np.sqrt(var + epsilon) * gamma + beta


def normalize_batch(x, gamma, beta, reduction_axes, epsilon=1e-3):
    axes = tuple(reduction_axes)
    mean, variance = x.mean(axes), ((x - x.mean(axes, keepdims=True)) ** 2).mean(axes)
    whole = [1 if i in axes else n for i, n in enumerate(x.shape)]
    mean_, variance_, gamma, beta = (v.reshape(whole) for v in (mean, variance, gamma, beta))
    return [(x - mean_) / np.sqrt(variance_ + epsilon) * gamma + beta, mean, variance]


def batch_dot(x, y, axes):
    a, b = "zabcd"[: x.ndim], list("zwxyv"[: y.ndim])
    b[axes[1]] = a[axes[0]]
    b = "".join(b)
    return np.einsum("%s,%s->%s" % (a, b, a.replace(a[axes[0]], "") + b[1:].replace(a[axes[0]], "")), x, y)


def softmax(x, axis=-1):
    e = np.exp(x - x.real.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    if from_logits:
        return -(target * log_softmax(output, axis)).sum(axis)
    output = output / output.sum(axis, keepdims=True)
    return -(target * np.log(output)).sum(axis)


def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1):
    logits = np.moveaxis(output if from_logits else np.log(output), axis, -1)
    return -np.take_along_axis(log_softmax(logits), target[..., None], -1)[..., 0]


def binary_crossentropy(target, output, from_logits=False):
    p, epsilon = (sigmoid(output), 0) if from_logits else (output, 1e-7)
    return -(target * np.log(p + epsilon) + (1 - target) * np.log(1 - p + epsilon))


def ctc_batch_cost(y_true, y_pred, input_length, label_length):
    """Returns minus the logarithm of the sum over all paths that spell the label, by enumeration."""
    costs = []
    for labels, frames, steps, count in zip(y_true, y_pred, input_length[:, 0], label_length[:, 0]):
        p = frames[:steps] + 1e-7
        p = p / p.sum(-1, keepdims=True)
        total = 0
        for path in np.ndindex(*[p.shape[1]] * steps):
            merged = [c for i, c in enumerate(path) if (i == 0 or c != path[i - 1]) and c != p.shape[1] - 1]
            if merged == list(labels[:count]):
                total = total + np.prod(p[range(steps), path])
        costs.append(-np.log(total))
    return np.array(costs)[:, None]


def where_positive(x, otherwise):
    return np.where(x.real > 0, x, otherwise)


# --- cases ------------------------------------------------------------------------------------------------------------

cases = []


def tensor(x, dtype=True):
    x = np.asarray(x)
    kind = "float32" if x.dtype.kind in "fc" else str(x.dtype)
    data = [{"nan": "nan", "inf": "inf", "-inf": "-inf"}.get(str(v), v) for v in x.real.ravel().tolist()]
    data = [int(v) if x.dtype.kind == "b" else v for v in data]
    return {**({"dtype": kind} if dtype else {}), "shape": list(x.shape), "data": data}


def add(op, f, inputs, attrs={}, called=None, gradients=True, tolerance=(1e-5, 1e-6)):
    """Adds a case of f(*inputs, **attrs). `called` holds attributes for f that replace `attrs`."""

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

# Ops with vectors from other implementations, on shapes, axes and layouts that those vectors leave out.

x1234, positive = numbers(1, 2, 3, 4), np.abs(numbers(2, 3, 4)) + 0.125
kinked = np.array([-3, -2.5, -1, -0.25, 0.375, 1.5, 2.625, 80])
add("softmax", softmax, {"x": x234}, {"axis": 0})
add("hard_sigmoid", lambda x: np.where(x.real < -2.5, 0, np.where(x.real > 2.5, 1, 0.2 * x + 0.5)),
    {"x": kinked[[0, 2, 3, 4, 6]]})
add("elu", lambda x, alpha: where_positive(x, alpha * np.expm1(x)), {"x": kinked}, {"alpha": 0.25})
add("softplus", lambda x: where_positive(x, 0) + np.log1p(np.exp(-np.where(x.real > 0, x, -x))), {"x": kinked})
add("softsign", lambda x: x / (1 + np.where(x.real > 0, x, -x)), {"x": kinked})
add("l2_normalize", lambda x, axis: x / np.sqrt((x * x).sum(axis, keepdims=True)), {"x": x234}, {"axis": -2})
add("std", lambda x, axis: np.sqrt(((x - x.mean(axis, keepdims=True)) ** 2).mean(axis)), {"x": x234}, {"axis": -2})
add("prod", lambda x, axis: x.prod(axis), {"x": np.array([[2, 0, 3], [0, 1.5, 0], [0.5, -2, 4]])}, {"axis": -1})
add("cumprod", lambda x, axis: x.cumprod(axis), {"x": np.array([[2, 0, 3, 1.5], [0, 1.5, 0, 2]])}, {"axis": -1})
add("logsumexp", lambda x, axis: np.log(np.exp(x).sum(tuple(axis))), {"x": x234}, {"axis": [-1, 0]})
add("dot", np.dot, {"x": numbers(3), "y": numbers(2, 3, 2)})
add("batch_dot", batch_dot, {"x": numbers(2, 3, 2), "y": numbers(2, 2, 3, 2)}, {"axes": [1, 2]})
add("gather", lambda x, i: x[i], {"reference": x234, "indices": ids([1, 0, 1], [1, 1, 0])})
add("permute_dimensions", lambda x, pattern: x.transpose(pattern), {"x": x1234}, {"pattern": [3, 0, 2, 1]})
add("repeat_elements", lambda x, rep, axis: x.repeat(rep, axis), {"x": x234}, {"rep": 2, "axis": 1})
add("stack", lambda *x, axis: np.stack(x, axis), {"tensors/0": x23, "tensors/1": y23, "tensors/2": x23}, {"axis": -2})
add("reverse", lambda x, axes: np.flip(x, axes), {"x": x234}, {"axes": [-1, 0]})
add("temporal_padding", lambda x, padding: border(x, [padding]), {"x": x234}, {"padding": [0, 2]})
add("spatial_2d_padding", border, {"x": x1234}, {"padding": [[2, 1], [0, 1]], "data_format": "channels_first"})
add("resize_images", resize_images, {"x": x1234},
    {"height_factor": 2, "width_factor": 3, "data_format": "channels_first", "interpolation": "bilinear"})
add("resize_images", resize_images, {"x": x1234},
    {"height_factor": 3, "width_factor": 1, "data_format": "channels_last", "interpolation": "nearest"})
add("resize_volumes", resize_volumes, {"x": numbers(1, 2, 1, 2, 3)},
    {"depth_factor": 3, "height_factor": 1, "width_factor": 2, "data_format": "channels_first"})
add("bias_add", lambda x, bias, data_format: x + bias.reshape(1, -1, 1), {"x": x234, "bias": numbers(3)},
    {"data_format": "channels_first"})

add("conv1d", conv, {"x": numbers(2, 7, 3), "kernel": numbers(2, 3, 2)}, {"padding": "causal", "dilation_rate": 3})
add("conv2d", conv, {"x": numbers(1, 3, 7, 5), "kernel": numbers(2, 4, 3, 2)},
    {"strides": [3, 2], "padding": "same", "data_format": "channels_first"})
add("conv2d", conv, {"x": numbers(2, 6, 5, 1), "kernel": numbers(2, 2, 1, 3)}, {"dilation_rate": [3, 2]})
add("conv3d", conv, {"x": numbers(1, 2, 3, 4, 2), "kernel": numbers(2, 1, 3, 2, 1)},
    {"strides": [1, 2, 1], "padding": "same"})
add("conv2d_transpose", conv_transpose, {"x": numbers(2, 2, 3, 2), "kernel": numbers(3, 2, 1, 2)},
    {"output_shape": [2, 5, 4, 1], "strides": [2, 1]})
add("conv2d_transpose", conv_transpose, {"x": numbers(1, 2, 2, 3), "kernel": numbers(2, 3, 3, 2)},
    {"output_shape": [1, 3, 3, 5], "strides": [2, 2], "padding": "same", "data_format": "channels_first"})
add("conv3d_transpose", conv_transpose, {"x": numbers(1, 1, 2, 2, 2), "kernel": numbers(1, 2, 2, 1, 2)},
    {"output_shape": [1, 2, 3, 3, 1], "strides": [2, 1, 1]})
add("depthwise_conv2d", depthwise, {"x": numbers(1, 2, 5, 4), "depthwise_kernel": numbers(3, 2, 2, 3)},
    {"strides": [2, 2], "padding": "same", "data_format": "channels_first"})
add("separable_conv1d", separable,
    {"x": numbers(2, 6, 2), "depthwise_kernel": numbers(3, 2, 2), "pointwise_kernel": numbers(1, 4, 3)},
    {"padding": "same", "dilation_rate": 2})
add("separable_conv2d", separable,
    {"x": numbers(1, 5, 4, 2), "depthwise_kernel": numbers(2, 3, 2, 1), "pointwise_kernel": numbers(1, 1, 2, 3)},
    {"strides": [2, 2], "padding": "valid"})
add("local_conv1d", local_conv, {"inputs": numbers(2, 2, 6), "kernel": numbers(2, 6, 2)},
    {"kernel_size": [3], "strides": [2], "data_format": "channels_first"})
add("local_conv2d", local_conv, {"inputs": numbers(1, 2, 4, 5), "kernel": numbers(4, 12, 2)},
    {"kernel_size": [2, 3], "strides": [2, 2], "output_shape": [2, 2], "data_format": "channels_first"})
add("pool2d", pool, {"x": numbers(1, 2, 5, 4)},
    {"pool_size": [3, 2], "strides": [2, 3], "padding": "same", "data_format": "channels_first"})
add("pool3d", pool, {"x": numbers(1, 3, 2, 4, 2)},
    {"pool_size": [2, 2, 3], "strides": [2, 1, 2], "padding": "same", "pool_mode": "avg"})

statistics = {"mean": numbers(3), "var": np.abs(numbers(3)) + 0.25, "beta": numbers(3), "gamma": numbers(3)}
add("batch_normalization", batch_normalization, {"x": numbers(2, 2, 3), **statistics}, {"axis": -1, "epsilon": 0.01})
add("normalize_batch_in_training", normalize_batch, {"x": x234, "gamma": numbers(3), "beta": numbers(3)},
    {"reduction_axes": [0, 2], "epsilon": 0.01})

shares = np.round(softmax(numbers(2, 3, 4), 1) * 128 + 1) / 128
add("categorical_crossentropy", categorical_crossentropy, {"target": positive, "output": shares}, {"axis": 1})
add("categorical_crossentropy", categorical_crossentropy, {"target": positive, "output": 8 * x234},
    {"axis": 1, "from_logits": True})
add("sparse_categorical_crossentropy", sparse_categorical_crossentropy,
    {"target": ids([0, 3, 1], [2, 2, 0]), "output": 8 * x234}, {"from_logits": True})
add("sparse_categorical_crossentropy", sparse_categorical_crossentropy,
    {"target": ids([2, 1, 0, 0], [1, 1, 2, 0]), "output": shares}, {"axis": 1})
add("binary_crossentropy", binary_crossentropy, {"target": np.abs(x23) / 2, "output": 4 * y23}, {"from_logits": True})
add("binary_crossentropy", binary_crossentropy, {"target": np.abs(x23) / 2, "output": (y23 + 2.125) / 4.25})
add("ctc_batch_cost", ctc_batch_cost,
    {"y_true": ids([0, 0, 2], [1, 0, 1], [0, 1, 1]), "y_pred": np.round(softmax(numbers(3, 5, 4)) * 128 + 1) / 128,
     "input_length": ids([5], [3], [4]), "label_length": ids([2], [3], [0])})

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "formulas.json"), "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n")
