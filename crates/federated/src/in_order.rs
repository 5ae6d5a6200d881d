//! Work on several threads whose results are taken in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::Builder;

use crate::Error;

/// Results that may wait for each desk, before its thread waits itself.
const WAITING_PER_DESK: usize = 2;

/// Does the work of every item, at as many desks as there are, each on a thread of its own; takes the results one after the other in the order
/// of the items, on the calling thread.
///
/// Only a few results per desk exist at any time, however many items there are and however long the first one takes. After an error no new
/// work begins.
///
/// # Errors
/// The first error of `take`; [`Error::Threads`] if the system starts no more threads.
pub fn in_order<D: Send, R: Send, E: From<Error>>(
    desks: &mut [D],
    items: usize,
    work: impl Fn(&mut D, usize) -> R + Sync,
    take: impl FnMut(usize, R) -> Result<(), E>,
) -> Result<(), E> {
    on_threads(Builder::new, desks, items, work, take)
}

/// On threads that are made in a certain way.
fn on_threads<D: Send, R: Send, E: From<Error>>(
    thread: fn() -> Builder,
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
    let give_up = || {
        let guard = taken.lock().unwrap_or_else(PoisonError::into_inner);
        stop.store(true, Ordering::Relaxed);
        drop(guard);
        progress.notify_all();
    };
    let threads = desks.len().min(items);
    std::thread::scope(|scope| {
        for desk in desks.iter_mut().take(items) {
            let (sender, work) = (sender.clone(), &work);
            let (next, stop, taken, progress) = (&next, &stop, &taken, &progress);
            let at_desk = move || {
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
            };
            if let Err(error) = thread().spawn_scoped(scope, at_desk) {
                give_up();
                return Err(E::from(Error::Threads { threads, reason: error.to_string() }));
            }
        }
        drop(sender);
        let (mut waiting, mut expected) = (BTreeMap::new(), 0);
        // The channel closes early only if a worker panicked; then the others stop, and the scope panics too.
        while let Ok((item, result)) = receiver.recv() {
            waiting.insert(item, result);
            while let Some(result) = waiting.remove(&expected) {
                if let Err(error) = take(expected, result) {
                    give_up();
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
                    Ok::<(), Error>(())
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
            let fault = Error::Order { asked: "go on", fault: "it is the seventh" };
            let mut fault = Some(fault);
            let take = |item, _| if item == 7 { fault.take().map_or(Ok(()), Err) } else { Ok(()) };
            let result = in_order(&mut vec![(); desks], 1000, work, take);
            assert!(matches!(result, Err(Error::Order { asked: "go on", .. })));
            assert!(begun.load(Ordering::SeqCst) < 40);
        }
    }

    #[test]
    fn a_panic_ends_it_too() {
        let work = |(): &mut (), item: usize| assert_ne!(item, 3);
        let ended =
            std::panic::catch_unwind(|| in_order(&mut [(), ()], 100, work, |_, ()| Ok::<(), Error>(())));
        assert!(ended.is_err());
    }

    #[test]
    fn threads_that_cannot_be_had_are_an_error() {
        // More memory for its stack than there is.
        let too_large = || Builder::new().stack_size(1 << 60);
        let result =
            on_threads(too_large, &mut [(), (), ()], 100, |(), item| item, |_, _| Ok::<(), Error>(()));
        let error = result.unwrap_err();
        assert!(error.to_string().starts_with("3 threads cannot be started: "), "{error}");
    }
}
