//! Calls do not see, and do not disturb, one another.

use std::thread;

use crate::c_component::plain;
use crate::common::{component, fennel, lua, sandbox};
use nb_sandbox::{CancelFlag, Limit, Limits, ToolError};

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
fn a_call_that_is_cancelled_while_its_host_works_leaves_nothing_behind() {
    for _ in 0..8 {
        let cancel = CancelFlag::default();
        let flag = cancel.clone();
        let script = lua("nb.call('slow') nb.call('after')").cancelled_by(&cancel).answering(move |_, _| {
            flag.cancel();
            Ok("1".into())
        });
        let (finished, seen) = script.run();
        assert_eq!(finished.outcome, Err(ToolError::Cancelled { tool: "test.lua".into() }));
        assert_eq!(seen.asked.len(), 1, "nothing is asked after the end");
        assert_eq!(finished.usage.host_calls, 1);
    }
    // All places are free again, and an instance is as fresh as ever.
    thread::scope(|scope| {
        let calls: Vec<_> = (0..4).map(|_| scope.spawn(|| lua("return seen == nil").result())).collect();
        calls.into_iter().for_each(|call| assert_eq!(call.join().unwrap(), "true"));
    });
}

#[test]
fn fuel_and_memory_are_the_same_run_after_run() {
    let work = "local t = {} for i = 1, 2000 do t[i] = ('%d'):format(i) end table.sort(t) print(#t)
                nb.call('x', {t[1]}) return table.concat(t):gsub('1', 'x')";
    let used = |script: crate::common::Script| {
        let usage = script.run().0.usage;
        (usage.fuel, usage.peak_memory_bytes, usage.host_calls, usage.output_bytes)
    };
    let first = used(lua(work));
    for _ in 0..5 {
        fennel("(string.rep :x 100000)").result();
        assert_eq!(used(lua(work)), first);
    }
    let fennel_work = "(accumulate [sum 0 _ n (ipairs (fcollect [i 1 1000] (* i i)))] (+ sum n))";
    assert_eq!(used(fennel(fennel_work)), used(fennel(fennel_work)));
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
