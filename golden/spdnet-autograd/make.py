#!/usr/bin/env python3
"""Reference values for SPDnet from PyTorch's autograd in double precision.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install torch==2.15.0 numpy==2.4.6
    /tmp/venv/bin/python golden/spdnet-autograd/make.py

The script shares no code with fedspd: all derivatives come from autograd.

- Log-of-clamp is differentiated through one `eigh` of a matrix with distinct eigenvalues. Two
  chained `eigh` give NaN at clamped eigenvalues.
- The polar factor is differentiated through the Newton-Schulz iteration, a polynomial. Autograd of
  the SVD has poles at equal singular values, that is, at every point of the manifold.
- The QR factor is differentiated through `torch.linalg.qr`, with the diagonal made positive.
"""

from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).resolve().parent
TRIALS = 24
STEPS = 50
RATE = 1e-2
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

# name: dimensions, inputs, classes, threshold, head, retraction
CASES = {
    "no_block": ([8], 1, 3, 0.6, "isometric_vech", "polar"),
    "one_block": ([10, 5], 1, 4, 0.9, "vec", "polar"),
    "two_blocks": ([10, 6, 4], 1, 3, 0.5, "vech", "polar"),
    "three_inputs": ([9, 4], 3, 4, 0.7, "isometric_vech", "qr"),
}


def spectral(s, f):
    values, u = torch.linalg.eigh(s)
    return (u * f(values).unsqueeze(-2)) @ u.mT


def vectorise(s, head):
    if head == "vec":
        return s.flatten(-2)
    rows, columns = torch.tril_indices(*s.shape[-2:])
    scale = torch.where(rows == columns, 1.0, 2.0**0.5 if head == "isometric_vech" else 1.0)
    return s[..., rows, columns] * scale


def logits(x, weights, xi, beta, threshold, head):
    """Returns logits. x: trials x inputs x n x n; weights: the blocks of each input."""
    features = []
    for index, chain in enumerate(weights):
        s = x[:, index]
        for block, w in enumerate(chain):
            s = w.mT @ s @ w
            s = (s + s.mT) / 2
            if block + 1 < len(chain):
                s = spectral(s, lambda l: l.clamp_min(threshold))
        features.append(vectorise(spectral(s, lambda l: torch.log(l.clamp_min(threshold))), head))
    return torch.cat(features, dim=1) @ xi.T + beta


def tangent(w, b):
    m = w.mT @ b
    return b - w @ (m + m.mT) / 2


def polar(a):
    for _ in range(40):
        a = 1.5 * a - 0.5 * a @ (a.mT @ a)
    return a


def positive_qr(a):
    q, r = torch.linalg.qr(a)
    return q * torch.sign(torch.diagonal(r))


def flat(tensors):
    return np.concatenate([t.detach().numpy().ravel() for t in tensors])


def make(name, dimensions, inputs, classes, threshold, head, retraction):
    rng = np.random.default_rng(sum(map(ord, name)))
    n, d = dimensions[0], dimensions[-1]

    def spd():
        q = np.linalg.qr(rng.standard_normal((n, n)))[0]
        values = np.exp(np.linspace(-1.5, 1.5, n) + 0.05 * rng.standard_normal(n))
        a = (q * values) @ q.T
        return (a + a.T) / 2

    x = torch.tensor(np.array([[spd() for _ in range(inputs)] for _ in range(TRIALS)]))
    y = torch.tensor(rng.integers(0, classes, TRIALS))
    blocks = list(zip(dimensions, dimensions[1:]))
    bases = [[torch.tensor(np.linalg.qr(rng.standard_normal(shape))[0]) for shape in blocks] for _ in range(inputs)]
    features = inputs * (d * d if head == "vec" else d * (d + 1) // 2)
    xi = torch.tensor(0.3 * rng.standard_normal((classes, features))).requires_grad_()
    beta = torch.tensor(0.3 * rng.standard_normal(classes)).requires_grad_()
    loss_of = torch.nn.CrossEntropyLoss()

    weights = [[w.clone().requires_grad_() for w in chain] for chain in bases]
    leaves = [w for chain in weights for w in chain] + [xi, beta]
    z = logits(x, weights, xi, beta, threshold, head)
    loss = loss_of(z, y)
    gradients = torch.autograd.grad(loss, leaves)

    retract = polar if retraction == "polar" else positive_qr
    steps = [[torch.zeros_like(w).requires_grad_() for w in chain] for chain in bases]
    trained_xi, trained_beta = (t.detach().clone().requires_grad_() for t in (xi, beta))
    optimiser = torch.optim.Adam([b for chain in steps for b in chain] + [trained_xi, trained_beta], lr=RATE)

    def points():
        return [[retract(w + tangent(w, b)) for w, b in zip(*pair)] for pair in zip(bases, steps)]

    for _ in range(STEPS):
        optimiser.zero_grad()
        loss_of(logits(x, points(), trained_xi, trained_beta, threshold, head), y).backward()
        optimiser.step()

    def save(what, array):
        np.save(HERE / f"{name}_{what}.npy", np.ascontiguousarray(array))

    save("matrices", x.numpy())
    save("labels", y.numpy().astype(np.float64))
    save("parameters", flat(leaves))
    save("logits", z.detach().numpy())
    save("loss", np.array([loss.item()]))
    save("gradient", flat(gradients))
    save("trained", flat([w for chain in points() for w in chain] + [trained_xi, trained_beta]))
    moved = np.abs(flat([w for chain in points() for w in chain] + [trained_xi]) - flat(leaves[:-1])).max()
    with torch.no_grad():
        clamped = [torch.linalg.eigvalsh(w.mT @ x[:, i] @ w if blocks else x[:, i]) for i, c in enumerate(weights) for w in (c[:1] or [None])]
        share = torch.cat([v.flatten() for v in clamped]).le(threshold).double().mean()
    print(f"{name}: loss {loss.item():.6f}, largest move {moved:.3f}, clamped {share:.2f}")


if __name__ == "__main__":
    print(f"torch {torch.__version__}, numpy {np.__version__}")
    for name, case in CASES.items():
        make(name, *case)
