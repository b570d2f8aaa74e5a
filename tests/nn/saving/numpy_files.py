"""The Python part of numpy_test.cpp: checks or writes files with NumPy, and .safetensors files without a library.

    numpy_files.py check|write folder
"""
import json
import struct
import sys

import numpy as np

CODES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
         "U8": "u1", "BOOL": "?", "BF16": "V2"}


def counted(shape, dtype):
    return np.arange(np.prod(shape, dtype=int)).astype(dtype).reshape(shape)


BRAIN = (counted((2, 3), "f4").view("u4") >> 16).astype("u2").view("V2")  # NumPy has no bfloat16
ARRAYS = {
    "double/matrix": counted((2, 3), "f8"), "single": counted((5,), "f4"), "half": counted((2, 2, 2), "f2"),
    "brain": BRAIN,
    "long": counted((3,), "i8"), "int": counted((1, 4), "i4"), "short": counted((3,), "i2"),
    "byte": counted((3,), "i1"), "unsigned": counted((300,), "u1"), "flag": counted((3,), "?"),
    "number": counted((), "f4"), "nothing": counted((0, 4), "f8"), "\u00e9": counted((1,), "f4"),
}


def read_safetensors(path):
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + length].decode("utf-8"))
    metadata = header.pop("__metadata__", {})
    arrays = {}
    end = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, after = entry["data_offsets"]
        assert begin == end, name
        end = after
        dtype = np.dtype(CODES[entry["dtype"]])
        assert (8 + length + begin) % dtype.itemsize == 0, name
        data = np.frombuffer(content[8 + length + begin:8 + length + after], dtype)
        arrays[name] = data.reshape(entry["shape"])
    assert 8 + length + end == len(content)
    return arrays, metadata


def write_safetensors(path, arrays, metadata):
    names = {np.dtype(dtype): code for code, dtype in CODES.items()}
    header, data = {"__metadata__": metadata}, b""
    for name, array in arrays.items():
        header[name] = {"dtype": names[array.dtype], "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode("utf-8")
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def same(arrays, expected):
    assert list(arrays) == list(expected), list(arrays)
    for name, array in expected.items():
        got = arrays[name]
        assert got.dtype == array.dtype and got.shape == array.shape, (name, got.dtype, got.shape)
        assert np.array_equal(got, array), (name, got)


def check(folder):
    with np.load(folder + "/ours.npz") as file:
        same(dict(file), ARRAYS)
    arrays, metadata = read_safetensors(folder + "/ours.safetensors")
    assert set(arrays) == set(ARRAYS)
    same({name: arrays[name] for name in ARRAYS}, ARRAYS)
    assert metadata == {"made": "by \"ktape\"\n\u00e9"}, metadata

    with np.load(folder + "/model.npz") as file:
        weights = dict(file)
    assert [(name, array.shape) for name, array in weights.items()] == [
        ("hidden/kernel", (6, 8)), ("hidden/bias", (8,)), ("norm/gamma", (8,)), ("norm/beta", (8,)),
        ("norm/moving_mean", (8,)), ("norm/moving_variance", (8,)), ("scores/kernel", (8, 3)),
        ("scores/bias", (3,))], weights.keys()
    same(read_safetensors(folder + "/model.safetensors")[0], weights)
    whole, metadata = read_safetensors(folder + "/model.ktape")
    training = json.loads(metadata["training"])
    same({name: array for name, array in whole.items() if name not in training["tensors"]}, weights)
    assert metadata["format"] == "ktape" and metadata["version"] == "1"
    layers = json.loads(metadata["architecture"])["config"]["layers"]
    assert [layer["class_name"] for layer in layers] == ["InputLayer", "Dense", "BatchNormalization", "Dense"]
    assert json.loads(metadata["compile"])["optimizer"]["class_name"] == "Adam"
    assert whole["optimizer/0"] == 1 and training["optimizer"]["variables"][0] == 0

    weights["scores/bias"] = np.array([1, 2, 3], "f4")
    np.savez(folder + "/changed.npz", **weights)
    write_safetensors(folder + "/changed.safetensors", weights, {})


def write(folder):
    np.savez(folder + "/theirs.npz", **ARRAYS)
    np.savez_compressed(folder + "/compressed.npz", **ARRAYS)
    big = {name: array.astype(array.dtype.newbyteorder(">")) for name, array in ARRAYS.items()}
    np.savez(folder + "/big.npz", **big)
    np.savez(folder + "/columns.npz", **{name: np.array(array, order="F") for name, array in ARRAYS.items()})
    write_safetensors(folder + "/theirs.safetensors", ARRAYS, {"made": "by NumPy \u00e9"})


{"check": check, "write": write}[sys.argv[1]](sys.argv[2])
