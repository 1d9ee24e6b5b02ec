//! The attribute macros, in use.

use std::time::Duration;

use raddle::runtime::{Handle, RuntimeFlavor};
use raddle::time::sleep;

fn flavor() -> RuntimeFlavor {
    Handle::current().runtime_flavor()
}

#[raddle::test]
async fn a_test_runs_on_a_current_thread_runtime_by_default() {
    assert_eq!(flavor(), RuntimeFlavor::CurrentThread);
    sleep(Duration::from_millis(1)).await;
}

#[raddle::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_test_may_run_on_a_multi_thread_runtime() {
    assert_eq!(flavor(), RuntimeFlavor::MultiThread);
    raddle::spawn(sleep(Duration::from_millis(1)))
        .await
        .unwrap();
}

#[raddle::test]
async fn a_test_may_return_a_result() -> Result<(), Box<dyn std::error::Error>> {
    let number: u32 = "7".parse()?;
    assert_eq!(number, 7);
    Ok(())
}

#[raddle::test]
#[should_panic(expected = "expected by this test")]
async fn a_test_may_be_expected_to_panic() {
    sleep(Duration::from_millis(1)).await;
    panic!("expected by this test");
}

#[raddle::main]
async fn multi() -> RuntimeFlavor {
    flavor()
}

#[raddle::main(flavor = "current_thread")]
async fn current(add: u32, to: &u32) -> (RuntimeFlavor, u32) {
    sleep(Duration::from_millis(1)).await;
    (flavor(), add + to)
}

struct Holder(u32);

impl Holder {
    #[raddle::main(flavor = "multi_thread", worker_threads = 1, crate = "::raddle")]
    async fn get(&self) -> u32 {
        if self.0 > 100 {
            return 100;
        }
        self.0
    }
}

#[test]
fn main_functions_run_on_the_configured_runtime() {
    assert_eq!(multi(), RuntimeFlavor::MultiThread);
    assert_eq!(current(2, &3), (RuntimeFlavor::CurrentThread, 5));
    assert_eq!(Holder(7).get(), 7);
    assert_eq!(Holder(700).get(), 100);
}

/// The attributes see a fragment as one token.
macro_rules! functions_of_fragments {
    (
        #[$attribute:meta] $visibility:vis $test:ident $test_body:block
        $main:ident($parameter:ident: $type:ty) $main_body:block
        $flavor:literal, $workers:expr
    ) => {
        #[$attribute]
        #[raddle::test(flavor = $flavor, worker_threads = $workers)]
        $visibility async fn $test() $test_body

        #[raddle::main(flavor = $flavor, worker_threads = $workers)]
        $visibility async fn $main($parameter: $type) -> $type $main_body
    };
}

functions_of_fragments! {
    #[should_panic(expected = "expected by this test")]
    pub(crate) a_test_may_be_made_of_fragments {
        assert_eq!(flavor(), RuntimeFlavor::MultiThread);
        panic!("expected by this test");
    }
    doubled(number: u32) {
        assert_eq!(flavor(), RuntimeFlavor::MultiThread);
        number * 2
    }
    "multi_thread", 1
}

#[test]
fn a_main_function_may_be_made_of_fragments() {
    assert_eq!(doubled(4), 8);
}
