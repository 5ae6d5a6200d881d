# %% [markdown]
# # SPDnet among the classifiers you know
#
# Covariances of ten people, four imagined movements. Is SPDnet better than a logistic regression in the tangent space, and what does
# recentring each person do for people whom nobody trained on?

# %%
import numpy as np
from pyriemann.tangentspace import TangentSpace
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

import fedspd
from fedspd.sklearn import Recenter, SPDNetClassifier

matrices, classes, subjects, channels = fedspd.load_sample()
classes, subjects = np.array(classes), np.array(subjects)
print(f"{len(matrices)} trials of {len(set(subjects))} people, {len(channels)} channels")

# %% [markdown]
# Three people and a third of the channels are enough to see how it works; leave these lines out for all.

# %%
chosen = np.isin(subjects, sorted(set(subjects))[:3])
matrices, classes, subjects = matrices[chosen][:, ::3, ::3].copy(), classes[chosen], subjects[chosen]
channels = channels[::3]

# %% [markdown]
# ## Trials of the same people
#
# The training is that of `fedspd run`: the same settings give the same model, to the last byte.

# %%
spdnet = SPDNetClassifier((18,), epochs=20, channels=channels)
pipelines = {
    "tangent space": make_pipeline(TangentSpace(), LogisticRegression(max_iter=500)),
    "SPDnet": spdnet,
}
within = StratifiedKFold(2, shuffle=True, random_state=0)
for name, pipeline in pipelines.items():
    scores = cross_val_score(pipeline, matrices, classes, cv=within)
    print(f"{name:15} {scores.mean():.3f}")

# %% [markdown]
# ## People whom nobody trained on
#
# Each person's matrices are recentred at their own mean, without labels: the differences between people go, those between classes
# stay. That happens before the split, as each person needs their own trials alone for it. What is recentred has no unit any more, and
# the model file says so.

# %%
recentred = Recenter().fit_transform(matrices, groups=subjects)
unitless = clone(spdnet).set_params(unit="1")
across = GroupKFold(3)
for name, model, data in (("as they are", spdnet, matrices), ("recentred", unitless, recentred)):
    scores = cross_val_score(model, data, classes, groups=subjects, cv=across)
    print(f"{name:15} {scores.mean():.3f}")

# %% [markdown]
# ## What the network has learnt
#
# Its weights have orthonormal columns: spatial filters. The model is a file that `fedspd eval` and `fedspd export` take.

# %%
trained = unitless.fit(recentred, classes).model_
filters = trained.parameters()["block0.weight"]
print(f"|W^T W - I| = {fedspd.feasibility_error(filters):.1e}")
strongest = np.argsort(-np.abs(filters[:, 0]))[:3]
print("the first filter looks at", ", ".join(channels[place] for place in strongest))
with open("spdnet.safetensors", "wb") as file:
    file.write(bytes(trained))
