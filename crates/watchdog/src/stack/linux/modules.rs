//! The unwind information of the files that are mapped into the process.
//!
//! It is read from `/proc/self/maps` and from the files, not from the memory that the dynamic
//! loader has mapped: a library may be unloaded at any time, and the loader's lock may be held by
//! the thread whose stack is read.

use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use framehop::{
    ExplicitModuleSectionInfo, MayAllocateDuringUnwind, Module, Unwinder, UnwinderNative,
};
use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, LittleEndian, Register, UnwindContext,
    UnwindSection,
};
use object::{
    Object, ObjectSection, ObjectSegment, ObjectSymbol, ReadCache, ReadRef, SegmentFlags,
    SymbolKind, elf,
};

/// The largest page size of any system: a segment may start at most this far before its mapping.
const MAX_PAGE: u64 = 64 * 1024;

/// The modules of the process that have been read.
#[derive(Default)]
pub(super) struct Modules {
    pub(super) unwinder: UnwinderNative<Arc<[u8]>, MayAllocateDuringUnwind>,
    known: Vec<Known>,
}

/// A mapping, and its unwind information if it was readable.
struct Known {
    mapping: Mapping,
    sections: Option<Sections>,
}

/// The unwind information of a file.
struct Sections {
    /// The difference between the mapped addresses and those that the file was linked for.
    base: u64,
    /// The address and the bytes of the section `.eh_frame`, and of `.eh_frame_hdr`.
    frames: Option<(Range<u64>, Arc<[u8]>)>,
    index: Option<(Range<u64>, Arc<[u8]>)>,
}

/// An executable part of a file in the process's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mapping {
    addresses: Range<u64>,
    /// The offset in the file at which it begins.
    offset: u64,
    path: String,
}

impl Modules {
    /// Adds modules that were mapped since the last call, and removes those that are no longer
    /// mapped.
    pub(super) fn refresh(&mut self) {
        let Ok(maps) = fs::read_to_string("/proc/self/maps") else {
            return;
        };
        let current: Vec<_> = maps.lines().filter_map(Mapping::parse).collect();
        self.known.retain(|known| {
            let stays = current.contains(&known.mapping);
            if !stays {
                self.unwinder.remove_module(known.mapping.addresses.start);
                super::forget_symbols();
            }
            stays
        });
        for mapping in current {
            if self.known.iter().any(|known| known.mapping == mapping) {
                continue;
            }
            let sections = mapping.sections();
            if let Some(sections) = &sections {
                self.unwinder.add_module(mapping.module(sections));
            }
            // Added even if the module cannot be read, so that reading it is tried only once.
            self.known.push(Known { mapping, sections });
        }
    }

    /// Returns whether the address is in a file's code.
    pub(super) fn is_code(&self, address: u64) -> bool {
        let mut mappings = self.known.iter().map(|known| &known.mapping.addresses);
        mappings.any(|addresses| addresses.contains(&address))
    }

    /// Returns the address of the first instruction of the function at `address` at which
    /// `register` is its frame pointer.
    pub(super) fn frame_pointer_set(&self, address: u64, register: Register) -> Option<u64> {
        let contains = |known: &&Known| known.mapping.addresses.contains(&address);
        let sections = self.known.iter().find(contains)?.sections.as_ref()?;
        let (frames, index) = (sections.frames.as_ref()?, sections.index.as_ref()?);
        let bases = BaseAddresses::default()
            .set_eh_frame(frames.0.start)
            .set_eh_frame_hdr(index.0.start);
        let eh_frame = EhFrame::new(&frames.1, LittleEndian);
        let index = EhFrameHdr::new(&index.1, LittleEndian);
        let index = index.parse(&bases, size_of::<usize>() as u8).ok()?;
        let linked = address.wrapping_sub(sections.base);
        let table = index.table()?;
        let cie = EhFrame::cie_from_offset;
        let entry = table.fde_for_address(&eh_frame, &bases, linked, cie).ok()?;
        let mut context = UnwindContext::new();
        let mut rows = entry.rows(&eh_frame, &bases, &mut context).ok()?;
        while let Some(row) = rows.next_row().ok()? {
            match *row.cfa() {
                CfaRule::RegisterAndOffset { register: r, .. } if r == register => {
                    return Some(row.start_address().wrapping_add(sections.base));
                }
                _ => {}
            }
        }
        None
    }
}

