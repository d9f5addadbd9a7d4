//! The types of random programs.

/// Scalars that the programs compute with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    F32,
    F64,
    Bf16,
}

use Scalar::{Bf16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};

impl Scalar {
    pub const INTEGERS: [Self; 8] = [U8, I8, U16, I16, U32, I32, U64, I64];
    /// Floats with every operation; bfloat16 has only some.
    pub const FLOATS: [Self; 3] = [F16, F32, F64];
    pub const ALL: [Self; 12] = [U8, I8, U16, I16, U32, I32, U64, I64, F16, F32, F64, Bf16];

    pub fn name(self) -> &'static str {
        match self {
            U8 => "u8",
            I8 => "i8",
            U16 => "u16",
            I16 => "i16",
            U32 => "u32",
            I32 => "i32",
            U64 => "u64",
            I64 => "i64",
            F16 => "f16",
            F32 => "f32",
            F64 => "f64",
            Bf16 => "bf16",
        }
    }

    pub fn is_integer(self) -> bool {
        Self::INTEGERS.contains(&self)
    }

    pub fn bits(self) -> u32 {
        match self {
            U8 | I8 => 8,
            U16 | I16 | F16 | Bf16 => 16,
            U32 | I32 | F32 => 32,
            U64 | I64 | F64 => 64,
        }
    }
}

/// A scalar, or a vector of two or four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    pub scalar: Scalar,
    /// 1, 2 or 4.
    pub lanes: u32,
}

impl From<Scalar> for Type {
    fn from(scalar: Scalar) -> Self {
        Self { scalar, lanes: 1 }
    }
}

impl Type {
    /// How the program spells it.
    pub fn name(self) -> String {
        match self.lanes {
            1 => self.scalar.name().into(),
            lanes => format!("{}x{lanes}", self.scalar.name()),
        }
    }

    pub fn is_scalar(self) -> bool {
        self.lanes == 1
    }
}
