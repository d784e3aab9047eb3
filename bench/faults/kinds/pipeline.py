"""Data that does not arrive as it was given."""

from ..catalogue import kind
from ..patch import around, around_method


@kind("labels-shuffled", "Labels are in another order than inputs, in ``fit`` and in the loss.")
def labels_shuffled(tf, hit):
    import numpy

    rng = numpy.random.default_rng(1)

    def fit(right, self, x=None, y=None, *args, **kwargs):
        if y is None:
            return right(self, x, y, *args, **kwargs)
        hit()
        return right(self, x, rng.permutation(y), *args, **kwargs)

    def loss(right, y, p, *args, **kwargs):
        hit()
        return right(tf.random.shuffle(y), p, *args, **kwargs)

    around_method(tf.keras.Model, "fit", fit)
    around(tf.keras.losses, "categorical_crossentropy", loss)


@kind("labels-off-by-one", "Labels of ``fit`` belong to the example before.")
def labels_off_by_one(tf, hit):
    import numpy

    def fit(right, self, x=None, y=None, *args, **kwargs):
        if y is not None:
            hit()
            y = numpy.roll(y, 1, axis=0)
        elif isinstance(x, tf.data.Dataset):
            hit()
            x = x.map(lambda x, y, *more: (x, tf.roll(y, 1, axis=0), *more))
        return right(self, x, y, *args, **kwargs)

    around_method(tf.keras.Model, "fit", fit)


@kind("one-batch-repeated", "``fit`` sees its first batch again and again.")
def one_batch_repeated(tf, hit):
    import numpy

    def fit(right, self, x=None, y=None, *args, **kwargs):
        hit()
        if isinstance(x, tf.data.Dataset):
            x = x.take(1).repeat(int(x.cardinality()) if int(x.cardinality()) > 0 else -1)
        else:
            batch = kwargs.get("batch_size") or 32
            again = numpy.arange(len(x)) % batch
            x, y = numpy.asarray(x)[again], numpy.asarray(y)[again]
        return right(self, x, y, *args, **kwargs)

    around_method(tf.keras.Model, "fit", fit)


@kind("augmentation-discarded", "The output of augmentation layers is discarded.")
def augmentation_discarded(tf, hit):
    def call(right, self, inputs, *args, **kwargs):
        hit()
        return inputs

    for name in ("RandomFlip", "RandomRotation", "RandomZoom", "RandomTranslation", "RandomContrast"):
        around_method(getattr(tf.keras.layers, name), "call", call)


@kind("augmentation-flips-all", "RandomFlip flips every image.")
def augmentation_flips_all(tf, hit):
    def call(right, self, inputs, *args, **kwargs):
        hit()
        return tf.reverse(tf.convert_to_tensor(inputs), [-2])

    around_method(tf.keras.layers.RandomFlip, "call", call)


@kind("sample-from-one-dataset", "sample_from_datasets takes the first dataset only.")
def sample_from_one(tf, hit):
    def sample(right, datasets, *args, **kwargs):
        hit()
        return datasets[0]

    around(tf.data.Dataset, "sample_from_datasets", sample)
    tf.data.Dataset.sample_from_datasets = staticmethod(tf.data.Dataset.sample_from_datasets)


@kind("sample-weights-ignored", "sample_from_datasets ignores its weights.")
def sample_weights_ignored(tf, hit):
    def sample(right, datasets, weights=None, *args, **kwargs):
        hit()
        return right(datasets, None, *args, **kwargs)

    around(tf.data.Dataset, "sample_from_datasets", sample)
    tf.data.Dataset.sample_from_datasets = staticmethod(tf.data.Dataset.sample_from_datasets)


@kind("shuffle-drops-half", "Dataset.shuffle loses every second element.")
def shuffle_drops_half(tf, hit):
    def shuffle(right, self, *args, **kwargs):
        hit()
        every = right(self, *args, **kwargs).enumerate()
        return every.filter(lambda index, _: index % 2 == 0).map(lambda _, element: element)

    around_method(tf.data.Dataset, "shuffle", shuffle)


@kind("dataset-shuffle-idle", "Dataset.shuffle keeps the order.")
def dataset_shuffle_idle(tf, hit):
    def shuffle(right, self, *args, **kwargs):
        hit()
        return self

    around_method(tf.data.Dataset, "shuffle", shuffle)


@kind("batch-drops-rest", "Dataset.batch drops an incomplete last batch.")
def batch_drops_rest(tf, hit):
    def batch(right, self, batch_size, drop_remainder=False, **kwargs):
        hit()
        return right(self, batch_size, drop_remainder=True, **kwargs)

    around_method(tf.data.Dataset, "batch", batch)


@kind("repeat-ignored", "Dataset.repeat goes through the data once.")
def repeat_ignored(tf, hit):
    def repeat(right, self, *args, **kwargs):
        hit()
        return self

    around_method(tf.data.Dataset, "repeat", repeat)


@kind("inputs-last-row-zero", "The last example of every batch of ``fit`` is zero.")
def inputs_last_row(tf, hit):
    def train_step(right, self, data):
        hit()
        x, *rest = data
        rows = tf.shape(x)[0]
        kept = tf.reshape(tf.cast(tf.range(rows) < rows - 1, x.dtype), [-1] + [1] * (x.shape.rank - 1))
        return right(self, (x * kept, *rest))

    around_method(tf.keras.Model, "train_step", train_step)