impl Mapping {
    /// Reads a line such as `7f2c000-7f2d000 r-xp 00028000 08:01 1234   /lib/libc.so.6`. Returns
    /// `None` if the mapping is not executable or has no file.
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.splitn(6, ' ');
        let (start, end) = fields.next()?.split_once('-')?;
        let is_executable = fields.next()?.contains('x');
        let offset = fields.next()?;
        let path = fields.nth(2)?.trim_start();
        let is_readable = path.starts_with('/') || path == "[vdso]";
        let number = |text| u64::from_str_radix(text, 16).ok();
        let mapping = Self {
            addresses: number(start)?..number(end)?,
            offset: number(offset)?,
            path: path.to_owned(),
        };
        (is_executable && is_readable).then_some(mapping)
    }

    fn sections(&self) -> Option<Sections> {
        if self.path == "[vdso]" {
            // The vDSO is never unmapped, and has no file.
            let memory = File::open("/proc/self/mem").ok()?;
            let length = usize::try_from(self.addresses.end - self.addresses.start).ok()?;
            let mut bytes = vec![0; length];
            memory
                .read_exact_at(&mut bytes, self.addresses.start)
                .ok()?;
            return self.read(&bytes[..]);
        }
        self.read(&ReadCache::new(self.open()?))
    }

    /// Opens the file. One that was replaced or removed is opened only if it is the program itself,
    /// which `/proc/self/exe` still opens.
    fn open(&self) -> Option<File> {
        let file = match self.path.strip_suffix(" (deleted)") {
            None => File::open(&self.path),
            Some(_) => {
                let is_program = fs::read_link("/proc/self/exe")
                    .is_ok_and(|program| program.to_str() == Some(&self.path));
                if !is_program {
                    return None;
                }
                File::open("/proc/self/exe")
            }
        };
        file.ok()
    }

    /// Returns the difference between the mapped addresses and those that the file was linked for.
    fn base<'a>(&self, file: &impl Object<'a>) -> Option<u64> {
        let segment = file.segments().find(|segment| {
            let (start, length) = segment.file_range();
            let is_executable = matches!(
                segment.flags(),
                SegmentFlags::Elf { p_flags } if p_flags & elf::PF_X != 0
            );
            let whole = start.saturating_sub(MAX_PAGE - 1)..start + length;
            is_executable && whole.contains(&self.offset)
        })?;
        let (offset, _) = segment.file_range();
        let linked = segment
            .address()
            .wrapping_add(self.offset.wrapping_sub(offset));
        Some(self.addresses.start.wrapping_sub(linked))
    }

    fn module(&self, sections: &Sections) -> Module<Arc<[u8]>> {
        let (frame_range, frame) = sections.frames.clone().unzip();
        let (header_range, header) = sections.index.clone().unzip();
        let info = ExplicitModuleSectionInfo {
            base_svma: 0,
            eh_frame_svma: frame_range,
            eh_frame: frame,
            eh_frame_hdr_svma: header_range,
            eh_frame_hdr: header,
            ..Default::default()
        };
        Module::new(
            self.path.clone(),
            self.addresses.clone(),
            sections.base,
            info,
        )
    }

    /// Reads the unwind information of an ELF file.
    fn read<'a, R: ReadRef<'a>>(&self, bytes: R) -> Option<Sections> {
        let file = object::File::parse(bytes).ok()?;
        let section = |name| {
            let section = file.section_by_name(name)?;
            let data: Arc<[u8]> = section.data().ok()?.into();
            Some((section.address()..section.address() + section.size(), data))
        };
        Some(Sections {
            base: self.base(&file)?,
            frames: section(".eh_frame"),
            index: section(".eh_frame_hdr"),
        })
    }
}

/// Returns the name of the function at an address from the symbols of its file. That takes
/// milliseconds.
pub(super) fn symbol_name(address: u64) -> Option<String> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let mut mappings = maps.lines().filter_map(Mapping::parse);
    let mapping = mappings.find(|mapping| mapping.addresses.contains(&address))?;
    let bytes = ReadCache::new(mapping.open()?);
    let file = object::File::parse(&bytes).ok()?;
    let linked = address.wrapping_sub(mapping.base(&file)?);
    let symbol = file.symbols().find(|symbol| {
        let start = symbol.address();
        symbol.kind() == SymbolKind::Text && (start..start + symbol.size()).contains(&linked)
    })?;
    let name = backtrace::SymbolName::new(symbol.name_bytes().ok()?);
    Some(format!("{name:#}"))
}

#[cfg(test)]
mod tests;
