"""What every stage is given: the request, TensorFlow, and a way to say what is being done."""

from __future__ import annotations

import hashlib
import json
import math
import os
import time


class Events:
    """JSON lines to a file of their own, each written at once, so that a crash is attributed to its step."""

    def __init__(self, path):
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def emit(self, event, **data):
        """Write one event."""
        line = json.dumps({"event": event, "time": time.time(), **data}, allow_nan=False)
        os.write(self._fd, line.encode() + b"\n")


class Context:
    """The state of one run of the battery.

    Stage S0 sets ``tf``, ``np``, ``keras`` and ``device``, the kind TensorFlow will use ("CPU", "GPU").
    ``process`` is 0 in the first process of a proof and 1 or 2 in the fresh ones; ``exchange`` is the folder
    where the first leaves what the fresh ones read.
    """

    def __init__(self, request, events):
        self.level = request["level"]
        self.wanted_device = request["device"]
        self.seed = request["seed"]
        self.process = request["process"]
        self.exchange = request["exchange"]
        self.tf = None
        self.np = None
        self.keras = None
        self.device = "CPU"
        self.stage_id = ""
        self.losses = []
        self.digests = []
        self._events = events
        self._shared = {}

    def step(self, name):
        """Say that ``name`` begins: what a crash or hang will be blamed on."""
        self._events.emit("step", stage=self.stage_id, step=name)

    def report(self, **data):
        """Tell a fact about the stack, such as its versions."""
        self.tell("stack", stack=data)

    def tell(self, event, **data):
        """Write an event that is neither a step nor the end of a stage."""
        self._events.emit(event, **data)

    def keep(self, task, losses, *results):
        """Keep the loss curve of a task, and a digest of the exact bits of losses and results."""
        self.curve(task, losses)
        self.digest(task, self.np.float64(losses), *results)

    def curve(self, task, losses):
        """Keep the loss curve of a task; nine digits tell every float32 apart."""
        finite = [float(f"{loss:.9g}") for loss in losses if math.isfinite(loss)]
        self.losses.append({"task": task, "losses": finite})

    def digest(self, task, *arrays):
        """Keep a digest of the exact bits of ``arrays``."""
        state = hashlib.sha256()
        for array in arrays:
            state.update(self.np.ascontiguousarray(array).tobytes())
        self.digests.append({"task": task, "value": state.hexdigest()[:16]})

    def shared(self, name, build):
        """What ``build`` made for ``name``, built once a process: traced graphs are what a proof pays for."""
        if name not in self._shared:
            self._shared[name] = build(self)
        return self._shared[name]

    def generator(self, name):
        """A NumPy generator that depends on the seed and ``name`` only, not on which stages ran before."""
        return self.np.random.default_rng([self.seed, *name.encode()])

    def reseed(self, name):
        """Seed TensorFlow, Keras, NumPy and ``random`` from the seed and ``name``."""
        self.keras.utils.set_random_seed(int(self.generator(name).integers(2**31)))


def placed_on(tensor):
    """The device a tensor really is on, short: "CPU:0"."""
    return str(tensor.device).rpartition("device:")[2] or "unknown"
