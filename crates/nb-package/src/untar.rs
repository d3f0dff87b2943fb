//! A tar archive to files in memory. Nothing is skipped: what is not a plain file or folder is refused.
//!
//! Headers are read block by block, because every one of them has to be seen: an archive library hides the extension
//! headers that rename the next entry, change its size or make it sparse. Of those only a path is taken (GNU long
//! name, pax `path`), and it passes the same checks as any other path.

use nb_spec::Files;
use nb_spec::files::{MAX_FILES, MAX_TOTAL_BYTES};
use tar::Header;

use crate::digests::{DIGESTS, SIGNATURE};
use crate::error::PackageError;
use crate::gunzip::Gunzip;
use crate::paths::{self, Tree, shown};

const BLOCK: usize = 512;

/// The most that one extension header may weigh; a path needs 256 bytes, the attributes of a Mac some KiB.
const MAX_EXTENSION_BYTES: u64 = 64 << 10;

/// The parts of a package, all of them within the caps.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Everything but the two files of the format.
    pub(crate) files: Files,
    /// NAP-DIGESTS.
    pub(crate) digests: Option<Vec<u8>>,
    /// NAP-SIGNATURE.
    pub(crate) signature: Option<Vec<u8>>,
}

/// Reads a whole package.
pub(crate) fn unpack(bytes: &[u8]) -> Result<Contents, PackageError> {
    let mut stream = Gunzip::new(bytes)?;
    let mut contents = Contents::default();
    let mut tree = Tree::default();
    let mut total: u64 = 0;
    let mut entries = 0;
    let mut renamed: Option<Vec<u8>> = None;
    while let Some(header) = next_header(&mut stream, entries == 0)? {
        entries += 1;
        if entries > MAX_FILES {
            return Err(PackageError::TooManyEntries);
        }
        let own_path = own_path(&header)?;
        let size = size(&header, &own_path)?;
        let kind = header.as_old().linkflag[0];
        if matches!(kind, b'L' | b'x' | b'g') {
            let extension = read_extension(&mut stream, size, &own_path)?;
            let path = match kind {
                b'L' => Some(extension.strip_suffix(b"\0").unwrap_or(&extension).to_vec()),
                _ => pax_path(&extension, kind == b'g', &own_path)?,
            };
            if path.is_some() && renamed.is_some() {
                return Err(extended(&own_path, "gives a second name for the same entry"));
            }
            renamed = renamed.or(path);
            continue;
        }
        let raw_path = renamed.take().unwrap_or(own_path);
        match kind {
            b'0' | b'\0' => {
                let path = paths::check(&raw_path)?;
                tree.add_file(path)?;
                total = total.saturating_add(size);
                if total > MAX_TOTAL_BYTES {
                    return Err(PackageError::TooLarge { entry: shown(path.as_bytes()) });
                }
                let file = stream.bytes(size)?;
                skip_to_block(&mut stream, size)?;
                match path {
                    DIGESTS => contents.digests = Some(file),
                    SIGNATURE => contents.signature = Some(file),
                    path => contents.files.insert(path, file),
                }
            }
            b'5' => {
                if size > 0 {
                    return Err(PackageError::Damaged(format!(
                        "the folder `{}` has content",
                        shown(&raw_path)
                    )));
                }
                let raw_path = raw_path.strip_suffix(b"/").unwrap_or(&raw_path);
                // `tar` names the packed folder itself; it adds nothing.
                if raw_path != b"." {
                    tree.add_folder(paths::check(raw_path)?)?;
                }
            }
            other => return Err(PackageError::NotAFile { entry: shown(&raw_path), kind: kind_name(other) }),
        }
    }
    if renamed.is_some() {
        return Err(PackageError::Damaged("a long name has no entry".to_owned()));
    }
    stream.finish()?;
    Ok(contents)
}

/// The next header, or None at the two zero blocks that end an archive.
fn next_header(stream: &mut Gunzip<'_>, first: bool) -> Result<Option<Header>, PackageError> {
    let mut block = [0; BLOCK];
    stream.fill(&mut block)?;
    if block == [0; BLOCK] {
        stream.fill(&mut block)?;
        return if block == [0; BLOCK] {
            Ok(None)
        } else {
            Err(PackageError::Damaged("one end mark of the archive instead of two".to_owned()))
        };
    }
    let mut header = Header::new_old();
    header.as_mut_bytes().copy_from_slice(&block);
    let written = octal(&header.as_old().cksum);
    header.set_cksum();
    if written.is_some() && written == octal(&header.as_old().cksum) {
        header.as_mut_bytes().copy_from_slice(&block);
        Ok(Some(header))
    } else if first {
        Err(PackageError::NotTar)
    } else {
        Err(PackageError::Damaged("the checksum of an entry's header is wrong".to_owned()))
    }
}

