# /// script
# requires-python = ">=3.11"
# dependencies = ["torch==2.15.0", "numpy==2.4.6"]
# ///
"""Makes the golden values of EEGNet (see README.md) with torch's autograd in f64.

The layers are those of the paper. The dropout masks are those of fedspd: a ChaCha8 generator keyed
by (seed, purpose, round, client, epoch), one stream per trial.
"""

import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

HERE = Path(__file__).parent
SEED = 20261116
STEPS, RATE = 20, 1e-3

CASES = {
    "even": dict(channels=5, samples=70, classes=3, filters=3, depth=2, rows=5, temporal_taps=12, separable_taps=6, pools=[4, 3], dropout=0.25,
                 momentum=0.1, epsilon=1e-5, trials=12, batch=[7, 0, 3, 11, 5, 2, 9, 1, 10]),
    "odd": dict(channels=4, samples=67, classes=4, filters=8, depth=2, rows=16, temporal_taps=9, separable_taps=3, pools=[4, 8], dropout=0.0,
                momentum=0.01, epsilon=1e-3, trials=20, batch=list(range(19, 0, -1))),
    # More trials than a tile of 16, a dropout rate that 16 bits must round, and an epsilon that
    # lets gradients through to BN1.
    "tiles": dict(channels=3, samples=40, classes=2, filters=2, depth=2, rows=3, temporal_taps=8, separable_taps=4, pools=[2, 3], dropout=0.3,
                  momentum=0.1, epsilon=0.5, trials=36, batch=list(range(1, 36))),
}


def chacha8(key, stream, words):
    """Returns the first words of a ChaCha stream with 8 rounds.

    The 64-bit counter starts at 0; the stream number has 64 bits.
    """
    out, counter = [], 0
    while len(out) < words:
        state = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *key, counter & 0xFFFFFFFF, counter >> 32, stream & 0xFFFFFFFF, stream >> 32]
        x = list(state)

        def quarter(a, b, c, d):
            for i, j, k, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                x[i] = (x[i] + x[j]) & 0xFFFFFFFF
                x[k] ^= x[i]
                x[k] = ((x[k] << n) | (x[k] >> (32 - n))) & 0xFFFFFFFF

        for _ in range(4):
            for q in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15), (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)):
                quarter(*q)
        out += [(a + b) & 0xFFFFFFFF for a, b in zip(x, state)]
        counter += 1
    return out[:words]


