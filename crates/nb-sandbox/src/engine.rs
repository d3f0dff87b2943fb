//! The settings of the WebAssembly engine, with the measurements behind them.

use wasmtime::{Collector, Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::error::SandboxError;
use crate::limits::MAX_MEMORY_BYTES;

/// A component of ours is three core instances: the program and two that wire its imports. One is to spare for
/// components from elsewhere.
const CORE_INSTANCES_PER_COMPONENT: u32 = 4;

/// Slots that keep their pages when they are free. Calls that follow one another reuse the same slot; this is for as
/// many as run side by side in ordinary use. Each keeps less than [`MEMORY_KEPT_BYTES`].
const WARM_SLOTS: u32 = 8;

/// Of a slot's memory, what is reset by copying instead of being given back. An ordinary call writes less than this,
/// and giving pages back stops the other threads of the process. It is not more, because what one large call wrote is
/// copied after each later call in its slot.
const MEMORY_KEPT_BYTES: usize = 512 << 10;

/// The same for tables: without it each call gives pages back. Two threads made 26,000 calls/s, with it 165,000.
const TABLE_KEPT_BYTES: usize = 64 << 10;

/// Lua stops at 200 nested C calls; with its largest frames those need less than this. The thread that runs a call
/// needs as much again for the host, and 2 MiB is what threads have by default.
const WASM_STACK_BYTES: usize = 1 << 20;

/// An engine for `slots` calls of the guest at the same time.
pub(crate) fn pooled(slots: u32) -> Result<Engine, SandboxError> {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(slots)
        .total_core_instances(slots.saturating_mul(CORE_INSTANCES_PER_COMPONENT))
        .max_core_instances_per_component(CORE_INSTANCES_PER_COMPONENT)
        // Each instance has one, and the heap for its exceptions takes another.
        .total_memories(slots.saturating_mul(2))
        .max_memories_per_component(1)
        .total_tables(slots.saturating_mul(CORE_INSTANCES_PER_COMPONENT))
        .max_tables_per_component(CORE_INSTANCES_PER_COMPONENT)
        .total_gc_heaps(slots)
        .max_memory_size(MAX_MEMORY_BYTES as usize)
        .max_unused_warm_slots(WARM_SLOTS.min(slots))
        .linear_memory_keep_resident(MEMORY_KEPT_BYTES)
        .table_keep_resident(TABLE_KEPT_BYTES)
        // Linux 6.7: asks the kernel which pages were written, and resets only those (46 µs a call without, 10 µs with).
        // Elsewhere the same memory is reset more slowly.
        .pagemap_scan(Enabled::Auto);

    start(common().allocation_strategy(InstanceAllocationStrategy::Pooling(pool)))
}

/// An engine for components from elsewhere. Their instances are made one by one, which is slower, because what they
/// need fits no pool.
pub(crate) fn on_demand() -> Result<Engine, SandboxError> {
    let mut config = common();
    // A component can be made so that it compiles for very long: it must not keep all cores busy.
    config.allocation_strategy(InstanceAllocationStrategy::OnDemand).parallel_compilation(false);
    start(&config)
}

fn start(config: &Config) -> Result<Engine, SandboxError> {
    Engine::new(config).map_err(|error| SandboxError::Engine(format!("{error:#}")))
}

fn common() -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        // Lua's errors: setjmp and longjmp are exceptions in the guest.
        .wasm_exceptions(true)
        // An exception is an object on the engine's heap: a script that catches errors in a loop makes garbage.
        .collector(Collector::DeferredReferenceCounting)
        .consume_fuel(true)
        .epoch_interruption(true)
        .memory_init_cow(true)
        .max_wasm_stack(WASM_STACK_BYTES)
        // Nobody reads the guest's own backtrace: its code is Lua's, and the script's traceback comes from Lua.
        .wasm_backtrace_max_frames(None);
    // Left at their defaults: the reservation of 4 GiB and the guard behind each memory, because then the compiled
    // code needs no bounds checks (Lua that computes was 1.4 times slower with small slots).
    config
}

#[cfg(test)]
mod tests {
    use wasmtime::{Instance, Module, Store};

    use super::*;

    /// `(module (memory (export "m") 256))`: 16 MiB, more than what is reset by copying.
    const MEMORY_MODULE: &[u8] = b"\0asm\x01\0\0\0\x05\x04\x01\0\x80\x02\x07\x05\x01\x01m\x02\0";

    #[test]
    fn memory_that_one_instance_wrote_is_zero_for_the_next_in_its_place() {
        let engine = pooled(1).unwrap();
        let module = Module::new(&engine, MEMORY_MODULE).unwrap();
        for written in [1, 4096, 1 << 20, 16 << 20, 1 << 20] {
            let mut store = Store::new(&engine, ());
            store.set_fuel(1).unwrap();
            let instance = Instance::new(&mut store, &module, &[]).unwrap();
            let memory = instance.get_memory(&mut store, "m").unwrap().data_mut(&mut store);
            assert!(memory.iter().all(|byte| *byte == 0), "before writing {written} bytes");
            let start = memory.len() / 2 - written / 2;
            memory[start..start + written].fill(0xA5);
        }
    }
}
