//! Calls do not see, and do not disturb, one another.

use std::thread;

use crate::c_component::plain;
use crate::common::{component, fennel, lua, sandbox};
use nb_sandbox::{Limit, Limits, ToolError};

#[test]
fn nothing_of_a_call_is_seen_by_the_next() {
    // A string that is made at run time lies in memory; memory that is new to Lua is read back through a buffer whose
    // contents were never written: there is no way to do that in Lua, so the globals and tables are looked at here,
    // and the addresses: an instance that starts from the same memory gives a new table the same address each time.
    let write = "secret = 'found' string.leak = 'found' getmetatable('').__index.leaked = 'found' math.pi = 3
                 local t = {} for i = 1, 5000 do t[i] = ('SECRETPATTERN%d'):format(i) end
                 return #t";
    let read = "return {secret == nil, string.leak == nil, ('').leaked == nil, math.pi > 3.1}";
    let address = "return tostring({})";
    let first = lua(address).result();
    for _ in 0..8 {
        lua(write).result();
        assert_eq!(lua(read).result(), "[true,true,true,true]");
        assert_eq!(lua(address).result(), first);
    }
}

#[test]
fn more_calls_than_places_wait_for_one_another() {
    thread::scope(|scope| {
        let calls: Vec<_> = (0..16)
            .map(|i| {
                scope.spawn(move || {
                    lua("local s = 0 for i = 1, 20000 do s = s + i end return s")
                        .with(format!(r#"{{"i": {i}}}"#))
                        .result()
                })
            })
            .collect();
        for call in calls {
            assert_eq!(call.join().unwrap(), "200010000");
        }
    });
}

#[test]
fn of_50_calls_only_the_one_that_spins_dies() {
    thread::scope(|scope| {
        let spinning = scope.spawn(|| lua("while true do end").exceeds(Limit::Fuel));
        let component = plain().map(|tool| scope.spawn(|| component(tool, "spin").exceeds(Limit::Fuel)));
        let calls: Vec<_> = (0..49)
            .map(|i| scope.spawn(move || fennel("(* i 2)").with(format!(r#"{{"i": {i}}}"#)).result()))
            .collect();
        for (i, call) in calls.into_iter().enumerate() {
            assert_eq!(call.join().unwrap(), (i * 2).to_string());
        }
        spinning.join().unwrap();
        component.map(|call| call.join().unwrap());
    });
}

#[test]
fn a_host_that_panics_does_not_take_a_place_away() {
    for _ in 0..8 {
        let call = thread::spawn(|| {
            lua("nb.call('x')").answering(|_, _| panic!("a host with a bug")).run().0.outcome
        });
        assert!(call.join().is_err());
        let Some(tool) = plain() else { continue };
        let call = thread::spawn(|| {
            component(tool, "invoke").answering(|_, _| panic!("a host with a bug")).run().0.outcome
        });
        assert!(call.join().is_err());
    }
    assert_eq!(lua("return 1").result(), "1");
}

#[test]
fn a_failed_call_gives_its_host_and_its_figures_back() {
    let (finished, seen) = lua("nb.call('x') print('said') error('e')").run();
    assert!(matches!(finished.outcome, Err(ToolError::Script(_))));
    assert_eq!((seen.asked.len(), seen.lines.len()), (1, 1));
    assert_eq!(finished.usage.host_calls, 1);
    assert!(finished.usage.fuel > 0 && finished.usage.peak_memory_bytes > 0);
    let mut host = finished.host;
    assert_eq!(host.invoke("y", "{}"), Ok("{}".into()));
}

#[test]
fn a_sandbox_and_its_parts_can_be_sent_between_threads() {
    fn sent<T: Send + Sync + Clone + 'static>(_: &T) {}
    sent(&sandbox());
    sent(&lua("return 1").compile().unwrap());
    sent(&Limits::default());
}
