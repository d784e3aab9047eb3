"""The mutation bench: faults of a TensorFlow stack, and which stage of the proof finds them."""
