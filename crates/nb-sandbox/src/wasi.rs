//! What a component has of WASI: nothing but clocks, random numbers, its log as standard output, and the folders that
//! were granted, to read.

use wasmtime::component::ResourceTable;
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use crate::call::Folder;
use crate::meter::{Meter, Metered};
use crate::stdout::Stdout;

/// Descriptors, streams and timers that a call can have at once. A process has often no more than 1024 descriptors,
/// and one tool must not take them all.
pub(crate) const MAX_RESOURCES: usize = 100;

/// The most random bytes that a component gets at once: the host has to keep them until they are copied.
const MAX_RANDOM_BYTES: u64 = 64 << 10;

/// What the store of a component's call carries.
pub(crate) struct Wasi {
    meter: Meter,
    context: WasiCtx,
    table: ResourceTable,
    stdout: Stdout,
}

impl Wasi {
    /// Fails with the folder's name when one cannot be opened.
    pub(crate) fn new(meter: Meter, folders: &[Folder]) -> Result<Self, Box<(Meter, String)>> {
        let stdout = Stdout::new(meter.limits().log_bytes);
        let mut builder = WasiCtxBuilder::new();
        builder.stdout(stdout.clone()).stderr(stdout.clone());
        builder.allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false);
        builder.max_random_size(MAX_RANDOM_BYTES);
        for Folder { name, path, .. } in folders {
            if let Err(error) = builder.preopened_dir(path, name, FsPerms::ReadOnly) {
                let path = path.display();
                let message = format!("the folder {path}, which it may read, cannot be opened: {error}");
                return Err(Box::new((meter, message)));
            }
        }
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_RESOURCES);
        Ok(Self { meter, context: builder.build(), table, stdout })
    }

    /// Writes what the component said into its log, and gives the meter back.
    pub(crate) fn into_meter(self) -> Meter {
        let Self { mut meter, stdout, .. } = self;
        let (text, dropped) = stdout.take();
        for line in text.lines() {
            meter.log(line);
        }
        if dropped > 0 {
            meter.drop_log(dropped);
        }
        meter
    }
}

impl Metered for Wasi {
    fn meter(&self) -> &Meter {
        &self.meter
    }

    fn meter_mut(&mut self) -> &mut Meter {
        &mut self.meter
    }
}

impl WasiView for Wasi {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.context, table: &mut self.table }
    }
}
