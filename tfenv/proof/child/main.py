"""Entry of the child: ``python main.py REQUEST``, a JSON file; results go to the event file it names.

Exit status: 0 when the battery ran to its end, whatever it found; the findings are in the events. Anything
else is a crash, which the tfenv process decodes together with the last step announced.
"""

from __future__ import annotations

import sys

# Started by its path, this folder is the first entry of the import path, and any name in it would shadow a
# module of the user's stack.
HERE = sys.path.pop(0) if not getattr(sys.flags, "safe_path", False) else None

import faulthandler  # noqa: E402
import importlib  # noqa: E402
import importlib.util  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import time  # noqa: E402
import traceback  # noqa: E402

PACKAGE = "_tfenv_proof_child"
TRACEBACK_LINES = 40


def main(request_path):
    """Run the stages that the request asks for, in order; the exit status."""
    with open(request_path, encoding="utf-8") as file:
        request = json.load(file)
    stacks = open(request["stacks"], "w")  # noqa: SIM115 - faulthandler needs it open until the process ends
    faulthandler.enable(stacks, all_threads=True)
    _import_package()
    context_module = importlib.import_module(PACKAGE + ".context")
    registry = importlib.import_module(PACKAGE + ".registry")
    events = context_module.Events(request["events"])
    events.emit("start", pid=os.getpid(), python=sys.version.split()[0], executable=sys.executable)
    context = context_module.Context(request, events)
    for spec in map(registry.stage, request["stages"]):
        limit = min(spec.limit, request["limit"] or spec.limit)
        # A child that its parent cannot kill any more ends itself, and says where it hung.
        faulthandler.dump_traceback_later(limit, exit=True, file=stacks)
        passed = _run_stage(spec, context, events, limit)
        faulthandler.cancel_dump_traceback_later()
        if spec.essential and not passed:
            break
    events.emit("end", peak_memory=_peak_memory())
    return request["teardown"]


def _run_stage(spec, context, events, limit):
    events.emit("stage", stage=spec.id, limit=limit)
    context.stage_id = spec.id
    context.losses, context.digests = [], []
    began = time.perf_counter()
    try:
        measurements = importlib.import_module(PACKAGE + "." + spec.module_in(context.process)).run(context)
    except BaseException as error:  # also SystemExit: a package may call sys.exit() while it is imported
        events.emit(
            "error",
            stage=spec.id,
            seconds=round(time.perf_counter() - began, 4),
            type=type(error).__name__,
            message=str(error)[:4000],
            traceback=_traceback(error),
        )
        return False
    events.emit(
        "done",
        stage=spec.id,
        seconds=round(time.perf_counter() - began, 4),
        measurements=measurements,
        losses=context.losses,
        digests=context.digests,
    )
    return True


def _traceback(error):
    """The end of the traceback, without this file, the import system's frames and markers under the code."""
    first = error.__traceback__.tb_next or error.__traceback__
    lines = "".join(traceback.format_exception(type(error), error, first)).splitlines()
    telling = [line for line in lines if line.strip("^~ ") and "importlib" not in line]
    return telling[-TRACEBACK_LINES:]


def _import_package():
    folder = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = module
    spec.loader.exec_module(module)


def _peak_memory():
    """The most memory this process ever held, in bytes; None where the system does not say."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    teardown = main(sys.argv[1])
    sys.stdout.flush()
    sys.stderr.flush()
    if not teardown:
        # Tearing TensorFlow down takes a tenth of its import and adds nothing to a quick proof.
        os._exit(0)
