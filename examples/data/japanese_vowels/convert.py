# SPDX-License-Identifier: Apache-2.0
"""Makes japanese_vowels.msgpack of the data set's text files.

usage: convert.py JapaneseVowels_TRAIN.ts JapaneseVowels_TEST.ts     (needs numpy, msgpack)

The output is a tree of arrays in Dopamine's MessagePack encoding: {train, test} of {frames float32 [all frames, 12],
lengths int32 [utterances], labels int32 [utterances]}; the frames of all utterances stand one after the other.
"""
import pathlib
import sys

import msgpack
import numpy as np


def read(path):
    utterances, labels = [], []
    with open(path) as lines:
        for line in lines:
            if not line.strip() or line[0] in "#@":
                continue
            *channels, label = line.strip().split(":")
            utterances.append(np.array([channel.split(",") for channel in channels], np.float32).T)
            labels.append(int(label) - 1)
    lengths = np.array([len(u) for u in utterances], np.int32)
    return {"frames": np.concatenate(utterances), "lengths": lengths, "labels": np.array(labels, np.int32)}


def encode(array):
    order = {"order": "C"} if sum(size > 1 for size in array.shape) > 1 else {}
    return {"shape": list(array.shape), "data": array.tobytes(), "dtype": repr(array.dtype.str), **order}


if __name__ == "__main__":
    parts = {"train": read(sys.argv[1]), "test": read(sys.argv[2])}
    packed = msgpack.packb({part: {name: encode(array) for name, array in arrays.items()} for part, arrays in parts.items()})
    pathlib.Path(__file__).with_name("japanese_vowels.msgpack").write_bytes(packed)