def masks(case, first):
    """Returns the dropout masks after each pooling, for each trial of the batch.

    A kept entry is 1 divided by the probability of keeping it. 16 random bits decide.
    """
    rows = [case["filters"] * case["depth"], case["rows"]]
    samples = [case["samples"] // case["pools"][0], case["samples"] // case["pools"][0] // case["pools"][1]]
    bound = round((1 - case["dropout"]) * 65536)
    key = [SEED & 0xFFFFFFFF, SEED >> 32, 3, 0, 0, 0, 0, 0]  # purpose 3 is dropout
    result = [np.ones((len(case["batch"]), n, t)) for n, t in zip(rows, samples)]
    if case["dropout"] == 0:
        return [torch.tensor(m) for m in result]
    total = sum(n * t for n, t in zip(rows, samples))
    for place in range(len(case["batch"])):
        words = chacha8(key, first + place, (total + 1) // 2)
        halves = [half for word in words for half in (word & 0xFFFF, word >> 16)]
        start = 0
        for mask, n, t in zip(result, rows, samples):
            kept = np.array(halves[start : start + n * t]) < bound
            mask[place] = kept.reshape(t, n).T * (65536 / bound)
            start += n * t
    return [torch.tensor(m) for m in result]


def parameters(case, rng):
    """Returns parameters in the order of fedspd's layout, away from special initial values."""
    first, second = case["filters"] * case["depth"], case["rows"]
    features = second * (case["samples"] // case["pools"][0] // case["pools"][1])
    sizes = {"temporal.weight": (case["filters"], case["temporal_taps"])}
    norm = lambda name, n: {f"{name}.{part}": (n,) for part in ("scale", "shift", "mean", "variance")}
    sizes |= norm("norm1", case["filters"]) | {"spatial.weight": (first, case["channels"])} | norm("norm2", first)
    sizes |= {"depthwise.weight": (first, case["separable_taps"]), "pointwise.weight": (second, first)} | norm("norm3", second)
    sizes |= {"head.weight": (case["classes"], features), "head.bias": (case["classes"],)}
    values = {}
    for name, size in sizes.items():
        x = 0.4 * rng.normal(size=size)
        values[name] = torch.tensor(np.exp(x) if name.endswith(("scale", "variance")) else x)
    return values


def network(case, p, x, kept, training):
    """Returns logits. x: trials x channels x samples. Training updates running statistics in p."""
    def norm(x, name):
        return F.batch_norm(x, p[f"{name}.mean"], p[f"{name}.variance"], p[f"{name}.scale"], p[f"{name}.shift"], training, case["momentum"], case["epsilon"])

    def same(x, weight, groups):
        taps = weight.shape[-1]
        left = (taps - 1) // 2
        return F.conv2d(F.pad(x, (left, taps - 1 - left)), weight, groups=groups)

    filters, first = case["filters"], case["filters"] * case["depth"]
    x = same(x[:, None], p["temporal.weight"][:, None, None, :], 1)
    x = norm(x, "norm1")
    x = F.conv2d(x, p["spatial.weight"][:, None, :, None], groups=filters)
    x = F.avg_pool2d(F.elu(norm(x, "norm2")), (1, case["pools"][0])) * kept[0][:, :, None, :]
    x = same(x, p["depthwise.weight"][:, None, None, :], first)
    x = F.conv2d(x, p["pointwise.weight"][:, :, None, None])
    x = F.avg_pool2d(F.elu(norm(x, "norm3")), (1, case["pools"][1])) * kept[1][:, :, None, :]
    return F.linear(x.flatten(1), p["head.weight"], p["head.bias"])


def flat(p):
    return np.concatenate([value.detach().numpy().ravel() for value in p.values()])


def make(name, case):
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=(case["trials"], case["channels"], case["samples"])) + 0.3 * np.sin(np.arange(case["samples"]) / 5)
    y = rng.integers(case["classes"], size=case["trials"])
    p = parameters(case, rng)
    np.save(HERE / f"{name}-samples.npy", np.ascontiguousarray(x.transpose(0, 2, 1)))
    np.save(HERE / f"{name}-parameters.npy", flat(p))
    statistics = [key for key in p if key.endswith((".mean", ".variance"))]
    trained = {key: value.requires_grad_() for key, value in p.items() if key not in statistics}
    xb, yb = torch.tensor(x[case["batch"]]), torch.tensor(y[case["batch"]])
    ones = [torch.ones_like(m) for m in masks({**case, "dropout": 0}, 0)]
    np.save(HERE / f"{name}-evaluation.npy", network(case, p, xb, ones, False).detach().numpy())
    optimiser = torch.optim.Adam(trained.values(), lr=RATE)
    for step in range(STEPS):
        optimiser.zero_grad()
        logits = network(case, p, xb, masks(case, step * len(case["batch"])), True)
        loss = F.cross_entropy(logits, yb)
        loss.backward()
        if step == 0:
            np.save(HERE / f"{name}-logits.npy", logits.detach().numpy())
            gradient = {key: (value.grad if key in trained else value) for key, value in p.items()}
            np.save(HERE / f"{name}-gradient.npy", flat(gradient))
            first_loss = loss.item()
        optimiser.step()
    np.save(HERE / f"{name}-trained.npy", flat(p))
    facts = {**case, "labels": y.tolist(), "loss": first_loss, "seed": SEED, "steps": STEPS, "rate": RATE}
    (HERE / f"{name}.json").write_text(json.dumps(facts) + "\n")


if __name__ == "__main__":
    torch.set_default_dtype(torch.float64)
    for name, case in CASES.items():
        make(name, case)
