"""Times one Python contender of compare.py on one thread.

Prints one JSON object per line, as the Rust program does.

    python contenders.py torch|torch_fused|spd_learn f64|f32
"""

import json
import resource
import statistics
import sys
import time

import torch

torch.set_num_threads(1)
BATCH = 64
BUDGET = 0.5  # seconds per case, as in the Rust program
THRESHOLD = 1e-2


def rectify_then_log(s):
    """Computes ReEig and LogEig as in the paper: two layers, two decompositions, autograd."""
    values, u = torch.linalg.eigh(s)
    rectified = (u * values.clamp_min(THRESHOLD).unsqueeze(-2)) @ u.mT
    values, u = torch.linalg.eigh(rectified)
    return (u * values.log().unsqueeze(-2)) @ u.mT


class LogOfClamp(torch.autograd.Function):
    """Both layers in one decomposition, with an explicit Daleckii-Krein derivative.

    This is the version of a torch expert.
    """

    @staticmethod
    def forward(ctx, s):
        values, u = torch.linalg.eigh(s)
        f = torch.log(values.clamp_min(THRESHOLD))
        ctx.save_for_backward(values, u, f)
        return (u * f.unsqueeze(-2)) @ u.mT

    @staticmethod
    def backward(ctx, g):
        values, u, f = ctx.saved_tensors
        gap = values.unsqueeze(-1) - values.unsqueeze(-2)
        rise = f.unsqueeze(-1) - f.unsqueeze(-2)
        slope = torch.where(values > THRESHOLD, 1 / values, 0.0).unsqueeze(-1).expand_as(gap)
        close = gap.abs() < 1e-12
        loewner = torch.where(close, slope, rise / torch.where(close, 1.0, gap))
        return u @ (loewner * (u.mT @ g @ u)) @ u.mT


class TorchSpdNet(torch.nn.Module):
    """BiMap, ReEig, LogEig, linear head on all entries.

    A QR factorisation after each step keeps W orthonormal, which is the cheapest method.
    """

    def __init__(self, log_of_clamp, channels, dimension, classes, dtype):
        super().__init__()
        self.log_of_clamp = log_of_clamp
        self.w = torch.nn.Parameter(torch.linalg.qr(torch.randn(channels, dimension, dtype=dtype))[0])
        self.head = torch.nn.Linear(dimension * dimension, classes, dtype=dtype)

    def forward(self, x):
        s = self.w.mT @ (x @ self.w)
        return self.head(self.log_of_clamp(s).flatten(1))

    @torch.no_grad()
    def retract(self):
        self.w.copy_(torch.linalg.qr(self.w)[0])


def spd_learn_network(channels, dimension, classes, dtype):
    from spd_learn.models import SPDNet

    network = SPDNet(
        input_type="cov", subspacedim=dimension, threshold=THRESHOLD, upper=True, n_chans=channels, n_outputs=classes
    )
    return network.to(dtype)


def measure(case, compute):
    compute()
    start, times = time.perf_counter(), []
    while time.perf_counter() - start < BUDGET or len(times) < 5:
        once = time.perf_counter_ns()
        compute()
        times.append(time.perf_counter_ns() - once)
    print(json.dumps({"case": case, "nanoseconds": statistics.median(times)}), flush=True)


def main(contender, precision):
    dtype = {"f64": torch.float64, "f32": torch.float32}[precision]
    for channels, dimension, classes in ((64, 18, 4), (60, 22, 7)):
        torch.manual_seed(0)
        shape = f"{precision} {channels}->{dimension}"
        samples = torch.randn(BATCH, channels, 4 * channels, dtype=dtype)
        x = samples @ samples.mT / (4 * channels)
        y = torch.arange(BATCH) % classes
        shape_of_network = (channels, dimension, classes, dtype)
        network = {
            "torch": lambda: TorchSpdNet(rectify_then_log, *shape_of_network),
            "torch_fused": lambda: TorchSpdNet(LogOfClamp.apply, *shape_of_network),
            "spd_learn": lambda: spd_learn_network(*shape_of_network),
        }[contender]()
        optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
        loss = torch.nn.CrossEntropyLoss()

        def infer(count):
            with torch.inference_mode():
                return network(x[:count])

        def step():
            optimiser.zero_grad()
            loss(network(x), y).backward()
            optimiser.step()
            if isinstance(network, TorchSpdNet):
                network.retract()

        network.eval()
        measure(f"inference of one trial {shape}", lambda: infer(1))
        measure(f"inference of 64 trials {shape}", lambda: infer(BATCH))
        network.train()
        measure(f"training step {shape}", step)
    print(json.dumps({"kilobytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))


if __name__ == "__main__":
    main(*sys.argv[1:])
