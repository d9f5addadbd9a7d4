//! Shared virtual memory: attributes of the client's own pages, and whether devices retry accesses that fault.
//!
//! The structures are of `hsakmttypes.h`; what they mean is said in the kernel driver's `kfd_ioctl.h`. Nodes stand for
//! locations: 0 is the host, all bits set is none.

use emulator::driver::{Change, Place, Reach, Svm, svm_flag};

use super::say_once;
use crate::{
    abi::{
        HSA_SVM_ATTR_ACCESS, HSA_SVM_ATTR_ACCESS_IN_PLACE, HSA_SVM_ATTR_CLR_FLAGS, HSA_SVM_ATTR_GRANULARITY,
        HSA_SVM_ATTR_NO_ACCESS, HSA_SVM_ATTR_PREFERRED_LOC, HSA_SVM_ATTR_PREFETCH_LOC,
        HSA_SVM_ATTR_SET_FLAGS, HSA_SVM_ATTR_TYPE, HSA_SVM_ATTRIBUTE, HSAKMT_STATUS_ERROR,
        HSAKMT_STATUS_INVALID_NODE_UNIT, HSAKMT_STATUS_INVALID_PARAMETER, HSAKMT_STATUS_NOT_SUPPORTED, Out,
    },
    entry::{Result, entry},
    session::{self, Session},
    topology::HOST_NODE,
};

/// No location.
const NO_NODE: u32 = u32::MAX;

fn svm(session: &Session) -> Result<&Svm> {
    session.driver.svm().ok_or_else(|| {
        say_once!(info, "shared virtual memory is not supported (no-svm)");
        HSAKMT_STATUS_NOT_SUPPORTED
    })
}

/// Whole pages, as the caller must name them.
fn range(address: u64, size: u64) -> Result<(u64, u64)> {
    let exact = |(start, end): &(u64, u64)| (*start, end - start) == (address, size);
    emulator::driver::pages(address, size).filter(exact).ok_or(HSAKMT_STATUS_INVALID_PARAMETER)
}

/// Where a node's memory is. Every socket's is the host's.
fn place(session: &Session, node: u32) -> Result<Place> {
    let nodes = session.topology.nodes();
    if node >= nodes.count() {
        return Err(HSAKMT_STATUS_INVALID_NODE_UNIT);
    }
    Ok(nodes.device(node).map_or(Place::Host, Place::Device))
}

/// The device of a node that is given or asked for access: the host's flag is another attribute.
fn device(session: &Session, node: u32) -> Result<u32> {
    place(session, node)?.device().ok_or(HSAKMT_STATUS_INVALID_NODE_UNIT)
}

fn node(session: &Session, place: Option<Place>) -> u32 {
    match place {
        None => NO_NODE,
        Some(Place::Host) => HOST_NODE,
        Some(Place::Device(device)) => session.topology.nodes().of(device),
    }
}

entry! {
    /// Gives pages attributes; a location to prefetch to moves them before the call returns.
    fn hsaKmtSVMSetAttr(address: u64, size: u64, count: u32, attributes: Out<HSA_SVM_ATTRIBUTE>) {
        let session = session::current()?;
        let svm = svm(&session)?;
        let (start, end) = range(address, size)?;
        let (mut changes, mut prefetches) = (Vec::new(), Vec::new());
        for HSA_SVM_ATTRIBUTE { r#type, value } in attributes.read_all(count as usize)? {
            let reach = |reach| Ok(Change::Reach(device(&session, value)?, reach));
            changes.push(match HSA_SVM_ATTR_TYPE(r#type) {
                HSA_SVM_ATTR_PREFERRED_LOC if value == NO_NODE => Change::Prefer(None),
                HSA_SVM_ATTR_PREFERRED_LOC => Change::Prefer(Some(place(&session, value)?)),
                HSA_SVM_ATTR_PREFETCH_LOC => {
                    prefetches.push(place(&session, value)?);
                    continue;
                }
                HSA_SVM_ATTR_ACCESS => reach(Reach::OnDemand)?,
                HSA_SVM_ATTR_ACCESS_IN_PLACE => reach(Reach::InPlace)?,
                HSA_SVM_ATTR_NO_ACCESS => reach(Reach::None)?,
                HSA_SVM_ATTR_SET_FLAGS | HSA_SVM_ATTR_CLR_FLAGS if value & !svm_flag::ALL != 0 => {
                    return Err(HSAKMT_STATUS_ERROR);
                }
                HSA_SVM_ATTR_SET_FLAGS => Change::Flags(value, 0),
                HSA_SVM_ATTR_CLR_FLAGS => Change::Flags(0, value),
                HSA_SVM_ATTR_GRANULARITY => Change::Granularity(value),
                _ => return Err(HSAKMT_STATUS_ERROR),
            });
        }
        svm.set(start, end, &changes).map_err(|_| HSAKMT_STATUS_ERROR)?;
        prefetches.into_iter().try_for_each(|to| svm.prefetch(start, end, to).map_err(|_| HSAKMT_STATUS_ERROR))
    }

    /// Reads what all pages of a range have in common. The access of a device replaces the type that asks for it.
    fn hsaKmtSVMGetAttr(address: u64, size: u64, count: u32, attributes: Out<HSA_SVM_ATTRIBUTE>) {
        let session = session::current()?;
        let (start, end) = range(address, size)?;
        let common = svm(&session)?.get(start, end);
        let mut answers = attributes.read_all(count as usize)?;
        for answer in &mut answers {
            match HSA_SVM_ATTR_TYPE(answer.r#type) {
                HSA_SVM_ATTR_PREFERRED_LOC => answer.value = node(&session, common.preferred),
                HSA_SVM_ATTR_PREFETCH_LOC => answer.value = node(&session, common.prefetched),
                HSA_SVM_ATTR_ACCESS | HSA_SVM_ATTR_ACCESS_IN_PLACE | HSA_SVM_ATTR_NO_ACCESS => {
                    let access = match common.reach(device(&session, answer.value)?) {
                        Reach::OnDemand => HSA_SVM_ATTR_ACCESS,
                        Reach::InPlace => HSA_SVM_ATTR_ACCESS_IN_PLACE,
                        Reach::None => HSA_SVM_ATTR_NO_ACCESS,
                    };
                    answer.r#type = access.0;
                }
                HSA_SVM_ATTR_SET_FLAGS => answer.value = common.flags,
                HSA_SVM_ATTR_CLR_FLAGS => answer.value = common.clear,
                HSA_SVM_ATTR_GRANULARITY => answer.value = common.granularity,
                _ => return Err(HSAKMT_STATUS_ERROR),
            }
        }
        attributes.write_all(count, &answers)
    }

    /// Whether devices retry accesses that fault.
    fn hsaKmtGetXNACKMode(enable: Out<i32>) {
        let session = session::current()?;
        enable.write(session.driver.svm().is_some_and(Svm::retries).into())
    }

    /// Has devices retry accesses that fault, or not, while there are no queues.
    fn hsaKmtSetXNACKMode(enable: i32) {
        let session = session::current()?;
        match session.driver.svm() {
            None if enable > 0 => Err(HSAKMT_STATUS_NOT_SUPPORTED),
            Some(_) if enable >= 0 && !session.driver.set_xnack(enable > 0) => Err(HSAKMT_STATUS_ERROR),
            _ => Ok(()),
        }
    }
}
