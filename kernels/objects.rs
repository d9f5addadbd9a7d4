//! `demo.cpp`, compiled for every card that the library knows.

/// The device code; a module takes the first that fits its device.
pub const DEMO: [&[u8]; 7] = [
    include_bytes!("demo.gfx90a.co"),
    include_bytes!("demo.gfx942.co"),
    include_bytes!("demo.gfx9-4-generic.co"),
    include_bytes!("demo.gfx9-generic.co"),
    include_bytes!("demo.gfx10-3-generic.co"),
    include_bytes!("demo.gfx11-generic.co"),
    include_bytes!("demo.gfx12-generic.co"),
];
