"""Runs in a target interpreter, in one process: S1's and S2's own arithmetic, and what they say of faults.

``python ops_checks.py CHILD_FOLDER BENCH_FOLDER JSON``: the JSON maps a fault of the bench to rows to run
beside the quick ones; printed is a JSON object from each fault to the checks that failed and their words.
"""

import importlib
import json
import os
import sys

import numpy as np


def main(folder, bench, faults):
    sys.path.insert(0, bench)
    package = importlib.import_module("child_package")
    child = package.import_child(folder)
    references(child("ops_reference"))
    events = child("context").Events(os.devnull)
    context = child("context").Context(package.request("quick", 5, "cpu"), events)
    child("s0_import").run(context)
    rows = {op.name: op for op in child("ops_table").all_rows()}
    exact(context, rows.values())
    patch = importlib.import_module("faults.patch")
    catalogue = importlib.import_module("faults.catalogue")
    said = {}
    for fault, names in json.loads(faults).items():
        catalogue.FAULTS[fault].inject(context.tf, lambda: None)
        said[fault] = failures(context, [rows[name] for name in names])
        patch._wrong_kernels.clear()
    sys.stdout.write("\n" + json.dumps(said) + "\n")


def failures(context, rows):
    """What the quick stages and ``rows`` say is wrong, by check."""
    run = importlib.import_module("child.ops_run")
    dtypes = importlib.import_module("child.ops").ALL_DTYPES
    found = [
        m for stage in ("s1_ops", "s2_fused") for m in importlib.import_module("child." + stage).run(context)
    ]
    found += [one.measurement("S1") for one in run.run_rows(context, "S1", rows, dtypes).values()]
    wrong = {}
    for m in found:
        high = m["rule"].get("high")
        right = (
            m["got"] == m["expected"]
            if high is None
            else m["statistic"] is not None and m["statistic"] <= high
        )
        if not right:
            wrong[m["id"]] = m["got"]
    return wrong


def exact(context, rows):
    """Whatever is compared exactly in a format of few bits stays within the integers that it holds."""
    ops = importlib.import_module("child.ops")
    for op in rows:
        case = ops.Case(context, "S1", op)
        if op.tolerance:
            assert op.dtypes == ("float32",), op.name
            continue
        gradients = [one for one, along in zip(case.gradients, case.directions) if along is None]
        floats = [each for each in (*case.outputs, *gradients) if each.dtype.kind == "f"]
        largest = max((np.abs(each).max(initial=0) for each in floats), default=0)
        assert "bfloat16" not in op.dtypes or largest <= 256, (op.name, largest)
        assert "float16" not in op.dtypes or largest <= 2048, (op.name, largest)
        for dtype in op.dtypes:
            kind = context.tf.as_dtype(dtype).as_numpy_dtype
            for array in (each for each in case.arrays if each.dtype.kind == "f"):
                assert (array.astype(kind).astype("float64") == array).all(), (op.name, dtype)


def references(ref):
    """NumPy's convolutions against sums written out, and what the others are by definition."""
    rng = np.random.default_rng(1)
    x, k = rng.integers(-3, 4, (2, 5, 6, 3)), rng.integers(-3, 4, (2, 3, 3, 4))
    padded = np.pad(x, [[0, 0], [0, 1], [1, 1], [0, 0]])
    want = np.zeros((2, 5, 6, 4))
    for n, h, w, c, i, j, o in np.ndindex(2, 5, 6, 3, 2, 3, 4):
        want[n, h, w, o] += padded[n, h + i, w + j, c] * k[i, j, c, o]
    assert (ref.convolution(np, x, k, same=True) == want).all()
    assert (ref.convolution(np, x, k) == want[:, :4, 1:5]).all()
    assert (ref.convolution(np, x, k, stride=2) == want[:, :4:2, 1:5:2]).all()
    each = [ref.convolution(np, x[..., c : c + 1], k[:, :, c : c + 1]) for c in range(3)]
    assert (ref.depthwise(np, x, k) == np.stack(each, 3).reshape(2, 4, 4, 12)).all()
    # A transposed convolution is the gradient of the convolution: <conv(a), b> = <a, transposed(b)>.
    a, b = rng.integers(-3, 4, (1, 7, 7, 2)), rng.integers(-3, 4, (1, 3, 3, 4))
    kernel = rng.integers(-3, 4, (3, 3, 2, 4))
    forth = (ref.convolution(np, a, kernel, stride=2) * b).sum()
    assert forth == (a * ref.transposed_convolution(np, b, kernel, 2)).sum()
    z = rng.standard_normal((4, 5))
    assert np.allclose(ref.softmax(np, z).sum(1), 1)
    assert np.allclose(
        ref.cross_entropy(np, z, np.eye(5)[[0, 1, 2, 3]]), -np.log(ref.softmax(np, z)).diagonal()
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
