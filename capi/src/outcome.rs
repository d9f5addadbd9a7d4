//! The runtime's errors as HIP's codes.

use aqlipse::{CaptureError, Error};

use crate::error::*;

impl From<Error> for hipError_t {
    fn from(error: Error) -> Self {
        match &error {
            Error::InvalidValue(_) | Error::Graph(_) => hipErrorInvalidValue,
            Error::OutOfMemory { .. } | Error::MemoryLimit(_) => hipErrorOutOfMemory,
            Error::NotInitialized(_) => hipErrorNotInitialized,
            Error::NoDevice => hipErrorNoDevice,
            Error::InvalidDevice(_) => hipErrorInvalidDevice,
            Error::InvalidImage(_) => hipErrorInvalidImage,
            Error::NoBinaryForGpu(_) => hipErrorNoBinaryForGpu,
            Error::NotFound(_) => hipErrorNotFound,
            Error::FileNotFound(_) => hipErrorFileNotFound,
            Error::InvalidHandle => hipErrorInvalidHandle,
            Error::InvalidDeviceFunction => hipErrorInvalidDeviceFunction,
            Error::InvalidSymbol => hipErrorInvalidSymbol,
            Error::InvalidConfiguration(_) => hipErrorInvalidConfiguration,
            Error::InvalidMemcpyDirection => hipErrorInvalidMemcpyDirection,
            Error::AlreadyRegistered => hipErrorHostMemoryAlreadyRegistered,
            Error::NotRegistered => hipErrorHostMemoryNotRegistered,
            Error::IllegalState(_) => hipErrorIllegalState,
            Error::NotReady => hipErrorNotReady,
            Error::StreamDestroyed => hipErrorContextIsDestroyed,
            Error::IllegalAddress(_) => hipErrorIllegalAddress,
            Error::LaunchFailure(_) => hipErrorLaunchFailure,
            Error::UncorrectableMemory(_) => hipErrorECCNotCorrectable,
            Error::PeerAccessUnsupported => hipErrorPeerAccessUnsupported,
            Error::PeerAccessAlreadyEnabled => hipErrorPeerAccessAlreadyEnabled,
            Error::PeerAccessNotEnabled => hipErrorPeerAccessNotEnabled,
            Error::CooperativeLaunchTooLarge { .. } => hipErrorCooperativeLaunchTooLarge,
            Error::Capture(capture) => match capture {
                CaptureError::Unsupported => hipErrorStreamCaptureUnsupported,
                CaptureError::Invalidated => hipErrorStreamCaptureInvalidated,
                CaptureError::Merge => hipErrorStreamCaptureMerge,
                CaptureError::Unmatched => hipErrorStreamCaptureUnmatched,
                CaptureError::Unjoined => hipErrorStreamCaptureUnjoined,
                CaptureError::Isolation => hipErrorStreamCaptureIsolation,
                CaptureError::Implicit => hipErrorStreamCaptureImplicit,
                CaptureError::CapturedEvent => hipErrorCapturedEvent,
                CaptureError::WrongThread => hipErrorStreamCaptureWrongThread,
            },
            Error::UpdateRefused(_) => hipErrorGraphExecUpdateFailure,
            Error::NotSupported(_) => hipErrorNotSupported,
            Error::OperatingSystem(_) => hipErrorOperatingSystem,
            Error::Hsa(_) => hipErrorUnknown,
            // A variant that this library does not know yet.
            _ => hipErrorUnknown,
        }
        .explained(&error)
    }
}

impl hipError_t {
    /// Logs the sentence that the code stands for.
    fn explained(self, error: &Error) -> Self {
        if !matches!(error, Error::NotReady) {
            tracing::info!("{error}");
        }
        self
    }
}
