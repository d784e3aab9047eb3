"""S8, first half: train a classifier, save it in every way people do; :mod:`.s8_load` loads it elsewhere.

"99 % accuracy, and 33 % in another notebook" had two causes: normalisation statistics computed anew from
other data, and weights loaded without their architecture. So the model holds an adapted normalisation layer.
"""

from __future__ import annotations

import time

from . import saved
from .context import placed_on
from .tasks import CLASSES

#: Prototypes of 24 that must be named rightly, by chance less often than 1e-11: equal answers of models that
#: know nothing would prove nothing.
_LEAST = 18


def run(context):
    """Train, save whole, as weights and exported, and leave the answers to expect."""
    np, keras = context.np, context.keras
    began = time.perf_counter()
    context.reseed("saved")
    ((x, labels, _), (x_test, labels_test, group)), groups = saved.examples(context)
    model = saved.classifier(context)
    context.step("adapt normalisation")
    model.get_layer("normalisation").adapt(x)
    model.compile(
        optimizer=keras.optimizers.Adam(0.02),
        loss="categorical_crossentropy",
        metrics=["accuracy"],
        jit_compile=False,
    )
    one_hot = np.eye(CLASSES, dtype="float32")
    context.step("fit classifier to be saved")
    history = model.fit(x, one_hot[labels], batch_size=64, epochs=12, verbose=0)
    context.step("evaluate classifier to be saved")
    loss, accuracy = model.evaluate(x_test, one_hot[labels_test], batch_size=len(x_test), verbose=0)
    answers = model(x_test, training=False)
    state = saved.state_of(model)
    for kind, name in saved.WHOLE.items():
        context.step(f"save whole model as .{kind}")
        model.save(saved.path(context, name))
    context.step("save weights")
    model.save_weights(saved.path(context, saved.WEIGHTS))
    context.step("export SavedModel")
    export = getattr(model, "export", None)
    if export is not None:
        export(saved.path(context, saved.EXPORTED))
    np.savez(
        saved.path(context, saved.EXPECTED),
        x=x_test,
        targets=one_hot[labels_test],
        answers=answers.numpy(),
        loss=loss,
        accuracy=accuracy,
        **state,
    )
    context.keep("saved", history.history["loss"], answers.numpy())
    return [
        groups.named_rightly(
            "S8.trained",
            "prototypes named rightly by the model that is saved",
            answers.numpy().argmax(1) == labels_test,
            group,
            _LEAST,
            device=placed_on(answers),
            seconds=time.perf_counter() - began,
        )
    ]
