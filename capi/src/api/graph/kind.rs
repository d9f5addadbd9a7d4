//! Kinds of nodes by the numbers that the caller was compiled with: HIP 5.3 gave them others.

use crate::{soname, types::*};

/// A kind as the caller knows it.
pub(super) fn reported(kind: hipGraphNodeType) -> hipGraphNodeType {
    if soname::is_before_5_3() { old_number(kind) } else { kind }
}

// ABI: the header of 5.2.3 begins with 1, and has numbers of their own for copies to and from symbols.
fn old_number(kind: hipGraphNodeType) -> hipGraphNodeType {
    match kind {
        hipGraphNodeTypeMemcpyFromSymbol => hipGraphNodeType(10),
        hipGraphNodeTypeMemcpyToSymbol => hipGraphNodeType(11),
        hipGraphNodeType(0..=7) => hipGraphNodeType(kind.0 + 1),
        // It had no name.
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_header_with_graphs_begins_with_one() {
        assert_eq!(old_number(hipGraphNodeTypeKernel), hipGraphNodeType(1));
        assert_eq!(old_number(hipGraphNodeTypeEventRecord), hipGraphNodeType(8));
        assert_eq!(old_number(hipGraphNodeTypeMemcpyToSymbol), hipGraphNodeType(11));
        assert_eq!(old_number(hipGraphNodeTypeMemAlloc), hipGraphNodeTypeMemAlloc);
    }
}
