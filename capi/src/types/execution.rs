//! Execution contexts and the resources of a device that they have, as HIP 7.14 and later declare them.

use std::ffi::{c_int, c_uchar, c_uint};

c_enum! {
    /// Kind of resource of a device.
    hipDevResourceType {
        hipDevResourceTypeInvalid = 0,
        hipDevResourceTypeSm = 1,
        hipDevResourceTypeWorkqueueConfig = 1000,
        hipDevResourceTypeWorkqueue = 10000,
    }
}

c_enum! {
    /// How compute units are split by number (bits).
    hipDevSmResourceSplitByCount_flags {
        hipDevSmResourceSplitIgnoreSmCoscheduling = 1,
        hipDevSmResourceSplitMaxPotentialClusterSize = 2,
    }
}

c_enum! {
    /// How a group of compute units is chosen (bits).
    hipDevSmResourceGroup_flags {
        hipDevSmResourceGroupDefault = 0,
        hipDevSmResourceGroupBackfill = 1,
    }
}

c_struct! {
    /// A number of compute units.
    hipDevSmResource: 16, 4 {
        0 smCount: c_uint,
        4 minSmPartitionSize: c_uint,
        8 smCoscheduledAlignment: c_uint,
        12 flags: c_uint,
    }
}

c_struct! {
    /// How many queues there are.
    hipDevWorkqueueConfigResource: 12, 4 {
        0 device: c_int,
        4 wqConcurrencyLimit: c_uint,
        8 sharingScope: c_uint,
    }
}

c_union! {
    /// What a resource is, as its type says.
    hipDevResourceUnion: 40, 4 {
        sm: hipDevSmResource,
        wqConfig: hipDevWorkqueueConfigResource,
        _oversize: [c_uchar; 40],
    }
}

/// Words of a resource that are the library's own: the device, and a bit for each compute unit.
pub const RESOURCE_WORDS: usize = 23;

c_struct! {
    /// A resource of a device.
    hipDevResource: 144, 8 {
        0 r#type: hipDevResourceType,
        4 _internal_padding: [c_uint; RESOURCE_WORDS],
        96 resource: hipDevResourceUnion,
        136 nextResource: *mut hipDevResource,
    }
}

c_struct! {
    /// What a group of compute units shall be like.
    hipDevSmResourceGroupParams: 64, 4 {
        0 smCount: c_uint,
        4 coscheduledSmCount: c_uint,
        8 preferredCoscheduledSmCount: c_uint,
        12 flags: c_uint,
        16 reserved: [c_uint; 12],
    }
}
