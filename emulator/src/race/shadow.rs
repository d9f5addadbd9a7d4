//! The accesses of memory, page by page.

use std::collections::HashMap;

use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};

use super::{
    cell::{Cell, Event, Meeting, Toucher},
    shown::{Shown, Source, Upto},
    spans::{PAGE, Piece, Spans},
};

/// Bytes of a row. Lanes mostly touch dwords one behind the other, whole rows of them.
const ROW: u64 = 64;
/// Dwords of a row.
const DWORDS: usize = ROW as usize / 4;

/// The accesses of a row of dwords.
enum Row {
    /// Those of each dword: all were touched together. One of them stores at most.
    Whole(Cell),
    Cells(Box<[Cell; DWORDS]>),
}

/// docs/check.md, "What they cost".
const _: () = assert!(size_of::<Row>() == 32);

/// The accesses of a page.
struct Page {
    rows: [Row; (PAGE / ROW) as usize],
    /// What was stored to rows as a whole.
    stored: Option<Box<[u8; PAGE as usize]>>,
}

impl Page {
    fn new() -> Self {
        Self { rows: [const { Row::Whole(Cell::Untouched) }; _], stored: None }
    }

    /// Notes an access of bytes of the page; see [`Cell::touch`]. `found` gets the address of the dword, too.
    fn touch(
        &mut self,
        event: Event,
        mut bytes: Piece<'_>,
        toucher: &Toucher<'_, impl Fn(&Event) -> bool>,
        mut found: impl FnMut(&Event, u64, u8, Meeting),
    ) {
        while bytes.bytes > 0 {
            let mut row = bytes.take_to(ROW);
            let number = (row.at % PAGE / ROW) as usize;
            if row.bytes == ROW as usize && self.touch_row(number, event, row.stored, toucher) {
                continue;
            }
            let cells = self.cells(number);
            while row.bytes > 0 {
                let dword = row.take_to(4);
                let event = event.of(dword.of_dword());
                cells[(dword.at % ROW) as usize / 4]
                    .touch(event, toucher, |other, mask, meeting| found(other, dword.at, mask, meeting));
            }
        }
    }

    /// Notes an access of a whole row, unless its dwords have to be looked at one by one.
    fn touch_row(
        &mut self,
        number: usize,
        event: Event,
        stored: &[u8],
        toucher: &Toucher<'_, impl Fn(&Event) -> bool>,
    ) -> bool {
        let Row::Whole(cell) = &mut self.rows[number] else { return false };
        let event = event.of((0xf, 0));
        if !cell.is_quiet(&event, toucher) {
            return false;
        }
        cell.remember(event, toucher);
        if let Some(stored) = stored.get(..ROW as usize) {
            let page = self.stored.get_or_insert_with(|| Box::new([0; _]));
            page[number * ROW as usize..][..ROW as usize].copy_from_slice(stored);
        }
        true
    }

    /// The dwords of a row, one by one from now on.
    fn cells(&mut self, number: usize) -> &mut [Cell; DWORDS] {
        if let Row::Whole(cell) = &self.rows[number] {
            let stored = self.stored.as_ref().map(|stored| &stored[number * ROW as usize..]);
            let cells = std::array::from_fn(|n| {
                let mut cell = cell.clone();
                let value = stored.map_or([0; 4], |stored| std::array::from_fn(|byte| stored[4 * n + byte]));
                cell.events_mut().iter_mut().for_each(|event| event.value = u32::from_le_bytes(value));
                cell
            });
            self.rows[number] = Row::Cells(Box::new(cells));
        }
        match &mut self.rows[number] {
            Row::Cells(cells) => cells,
            // PANIC: it has just been made one.
            Row::Whole(_) => unreachable!("a row of cells"),
        }
    }

    /// The accesses of a dword.
    fn cell(&self, at: u64) -> &Cell {
        match &self.rows[(at % PAGE / ROW) as usize] {
            Row::Whole(cell) => cell,
            Row::Cells(cells) => &cells[(at % ROW) as usize / 4],
        }
    }
}

/// Pages by their numbers.
type Pages = HashMap<u64, Box<Page>>;

/// The accesses of memory, or of the LDS of a workgroup, and what they show of waves.
pub(super) struct Memory {
    /// Those that leave the same remainder have a lock in common.
    pages: Box<[Mutex<Pages>]>,
    pub(super) shown: Mutex<Shown>,
}

impl Memory {
    /// Memory that so many waves or so touch at a time.
    pub(super) fn new(locks: usize) -> Self {
        let pages = std::iter::repeat_with(Mutex::default).take(locks).collect();
        Self { pages, shown: Mutex::default() }
    }

    fn pages(&self, number: u64) -> MutexGuard<'_, Pages> {
        // CAST: a remainder.
        self.pages[(number % self.pages.len() as u64) as usize].lock()
    }

    /// Notes an access; see [`Cell::touch`]. `found` gets the address of the dword, too.
    pub(super) fn touch(
        &self,
        event: Event,
        spans: &Spans,
        toucher: &Toucher<'_, impl Fn(&Event) -> bool>,
        mut found: impl FnMut(&Event, u64, u8, Meeting),
    ) {
        let mut held: Option<(u64, MappedMutexGuard<'_, Page>)> = None;
        for piece in spans.pieces() {
            let number = piece.at / PAGE;
            if let Some((_, page)) = held.as_mut().filter(|(held, _)| *held == number) {
                page.touch(event, piece, toucher, &mut found);
                continue;
            }
            // One lock at a time.
            drop(held.take());
            let mut page = MutexGuard::map(self.pages(number), |pages| {
                &mut **pages.entry(number).or_insert_with(|| Box::new(Page::new()))
            });
            page.touch(event, piece, toucher, &mut found);
            held = Some((number, page));
        }
    }

    /// What a wave has read of the dword at an address, or at a place that is none, if others may have shown something there.
    pub(super) fn read(&self, wave: u32, at: u64, mut heard: impl FnMut(Source, Upto)) {
        let shown = self.shown.lock();
        let atomics = shown.atomics_at(at);
        drop(shown);
        if let Some(upto) = atomics {
            heard(Source::Atomics(at), upto);
        }
        if let Some(page) = self.pages(at / PAGE).get(&(at / PAGE)) {
            let stores = page.cell(at).stores().filter(|store| store.wave != wave);
            stores.for_each(|store| heard(Source::Stores(store.wave), (store.time, store.released)));
        }
    }
}
