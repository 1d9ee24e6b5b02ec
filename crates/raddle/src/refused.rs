//! Code that the compiler must refuse: tests of bounds.

/// A task may move to another thread, and outlive the code that spawned it.
///
/// ```compile_fail
/// let bound = std::rc::Rc::new(1);
/// raddle::spawn(async move { *bound });
/// ```
///
/// ```compile_fail,E0373
/// async fn spawns() {
///     let text = String::new();
///     raddle::spawn(async { text.len() });
/// }
/// ```
///
/// A value that is not `Send` must not be held across an `.await` either.
///
/// ```compile_fail
/// fn sent<T: Send>(_: T) {}
/// async fn holds(runtime: raddle::runtime::Handle) {
///     let _guard = runtime.enter();
///     raddle::task::yield_now().await;
/// }
/// sent(holds(raddle::runtime::Handle::current()));
/// ```
struct Spawned;

/// Blocking work and its output must be `Send`.
///
/// ```compile_fail,E0277
/// let bound = std::rc::Rc::new(1);
/// raddle::task::spawn_blocking(move || *bound);
/// ```
///
/// ```compile_fail,E0277
/// raddle::task::spawn_blocking(|| std::rc::Rc::new(1));
/// ```
struct Blocking;

/// A local set is not `Send`, and neither is the join handle of an output that is not.
///
/// ```compile_fail,E0277
/// fn sent<T: Send>(_: T) {}
/// sent(raddle::task::LocalSet::new());
/// ```
///
/// ```compile_fail,E0277
/// fn sent<T: Send>(_: T) {}
/// sent(raddle::task::spawn_local(async { std::rc::Rc::new(1) }));
/// ```
struct Local;

/// A guard must not outlive its lock, nor a borrowed half its stream.
///
/// ```compile_fail,E0505
/// async fn outlives() {
///     let lock = raddle::sync::Mutex::new(1);
///     let guard = lock.lock().await;
///     drop(lock);
///     drop(guard);
/// }
/// ```
///
/// ```compile_fail,E0505
/// async fn outlives(mut stream: raddle::net::TcpStream) {
///     let (read, _write) = stream.split();
///     drop(stream);
///     drop(read);
/// }
/// ```
struct Borrowed;

/// `#[raddle::main]` refuses a function that is not async, and arguments that do not fit.
/// `raddle-macros` tests the messages.
///
/// ```compile_fail
/// #[raddle::main]
/// fn main() {}
/// ```
///
/// ```compile_fail
/// #[raddle::main(flavor = "current_thread", worker_threads = 2)]
/// async fn main() {}
/// ```
///
/// The future of `main` need not be `Send`, but the futures that it spawns must be.
///
/// ```compile_fail
/// #[raddle::main(flavor = "current_thread")]
/// async fn main() {
///     let bound = std::rc::Rc::new(1);
///     raddle::spawn(async move { *bound }).await.unwrap();
/// }
/// ```
///
/// Two branches of `select!` must not borrow the same value mutably.
///
/// ```compile_fail,E0499
/// async fn both(stream: &mut raddle::net::TcpStream) {
///     use raddle::io::AsyncReadExt;
///     raddle::select! {
///         _ = stream.read_u8() => {}
///         _ = stream.read_u16() => {}
///     }
/// }
/// ```
struct Macros;
