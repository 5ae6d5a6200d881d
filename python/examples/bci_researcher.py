# %% [markdown]
# # SPDnet next to a tangent-space classifier
#
# The data are covariances of ten subjects and four imagined movements. Is SPDnet better than a
# logistic regression in the tangent space? Does recentring each subject help on held-out subjects?

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
print(f"{len(matrices)} trials of {len(set(subjects))} subjects, {len(channels)} channels")

# %% [markdown]
# Three subjects and a third of the channels keep this example fast. Remove these lines to use all.

# %%
chosen = np.isin(subjects, sorted(set(subjects))[:3])
matrices, classes, subjects = matrices[chosen][:, ::3, ::3].copy(), classes[chosen], subjects[chosen]
channels = channels[::3]

# %% [markdown]
# ## Within-subject classification
#
# Training is the same as in `fedspd run`: the same settings give the same model, byte for byte.

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
# ## Held-out subjects
#
# Recentring moves the mean of each subject to the identity, without labels. It removes differences
# between subjects and keeps those between classes. It may precede the split, because it uses only
# the subject's own trials. Recentred matrices are dimensionless; the model file records this.

# %%
recentred = Recenter().fit_transform(matrices, groups=subjects)
unitless = clone(spdnet).set_params(unit="1")
across = GroupKFold(3)
for name, model, data in (("original", spdnet, matrices), ("recentred", unitless, recentred)):
    scores = cross_val_score(model, data, classes, groups=subjects, cv=across)
    print(f"{name:15} {scores.mean():.3f}")

# %% [markdown]
# ## Spatial filters
#
# The columns of the weights are orthonormal spatial filters. `fedspd eval` and `fedspd export` read
# the model file.

# %%
trained = unitless.fit(recentred, classes).model_
filters = trained.parameters()["block0.weight"]
print(f"|W^T W - I| = {fedspd.feasibility_error(filters):.1e}")
strongest = np.argsort(-np.abs(filters[:, 0]))[:3]
print("channels with the largest weights in the first filter:", ", ".join(channels[place] for place in strongest))
with open("spdnet.safetensors", "wb") as file:
    file.write(bytes(trained))
