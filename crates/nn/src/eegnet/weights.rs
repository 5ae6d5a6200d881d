//! Parameters and gradients in the layout of the kernels: rows in lanes, padded with zeros.

use std::ops::Range;

use fedspd_manifold::Real;

use super::aligned::Aligned;
use super::shape::Shape;
use crate::Error;
use crate::params::{Layout, Parameter};

/// Range of each parameter among the values.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) temporal: Range<usize>,
    pub(super) spatial: Range<usize>,
    pub(super) depthwise: Range<usize>,
    pub(super) pointwise: Range<usize>,
    pub(super) head: Range<usize>,
    pub(super) bias: Range<usize>,
    pub(super) norms: [NormPlaces; 3],
}

/// Ranges of one normalisation.
#[derive(Clone, Debug)]
pub(super) struct NormPlaces {
    pub(super) scale: Range<usize>,
    pub(super) shift: Range<usize>,
    pub(super) mean: Range<usize>,
    pub(super) variance: Range<usize>,
}

impl Places {
    /// # Errors
    /// [`Error::Tensor`] for a parameter that the layout lacks.
    pub(super) fn of(layout: &Layout) -> Result<Self, Error> {
        let place = |name: &str| {
            let missing = || Error::Tensor { name: name.into(), shape: Vec::new(), fault: "is missing" };
            layout.get(name).map(Parameter::range).ok_or_else(missing)
        };
        let norm = |name: &str| -> Result<NormPlaces, Error> {
            Ok(NormPlaces {
                scale: place(&format!("{name}.scale"))?,
                shift: place(&format!("{name}.shift"))?,
                mean: place(&format!("{name}.mean"))?,
                variance: place(&format!("{name}.variance"))?,
            })
        };
        Ok(Self {
            temporal: place("temporal.weight")?,
            spatial: place("spatial.weight")?,
            depthwise: place("depthwise.weight")?,
            pointwise: place("pointwise.weight")?,
            head: place("head.weight")?,
            bias: place("head.bias")?,
            norms: [norm("norm1")?, norm("norm2")?, norm("norm3")?],
        })
    }
}

/// The weights in the layout of the kernels, or sums of their gradients.
#[derive(Clone)]
pub(super) struct Weights<T> {
    /// `[tap][row]`: the taps of the temporal filter of a row.
    pub(super) temporal: Aligned<T>,
    /// `[channel][row]`
    pub(super) spatial: Aligned<T>,
    /// `[row][channel]`, only for sums of gradients: the channels then fill whole vectors.
    pub(super) spatial_rows: Aligned<T>,
    /// `[tap][row]`
    pub(super) depthwise: Aligned<T>,
    /// `[out row][in row]`
    pub(super) pointwise: Aligned<T>,
    /// `[class][sample, row]`
    pub(super) head: Aligned<T>,
    pub(super) bias: Aligned<T>,
}

impl<T: Real> Weights<T> {
    pub(super) fn new(shape: &Shape) -> Self {
        let zeros = |size: usize| Aligned::zeros(size);
        Self {
            temporal: zeros(shape.temporal_taps * shape.first_lanes),
            spatial: zeros(shape.channels * shape.first_lanes),
            spatial_rows: zeros(shape.channels * shape.first_lanes),
            depthwise: zeros(shape.separable_taps * shape.first_lanes),
            pointwise: zeros(shape.second_lanes * shape.first_lanes),
            head: zeros(shape.classes * shape.features()),
            bias: zeros(shape.classes),
        }
    }

    /// Copies the parameters.
    pub(super) fn load(&mut self, shape: &Shape, places: &Places, values: &[T]) {
        self.each(shape, places, |own, place| *own = values[place]);
    }

    pub(super) fn clear(&mut self) {
        for part in self.parts() {
            part.fill(T::ZERO);
        }
    }

    /// Adds other sums.
    pub(super) fn add(&mut self, other: &mut Self) {
        for (own, other) in self.parts().into_iter().zip(other.parts()) {
            for (own, &other) in own.iter_mut().zip(&*other) {
                *own += other;
            }
        }
    }

    /// Writes sums of gradients to the parameters' ranges. Rows with the same temporal filter add
    /// up.
    pub(super) fn unload(&mut self, shape: &Shape, places: &Places, gradient: &mut [T]) {
        for row in 0..shape.first {
            for channel in 0..shape.channels {
                self.spatial[channel * shape.first_lanes + row] =
                    self.spatial_rows[row * shape.channels + channel];
            }
        }
        gradient[places.temporal.clone()].fill(T::ZERO);
        let shared = places.temporal.clone();
        self.each(shape, places, |own, place| {
            if shared.contains(&place) {
                gradient[place] += *own;
            } else {
                gradient[place] = *own;
            }
        });
    }

    fn parts(&mut self) -> [&mut [T]; 7] {
        [
            &mut self.temporal,
            &mut self.spatial,
            &mut self.spatial_rows,
            &mut self.depthwise,
            &mut self.pointwise,
            &mut self.head,
            &mut self.bias,
        ]
    }

    /// Visits every number with the index of its parameter.
    fn each(&mut self, shape: &Shape, places: &Places, mut visit: impl FnMut(&mut T, usize)) {
        let (taps, lanes) = (shape.temporal_taps, shape.first_lanes);
        for row in 0..shape.first {
            for tap in 0..taps {
                let place = places.temporal.start + row / shape.depth * taps + tap;
                visit(&mut self.temporal[tap * lanes + row], place);
            }
            for channel in 0..shape.channels {
                let place = places.spatial.start + row * shape.channels + channel;
                visit(&mut self.spatial[channel * lanes + row], place);
            }
            for tap in 0..shape.separable_taps {
                let place = places.depthwise.start + row * shape.separable_taps + tap;
                visit(&mut self.depthwise[tap * lanes + row], place);
            }
        }
        for out in 0..shape.second {
            for row in 0..shape.first {
                visit(
                    &mut self.pointwise[out * lanes + row],
                    places.pointwise.start + out * shape.first + row,
                );
            }
        }
        let samples = shape.pooled[1];
        for class in 0..shape.classes {
            for row in 0..shape.second {
                for sample in 0..samples {
                    // torch flattens rows first, samples last.
                    let place = places.head.start + (class * shape.second + row) * samples + sample;
                    let own = class * shape.features() + sample * shape.second_lanes + row;
                    visit(&mut self.head[own], place);
                }
            }
            visit(&mut self.bias[class], places.bias.start + class);
        }
    }
}

/// Transposes `[a][b]` to `[b][a]`.
pub(super) fn transpose<T: Copy>(columns: usize, from: &[T], to: &mut [T]) {
    let rows = from.len() / columns;
    for (i, row) in from.chunks_exact(columns).enumerate() {
        for (j, &x) in row.iter().enumerate() {
            to[j * rows + i] = x;
        }
    }
}

/// Reverses the order of the taps, for the backward pass.
pub(super) fn reverse<T: Copy>(rows: usize, from: &[T], to: &mut [T]) {
    for (from, to) in from.chunks_exact(rows).rev().zip(to.chunks_exact_mut(rows)) {
        to.copy_from_slice(from);
    }
}
