//! Parallel work with results in order.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{ThreadId, current};

/// Number of results per worker that may wait before its thread waits.
const WAITING_PER_WORKER: usize = 2;

/// Does the work of every item, with a thread for each worker. `take` gets the results on the
/// calling thread, in the order of the items.
///
/// The calling thread uses the first worker; threads of the current rayon pool use the others. So
/// no thread is started. Only a few results per worker exist at any time, even if the first item is
/// slow. After an error no new work begins.
///
/// Call it from within [`install`](rayon::ThreadPool::install). Outside of a pool the calling
/// thread does all the work. Otherwise work that uses the pool would wait for pool threads that
/// wait for the caller.
///
/// # Errors
/// The first error of `take`.
///
/// # Panics
/// If `work` or `take` panics.
pub fn in_order<D: Send, R: Send, E>(
    workers: &mut [D],
    items: usize,
    work: impl Fn(&mut D, usize) -> R + Sync,
    mut take: impl FnMut(usize, R) -> Result<(), E>,
) -> Result<(), E> {
    let window = WAITING_PER_WORKER * workers.len();
    let Some((own, others)) = workers.split_first_mut() else { return Ok(()) };
    if others.is_empty() || items <= 1 || rayon::current_thread_index().is_none() {
        return (0..items).try_for_each(|item| take(item, work(own, item)));
    }
    let board = Board { items, window, state: Mutex::new(State::default()), changed: Condvar::new() };
    rayon::in_place_scope(|scope| {
        for worker in others.iter_mut().take(items - 1) {
            let (board, work) = (&board, &work);
            scope.spawn(move |_| {
                let _guard = EndOnPanic(board);
                // Work may use the pool. A thread that waits for a part of its item may run this
                // job, and would then wait for itself.
                if board.has_item_of_this_thread() {
                    return;
                }
                while let Some(item) = board.wait_for_item() {
                    board.put(item, work(worker, item));
                }
            });
        }
        let _guard = EndOnPanic(&board);
        loop {
            match board.next() {
                Next::Take(item, result) => {
                    if let Err(error) = take(item, result) {
                        board.end();
                        return Err(error);
                    }
                    board.taken();
                }
                Next::Work(item) => board.put(item, work(own, item)),
                Next::Nothing => return Ok(()),
            }
        }
    })
}

/// The items begun, the results that wait, and the results taken.
struct Board<R> {
    items: usize,
    /// Largest number of items begun beyond the results taken.
    window: usize,
    state: Mutex<State<R>>,
    changed: Condvar,
}

struct State<R> {
    begun: usize,
    taken: usize,
    waiting: BTreeMap<usize, R>,
    /// Number of threads that wait for a change. If it is 0, no system call wakes threads.
    asleep: usize,
    /// Threads that work on an item.
    busy: Vec<ThreadId>,
    /// After an error or a panic, no new work begins.
    ended: bool,
}

impl<R> Default for State<R> {
    fn default() -> Self {
        Self { begun: 0, taken: 0, waiting: BTreeMap::new(), asleep: 0, busy: Vec::new(), ended: false }
    }
}

/// The next action of the calling thread.
enum Next<R> {
    Take(usize, R),
    Work(usize),
    Nothing,
}

impl<R> Board<R> {
    fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, mut state: MutexGuard<'a, State<R>>) -> MutexGuard<'a, State<R>> {
        state.asleep += 1;
        let mut state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.asleep -= 1;
        state
    }

    fn change(&self, change: impl FnOnce(&mut State<R>)) {
        let mut state = self.lock();
        change(&mut state);
        if state.asleep > 0 {
            self.changed.notify_all();
        }
    }

    /// Begins an item, unless all are begun or work is too far ahead.
    fn begin(&self, state: &mut State<R>) -> Option<usize> {
        let item = state.begun;
        let may = !state.ended && item < self.items && item < state.taken + self.window;
        may.then(|| {
            state.begun += 1;
            state.busy.push(current().id());
            item
        })
    }

    fn has_item_of_this_thread(&self) -> bool {
        self.lock().busy.contains(&current().id())
    }

    /// Waits for an item for another thread. Returns `None` if all are begun or work has ended.
    fn wait_for_item(&self) -> Option<usize> {
        let mut state = self.lock();
        loop {
            if let Some(item) = self.begin(&mut state) {
                return Some(item);
            }
            if state.ended || state.begun == self.items {
                return None;
            }
            state = self.wait(state);
        }
    }

