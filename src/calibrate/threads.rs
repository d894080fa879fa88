//! What it takes to start the threads that share a loop, and to wait for them.

use super::CalibrateError;
use super::probe::{Lab, Loop};
use cost_model::StaticTarget;

/// Starts in a row: between them the runtime keeps its threads awake.
const STARTS: i64 = 2000;

/// Fills in what threads cost; where there is no runtime, or one processor only, it stays as it is.
pub(super) fn measure(lab: &mut Lab, target: &mut StaticTarget) -> Result<(), CalibrateError> {
    if std::thread::available_parallelism().is_ok_and(|n| n.get() < 2) {
        return Ok(());
    }
    let code = Loop {
        body: "call void @GOMP_parallel(ptr @nothing, ptr null, i32 2, i32 0)\n".to_string(),
        declarations: "declare void @GOMP_parallel(ptr, ptr, i32, i32)
             define internal void @nothing(ptr %x) { ret void }\n"
            .to_string(),
        ..Loop::default()
    };
    let Ok(probe) = lab.compile("threads", &code) else { return Ok(()) };
    target.fork_join = lab.cycles_by_clock(&probe, &mut [0; 64], STARTS).clamp(100.0, 1e7);
    Ok(())
}
