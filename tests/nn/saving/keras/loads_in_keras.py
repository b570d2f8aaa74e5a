"""The Python part of loads_in_keras_test.cpp: loads each model of a folder with Keras, and compares its predictions.

    loads_in_keras.py FOLDER

NAME.npz has the inputs (in0, in1, ...) and the outputs (out0, ...) of the models NAME.keras and NAME.h5. A line
of the output is the name of a file and the reason why it is wrong.
"""
import pathlib
import sys

import keras
import numpy as np

# What a backend of Keras lacks: half precision and negative steps in PyTorch, lookups without TensorFlow.
LIMITS = ("not implemented for", "step must be greater than zero", "ZeroDivisionError", "requires TensorFlow")
TOLERANCES = {"float32": 1e-5, "mixed_float16": 4e-3, "mixed_bfloat16": 3e-2}


def reason(path, arrays):
    model = keras.models.load_model(path, compile=path.stem.startswith("compiled"))
    inputs = [arrays[name] for name in sorted(arrays) if name.startswith("in")]
    expected = [arrays[name] for name in sorted(arrays) if name.startswith("out")]
    received = model(inputs if len(inputs) > 1 else inputs[0], training=False)
    received = [keras.ops.convert_to_numpy(keras.ops.cast(x, "float32")) for x in keras.tree.flatten(received)]
    if len(received) != len(expected):
        return f"{len(received)} outputs, not {len(expected)}"
    for x, y in zip(received, expected):
        if x.shape != y.shape:
            return f"an output of the shape {x.shape}, not {y.shape}"
        tolerance = next((t for name, t in TOLERANCES.items() if path.stem.endswith(name)), 1e-5)
        if not np.allclose(x, y, tolerance, tolerance, equal_nan=True):
            return f"outputs differ by {np.max(np.abs(x - y))}"
    # Keras cannot continue the training of its own .h5 files: the optimizer takes the variables for unknown.
    continues = "target" in arrays and path.suffix == ".keras"
    return training_reason(model, inputs[0], arrays) if continues else ""


def training_reason(model, x, arrays):
    """Compares the weights after a further step of training."""
    model.train_on_batch(x, arrays["target"])
    expected = [arrays[name] for name in sorted(arrays) if name.startswith("trained")]
    for variable, y in zip(model.get_weights(), expected):
        if not np.allclose(variable, y, 1e-4, 1e-5):
            return f"a step of training differs by {np.max(np.abs(variable - y))}"
    return ""


def main():
    folder = pathlib.Path(sys.argv[1])
    files = sorted(path for path in folder.iterdir() if path.suffix in (".keras", ".h5"))
    for path in files:
        try:
            text = reason(path, np.load(path.with_suffix(".npz")))
        except Exception as error:
            text = " ".join(repr(error).split())
        if text and not any(limit in text for limit in LIMITS):
            text = text[:400]
            print(f"{path.name}: {text}")
    print(f"{len(files)} files, Keras {keras.__version__}")


main()
