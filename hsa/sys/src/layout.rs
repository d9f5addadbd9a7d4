//! The macros that declare wire types, and the tables that the header test reads back from them.

/// Name, offset and size in bytes of one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub offset: usize,
    pub size: usize,
}

/// A `repr(C)` type that describes its own layout.
pub trait Layout: Sized {
    const NAME: &'static str;
    const FIELDS: &'static [Field];
}

/// A C enumeration whose values are open: a newer runtime may return one that has no name here.
pub trait Enumeration: Copy + 'static {
    const NAME: &'static str;
    /// Every named constant, in the header's order.
    const CONSTANTS: &'static [(&'static str, u32)];

    /// The number that C sees.
    fn value(self) -> u32;

    /// The header's name of this value; the first where the header gives it several.
    fn constant_name(self) -> Option<&'static str> {
        Self::CONSTANTS.iter().find(|(_, value)| *value == self.value()).map(|(name, _)| *name)
    }
}

/// Declares C enumerations as transparent integers, so that a value without a name is no undefined behaviour.
#[macro_export]
macro_rules! enumeration {
    ($( $(#[$meta:meta])* pub enum $name:ident { $($constant:ident = $value:expr,)* } )*) => { $(
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name(pub u32);

        $( pub const $constant: $name = $name($value); )*

        const _: () = assert!(size_of::<$name>() == 4 && align_of::<$name>() == 4);

        impl $crate::layout::Enumeration for $name {
            const NAME: &'static str = stringify!($name);
            const CONSTANTS: &'static [(&'static str, u32)] = &[$((stringify!($constant), $value)),*];

            fn value(self) -> u32 {
                self.0
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match $crate::layout::Enumeration::constant_name(*self) {
                    Some(constant) => f.write_str(constant),
                    None => write!(f, concat!(stringify!($name), "({:#x})"), self.0),
                }
            }
        }
    )* };
}

/// Declares `repr(C)` structures with the size, alignment and offsets that the ABI demands of them.
///
/// A structure below `#pragma pack(4)` adds `#[repr(packed(4))]`.
#[macro_export]
macro_rules! layout {
    ($(
        $(#[doc = $doc:literal])*
        [size = $size:literal, align = $align:literal]
        $(#[$meta:meta])*
        pub struct $name:ident { $($offset:literal => $field:ident: $type:ty,)* }
    )*) => { $(
        $(#[doc = $doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        $(#[$meta])*
        pub struct $name { $(pub $field: $type,)* }

        const _: () = {
            assert!(size_of::<$name>() == $size);
            assert!(align_of::<$name>() == $align);
            $( assert!(core::mem::offset_of!($name, $field) == $offset); )*
        };

        impl $crate::layout::Layout for $name {
            const NAME: &'static str = stringify!($name);
            const FIELDS: &'static [$crate::layout::Field] = &[$($crate::layout::Field {
                name: stringify!($field),
                offset: $offset,
                size: size_of::<$type>(),
            }),*];
        }
    )* };
}

/// Declares opaque 64-bit handles.
macro_rules! handle {
    ($( $(#[$meta:meta])* $name:ident )*) => { $(
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name {
            pub handle: u64,
        }

        const _: () = assert!(size_of::<$name>() == 8 && align_of::<$name>() == 8);

        impl $crate::layout::Layout for $name {
            const NAME: &'static str = stringify!($name);
            const FIELDS: &'static [$crate::layout::Field] =
                &[$crate::layout::Field { name: "handle", offset: 0, size: 8 }];
        }
    )* };
}

pub(crate) use handle;
pub use {enumeration, layout};
