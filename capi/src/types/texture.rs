//! Arrays, textures and surfaces.

use std::ffi::{c_int, c_uint, c_void};

use super::{
    hipArray_Format, hipArray_t, hipChannelFormatKind, hipMipmappedArray_t, hipResourceType,
    hipResourceViewFormat, hipTextureAddressMode, hipTextureFilterMode, hipTextureReadMode,
};

c_struct! {
    /// Bits of each channel of an element, and how to read them.
    hipChannelFormatDesc: 20, 4 {
        0 x: c_int,
        4 y: c_int,
        8 z: c_int,
        12 w: c_int,
        16 f: hipChannelFormatKind,
    }
}

c_struct! {
    /// What the headers of HIP 5 show of an array; to later ones it is opaque.
    hipArray: 64, 8 {
        0 data: usize,
        8 desc: hipChannelFormatDesc,
        28 r#type: c_uint,
        32 width: c_uint,
        36 height: c_uint,
        40 depth: c_uint,
        44 Format: hipArray_Format,
        48 NumChannels: c_uint,
        52 isDrv: bool,
        56 textureType: c_uint,
    }
}

c_struct! {
    /// A driver-style 1-D or 2-D array.
    HIP_ARRAY_DESCRIPTOR: 24, 8 {
        0 Width: usize,
        8 Height: usize,
        16 Format: hipArray_Format,
        20 NumChannels: c_uint,
    }
}

c_struct! {
    /// A driver-style 3-D array.
    HIP_ARRAY3D_DESCRIPTOR: 40, 8 {
        0 Width: usize,
        8 Height: usize,
        16 Depth: usize,
        24 Format: hipArray_Format,
        28 NumChannels: c_uint,
        32 Flags: c_uint,
    }
}

c_struct! {
    /// Linear memory as a texture resource.
    hipResourceLinear: 40, 8 {
        0 devPtr: *mut c_void,
        8 desc: hipChannelFormatDesc,
        32 sizeInBytes: usize,
    }
}

c_struct! {
    /// Pitched memory as a texture resource.
    hipResourcePitch2D: 56, 8 {
        0 devPtr: *mut c_void,
        8 desc: hipChannelFormatDesc,
        32 width: usize,
        40 height: usize,
        48 pitchInBytes: usize,
    }
}

c_union! {
    /// The resource inside [`hipResourceDesc`].
    hipResourceUnion: 56, 8 {
        array: hipArray_t,
        mipmap: hipMipmappedArray_t,
        linear: hipResourceLinear,
        pitch2D: hipResourcePitch2D,
    }
}

c_struct! {
    /// What a texture or surface object reads.
    hipResourceDesc: 64, 8 {
        0 resType: hipResourceType,
        8 res: hipResourceUnion,
    }
}

c_struct! {
    /// How a texture object samples.
    hipTextureDesc: 64, 4 {
        0 addressMode: [hipTextureAddressMode; 3],
        12 filterMode: hipTextureFilterMode,
        16 readMode: hipTextureReadMode,
        20 sRGB: c_int,
        24 borderColor: [f32; 4],
        40 normalizedCoords: c_int,
        44 maxAnisotropy: c_uint,
        48 mipmapFilterMode: hipTextureFilterMode,
        52 mipmapLevelBias: f32,
        56 minMipmapLevelClamp: f32,
        60 maxMipmapLevelClamp: f32,
    }
}

c_struct! {
    /// Which part of a resource a texture object sees, and as what format.
    hipResourceViewDesc: 48, 8 {
        0 format: hipResourceViewFormat,
        8 width: usize,
        16 height: usize,
        24 depth: usize,
        32 firstMipmapLevel: c_uint,
        36 lastMipmapLevel: c_uint,
        40 firstLayer: c_uint,
        44 lastLayer: c_uint,
    }
}

c_struct! {
    /// A texture reference of the old style.
    textureReference: 88, 8 {
        0 normalized: c_int,
        4 readMode: hipTextureReadMode,
        8 filterMode: hipTextureFilterMode,
        12 addressMode: [hipTextureAddressMode; 3],
        24 channelDesc: hipChannelFormatDesc,
        44 sRGB: c_int,
        48 maxAnisotropy: c_uint,
        52 mipmapFilterMode: hipTextureFilterMode,
        56 mipmapLevelBias: f32,
        60 minMipmapLevelClamp: f32,
        64 maxMipmapLevelClamp: f32,
        72 textureObject: *mut c_void,
        80 numChannels: c_int,
        84 format: hipArray_Format,
    }
}

c_struct! {
    /// Bytes of an array, and of what memory that is mapped to it begins at multiples.
    hipArrayMemoryRequirements: 16, 8 {
        0 alignment: usize,
        8 size: usize,
    }
}
