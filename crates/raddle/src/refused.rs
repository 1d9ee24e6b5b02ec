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
/// What would not go there may not be held over an await either.
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

/// So may blocking work, and what it gives.
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

/// A local set stays on its thread, and so does the handle of an output that must.
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

/// A guard does not outlive its lock, nor what is borrowed its stream.
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

/// What makes a runtime of its own for a function is given an async one, with nothing that
/// it does not know. The words are tested in `raddle-macros`.
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
/// It does not have the function's future sent anywhere, but what that spawns.
///
/// ```compile_fail
/// #[raddle::main(flavor = "current_thread")]
/// async fn main() {
///     let bound = std::rc::Rc::new(1);
///     raddle::spawn(async move { *bound }).await.unwrap();
/// }
/// ```
///
/// A branch of `select!` that borrows what another changes is refused as anywhere.
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