/// The path in the header itself. Bytes behind its end are refused: another reader might see them.
fn own_path(header: &Header) -> Result<Vec<u8>, PackageError> {
    let name = until_nul(&header.as_old().name)?;
    match header.as_ustar() {
        Some(ustar) => {
            let prefix = until_nul(&ustar.prefix)?;
            if prefix.is_empty() { Ok(name.to_vec()) } else { Ok([prefix, b"/", name].concat()) }
        }
        None => Ok(name.to_vec()),
    }
}

fn until_nul(field: &[u8]) -> Result<&[u8], PackageError> {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    let (path, rest) = field.split_at(end);
    if rest.iter().all(|byte| *byte == 0) {
        Ok(path)
    } else {
        Err(PackageError::PathCharacter { entry: shown(field), character: "a NUL" })
    }
}

/// Octal only: the binary form is for files of 8 GiB and more, and readers differ in how they take it.
fn size(header: &Header, path: &[u8]) -> Result<u64, PackageError> {
    let field = &header.as_old().size;
    if field.first().is_some_and(|byte| byte & 0x80 != 0) {
        return Err(PackageError::TooLarge { entry: shown(path) });
    }
    octal(field)
        .ok_or_else(|| PackageError::Damaged(format!("the size of `{}` is not a number", shown(path))))
}

/// Octal digits with spaces before and spaces or NULs after.
fn octal(field: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(field).ok()?.trim_end_matches(['\0', ' ']).trim_start_matches(' ');
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { u64::from_str_radix(digits, 8).ok() } else { None }
}

fn skip_to_block(stream: &mut Gunzip<'_>, size: u64) -> Result<(), PackageError> {
    stream.bytes(size.next_multiple_of(BLOCK as u64) - size).map(drop)
}

fn read_extension(stream: &mut Gunzip<'_>, size: u64, path: &[u8]) -> Result<Vec<u8>, PackageError> {
    if size > MAX_EXTENSION_BYTES {
        return Err(extended(path, &format!("has {size} bytes; at most {MAX_EXTENSION_BYTES} are allowed")));
    }
    let extension = stream.bytes(size)?;
    skip_to_block(stream, size)?;
    Ok(extension)
}

/// The `path` of a pax header, where it has one. Records that only describe (times, owners, attributes) are dropped;
/// all that would change where or what the next entry is are refused.
fn pax_path(mut records: &[u8], global: bool, entry: &[u8]) -> Result<Option<Vec<u8>>, PackageError> {
    let mut path = None;
    while !records.is_empty() {
        let Some((key, value, rest)) = pax_record(records) else {
            return Err(extended(entry, "is malformed"));
        };
        match key {
            b"path" if !global && path.is_none() => path = Some(value.to_vec()),
            b"mtime" | b"atime" | b"ctime" | b"uid" | b"gid" | b"uname" | b"gname" | b"comment" => {}
            _ if key.starts_with(b"SCHILY.xattr.") || key.starts_with(b"LIBARCHIVE.") => {}
            _ => return Err(extended(entry, &format!("sets `{}`, which is not allowed", shown(key)))),
        }
        records = rest;
    }
    Ok(path)
}

/// One record is `LENGTH KEY=VALUE\n`; the length counts all of it (POSIX.1-2017, pax, "Extended Header").
fn pax_record(records: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = records.iter().take(6).position(|byte| *byte == b' ')?;
    let digits = std::str::from_utf8(records.get(..space)?).ok()?;
    let length: usize = digits.parse().ok()?;
    let (record, rest) = records.split_at_checked(length)?;
    let pair = record.get(space + 1..)?.strip_suffix(b"\n")?;
    let equals = pair.iter().position(|byte| *byte == b'=')?;
    Some((pair.get(..equals)?, pair.get(equals + 1..)?, rest))
}

fn extended(entry: &[u8], reason: &str) -> PackageError {
    PackageError::ExtendedHeader { entry: shown(entry), reason: reason.to_owned() }
}

fn kind_name(kind: u8) -> String {
    match kind {
        b'1' => "hard link".to_owned(),
        b'2' => "symbolic link".to_owned(),
        b'3' => "character device".to_owned(),
        b'4' => "block device".to_owned(),
        b'6' => "fifo".to_owned(),
        b'S' => "sparse file".to_owned(),
        b'K' => "link with a long target".to_owned(),
        other => format!("tar entry of the type `{}`", shown(&[other])),
    }
}
