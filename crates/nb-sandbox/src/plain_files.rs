//! Opening files for components: regular files and folders alone.
//!
//! To open a pipe waits until somebody writes into it, maybe for ever, and keeps a thread of the host meanwhile; a device
//! can do anything at all. So what a path leads to is looked at first, which waits for nothing.

use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::filesystem::{WasiFilesystemCtxView, WasiFilesystemView};
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    Descriptor, DescriptorFlags, DescriptorType, ErrorCode, HostDescriptor, OpenFlags, PathFlags,
};

use crate::wasi::Wasi;

/// What a component asks for: the folder, how its path is followed, the path, and two sets of flags.
type Arguments = (Resource<Descriptor>, PathFlags, String, OpenFlags, DescriptorFlags);

/// Takes the place of the engine's own `open-at`.
pub(crate) fn define(linker: &mut Linker<Wasi>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    let mut files = linker.instance("wasi:filesystem/types@0.2.12")?;
    files.func_wrap_async(
        "[method]descriptor.open-at",
        |mut store: StoreContextMut<'_, Wasi>, asked: Arguments| {
            Box::new(async move {
                let opened = open(&mut store.data_mut().filesystem(), asked).await;
                let answer: Result<Resource<Descriptor>, ErrorCode> = match opened {
                    Ok(file) => Ok(file),
                    Err(error) => Err(error.downcast()?),
                };
                Ok((answer,))
            })
        },
    )?;
    linker.allow_shadowing(false);
    Ok(())
}

async fn open(files: &mut WasiFilesystemCtxView<'_>, asked: Arguments) -> FsResult<Resource<Descriptor>> {
    let (folder, path_flags, path, open_flags, flags) = asked;
    let found = files.stat_at(Resource::new_borrow(folder.rep()), path_flags, path.clone()).await;
    // What cannot be looked at cannot be opened either, and opening says why.
    let is_plain = found.map_or(true, |found| {
        matches!(
            found.type_,
            DescriptorType::RegularFile | DescriptorType::Directory | DescriptorType::SymbolicLink
        )
    });
    if !is_plain {
        return Err(ErrorCode::NotPermitted.into());
    }
    files.open_at(folder, path_flags, path, open_flags, flags).await
}
