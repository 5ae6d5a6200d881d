//! Work on several threads whose results are taken in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Condvar, Mutex, PoisonError};

/// Results that may wait for each desk, before its thread waits itself.
const WAITING_PER_DESK: usize = 2;

/// Does the work of every item, at as many desks as there are, each on a thread of its own; takes the results one after the other in the order
/// of the items, on the calling thread.
///
/// Only a few results per desk exist at any time, however many items there are and however long the first one takes. After an error no new
/// work begins.
///
/// # Errors
/// The first error of `take`.
pub fn in_order<D: Send, R: Send, E>(
    desks: &mut [D],
    items: usize,
    work: impl Fn(&mut D, usize) -> R + Sync,
    mut take: impl FnMut(usize, R) -> Result<(), E>,
) -> Result<(), E> {
    if desks.len() == 1 || items == 1 {
        return (0..items).try_for_each(|item| take(item, work(&mut desks[0], item)));
    }
    let window = WAITING_PER_DESK * desks.len();
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (taken, progress) = (Mutex::new(0), Condvar::new());
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        for desk in desks.iter_mut().take(items) {
            let (sender, work) = (sender.clone(), &work);
            let (next, stop, taken, progress) = (&next, &stop, &taken, &progress);
            scope.spawn(move || {
                let _guard = StopOnPanic { stop, taken, progress };
                loop {
                    let item = next.fetch_add(1, Ordering::Relaxed);
                    if item >= items {
                        return;
                    }
                    let guard = taken.lock().unwrap_or_else(PoisonError::into_inner);
                    let too_early =
                        |taken: &mut usize| item >= *taken + window && !stop.load(Ordering::Relaxed);
                    let waited =
                        progress.wait_while(guard, too_early).unwrap_or_else(PoisonError::into_inner);
                    drop(waited);
                    // The receiver is gone only if the caller has stopped.
                    if stop.load(Ordering::Relaxed) || sender.send((item, work(desk, item))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let (mut waiting, mut expected) = (BTreeMap::new(), 0);
        // The channel closes early only if a worker panicked; then the others stop, and the scope panics too.
        while let Ok((item, result)) = receiver.recv() {
            waiting.insert(item, result);
            while let Some(result) = waiting.remove(&expected) {
                if let Err(error) = take(expected, result) {
                    let guard = taken.lock().unwrap_or_else(PoisonError::into_inner);
                    stop.store(true, Ordering::Relaxed);
                    drop(guard);
                    progress.notify_all();
                    return Err(error);
                }
                expected += 1;
                *taken.lock().unwrap_or_else(PoisonError::into_inner) = expected;
                progress.notify_all();
            }
        }
        Ok(())
    })
}

/// Lets the others go when a thread panics: they may wait for its result.
struct StopOnPanic<'a> {
    stop: &'a AtomicBool,
    taken: &'a Mutex<usize>,
    progress: &'a Condvar,
}

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let guard = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
            self.stop.store(true, Ordering::Relaxed);
            drop(guard);
            self.progress.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn results_come_in_order_and_few_at_a_time() {
        for desks in 1..5 {
            for items in [0, 1, 2, 3, 100] {
                let (begun, mut taken) = (AtomicUsize::new(0), Vec::new());
                let work = |count: &mut usize, item: usize| {
                    *count += 1;
                    begun.fetch_add(1, Ordering::SeqCst);
                    // The first of all is the slowest.
                    std::thread::sleep(std::time::Duration::from_micros(if item == 0 { 5000 } else { 10 }));
                    item * item
                };
                let mut counts = vec![0; desks];
                in_order(&mut counts, items, work, |item, square| {
                    assert_eq!(square, item * item);
                    // What is done, waits or is being done beyond this one.
                    assert!(begun.load(Ordering::SeqCst) <= item + 1 + (WAITING_PER_DESK + 1) * desks);
                    taken.push(item);
                    Ok::<(), ()>(())
                })
                .unwrap();
                assert_eq!(taken, (0..items).collect::<Vec<_>>());
                assert_eq!(counts.iter().sum::<usize>(), items);
            }
        }
    }

    #[test]
    fn an_error_ends_it() {
        for desks in 1..4 {
            let begun = AtomicUsize::new(0);
            let work = |(): &mut (), item: usize| {
                begun.fetch_add(1, Ordering::SeqCst);
                item
            };
            let result =
                in_order(
                    &mut vec![(); desks],
                    1000,
                    work,
                    |item, _| if item == 7 { Err(item) } else { Ok(()) },
                );
            assert_eq!(result, Err(7));
            assert!(begun.load(Ordering::SeqCst) < 40);
        }
    }

    #[test]
    fn a_panic_ends_it_too() {
        let work = |(): &mut (), item: usize| assert_ne!(item, 3);
        let ended = std::panic::catch_unwind(|| in_order(&mut [(), ()], 100, work, |_, ()| Ok::<(), ()>(())));
        assert!(ended.is_err());
    }
}