    /// Returns the next action of the calling thread. Results come first. It waits only if no item
    /// can begin.
    fn next(&self) -> Next<R> {
        let mut state = self.lock();
        loop {
            let expected = state.taken;
            if let Some(result) = state.waiting.remove(&expected) {
                return Next::Take(expected, result);
            }
            // If work has ended here, another thread has panicked. The scope passes the panic on.
            if state.ended || expected == self.items {
                return Next::Nothing;
            }
            if let Some(item) = self.begin(&mut state) {
                return Next::Work(item);
            }
            state = self.wait(state);
        }
    }

    fn put(&self, item: usize, result: R) {
        self.change(|state| {
            state.waiting.insert(item, result);
            let own = current().id();
            state.busy.retain(|thread| *thread != own);
        });
    }

    fn taken(&self) {
        self.change(|state| state.taken += 1);
    }

    fn end(&self) {
        self.change(|state| state.ended = true);
    }
}

/// Ends the work when a thread panics, because others may wait for its result.
struct EndOnPanic<'a, R>(&'a Board<R>);

impl<R> Drop for EndOnPanic<'_, R> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::Error;

    #[test]
    fn results_come_in_order_and_few_at_a_time() {
        // In a pool with fewer threads than workers, and outside of a pool.
        pool().install(in_order_and_few_at_a_time);
        in_order_and_few_at_a_time();
    }

    fn pool() -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap()
    }

    fn in_order_and_few_at_a_time() {
        for workers in 1..5 {
            for items in [0, 1, 2, 3, 100] {
                let (begun, mut taken) = (AtomicUsize::new(0), Vec::new());
                let work = |count: &mut usize, item: usize| {
                    *count += 1;
                    begun.fetch_add(1, Ordering::SeqCst);
                    // The first item is the slowest.
                    std::thread::sleep(std::time::Duration::from_micros(if item == 0 { 5000 } else { 10 }));
                    item * item
                };
                let mut counts = vec![0; workers];
                in_order(&mut counts, items, work, |item, square| {
                    assert_eq!(square, item * item);
                    // Items beyond this one that are done, wait or are in work.
                    assert!(begun.load(Ordering::SeqCst) <= item + 1 + (WAITING_PER_WORKER + 1) * workers);
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
        for workers in 1..4 {
            let begun = AtomicUsize::new(0);
            let work = |(): &mut (), item: usize| {
                begun.fetch_add(1, Ordering::SeqCst);
                item
            };
            let fault = Error::Order { asked: "go on", fault: "it is the seventh" };
            let mut fault = Some(fault);
            let take = |item, _| if item == 7 { fault.take().map_or(Ok(()), Err) } else { Ok(()) };
            let result = pool().install(|| in_order(&mut vec![(); workers], 1000, work, take));
            assert!(matches!(result, Err(Error::Order { asked: "go on", .. })));
            assert!(begun.load(Ordering::SeqCst) < 40);
        }
    }

    #[test]
    fn a_panic_ends_it_too() {
        pool().install(panics_end_it);
    }

    fn panics_end_it() {
        // The panic is on the calling thread, then on the other. Each waits until the other has
        // begun.
        for on_the_caller in [true, false] {
            let (caller, both) = (current().id(), std::sync::Barrier::new(2));
            let work = |(): &mut (), item: usize| {
                if item < 2 {
                    both.wait();
                    assert_ne!(current().id() == caller, on_the_caller);
                }
            };
            let take = |_, ()| Ok::<(), Error>(());
            let call = std::panic::AssertUnwindSafe(|| in_order(&mut [(), ()], 100, work, take));
            assert!(std::panic::catch_unwind(call).is_err());
        }
        let take = |item, ()| {
            assert_ne!(item, 3);
            Ok::<(), Error>(())
        };
        let call = std::panic::AssertUnwindSafe(|| in_order(&mut [(), ()], 100, |(), _| (), take));
        assert!(std::panic::catch_unwind(call).is_err());
    }

    #[test]
    fn work_may_use_the_pool() {
        let pool = pool();
        let pause = || std::thread::sleep(std::time::Duration::from_micros(200));
        let work = |(): &mut (), _: usize| {
            rayon::join(pause, || rayon::join(pause, pause));
        };
        for _ in 0..20 {
            pool.install(|| in_order(&mut [(), (), ()], 50, work, |_, ()| Ok::<(), Error>(()))).unwrap();
        }
    }
}
