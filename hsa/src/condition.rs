//! Relations between values of signals and operands.

use hsa_sys::*;

/// Relation between a signal's value and an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// The value equals the operand.
    Equal,
    /// The value differs from the operand.
    NotEqual,
    /// The value is less than the operand.
    Less,
    /// The value is not less than the operand.
    GreaterOrEqual,
}

impl Condition {
    /// The specification's number.
    pub const fn code(self) -> hsa_signal_condition_t {
        match self {
            Self::Equal => HSA_SIGNAL_CONDITION_EQ,
            Self::NotEqual => HSA_SIGNAL_CONDITION_NE,
            Self::Less => HSA_SIGNAL_CONDITION_LT,
            Self::GreaterOrEqual => HSA_SIGNAL_CONDITION_GTE,
        }
    }

    /// The condition with this number.
    pub const fn from_code(code: u32) -> Option<Self> {
        Some(match hsa_signal_condition_t(code) {
            HSA_SIGNAL_CONDITION_EQ => Self::Equal,
            HSA_SIGNAL_CONDITION_NE => Self::NotEqual,
            HSA_SIGNAL_CONDITION_LT => Self::Less,
            HSA_SIGNAL_CONDITION_GTE => Self::GreaterOrEqual,
            _ => return None,
        })
    }

    /// Whether `value` stands in this relation to `operand`.
    pub const fn holds(self, value: i64, operand: i64) -> bool {
        match self {
            Self::Equal => value == operand,
            Self::NotEqual => value != operand,
            Self::Less => value < operand,
            Self::GreaterOrEqual => value >= operand,
        }
    }
}
