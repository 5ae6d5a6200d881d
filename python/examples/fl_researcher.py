# %% [markdown]
# # Averages that stay on the manifold
#
# Clients send matrices with orthonormal columns. The columns of their mean are not orthonormal.
# These averages are.

# %%
import numpy as np
from sklearn.base import clone

import fedspd
from fedspd.sklearn import FederatedSPDNetClassifier, Recenter

p, k = 64, 18
previous = fedspd.random_stiefel(p, k, seed=0)
drift = 0.3 * fedspd.random_stiefel(p, k, 10, seed=1)
clients = fedspd.retract(previous, fedspd.tangent_project(previous, drift))

# %%
averages = {
    "plain mean": clients.mean(axis=0),
    "ProjAvg": fedspd.proj_avg(clients),
    "RLAvg": fedspd.rl_avg(previous, clients),
    "R-barycenter": fedspd.r_barycenter(clients),
    "Karcher mean": fedspd.karcher_mean(clients),
}
for name, average in averages.items():
    spread = np.mean(np.linalg.norm(clients - average, axis=(1, 2)) ** 2)
    print(f"{name:13} |W^T W - I| = {fedspd.feasibility_error(average):.1e}   mean squared distance {spread:.4f}")
print(f"consensus of the clients: {fedspd.consensus(clients):.3f}")

# %% [markdown]
# ## Federated training
#
# Each subject is a client. The settings are those of the configuration, so `fedspd run` does the
# same at scale.

# %%
matrices, classes, subjects, _ = fedspd.load_sample()
classes, subjects = np.array(classes), np.array(subjects)
recentred = Recenter("logeuclid").fit_transform(matrices, groups=subjects)
held_out = np.isin(subjects, sorted(set(subjects))[:2])
for aggregation in ("proj-avg", "rl-avg"):
    for participation in (1.0, 0.5):
        model = FederatedSPDNetClassifier((18,), aggregation=aggregation, participation=participation, rounds=6, unit="1", n_jobs=-1)
        model.fit(recentred[~held_out], classes[~held_out], groups=subjects[~held_out])
        score = model.score(recentred[held_out], classes[held_out])
        print(f"{aggregation:9} {participation:.0%} of clients: {score:.3f} on held-out subjects")

# %% [markdown]
# A repeated run gives the same bytes, on any number of threads.

# %%
again = clone(model).set_params(n_jobs=1)
again.fit(recentred[~held_out], classes[~held_out], groups=subjects[~held_out])
assert bytes(again.model_) == bytes(model.model_)
