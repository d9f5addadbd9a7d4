//! Devices: finding one, what it is, what a program may set on it, its context and its compute units. Nothing here needs
//! memory, a stream or a graph.
//!
//! | module | what it holds |
//! |---|---|
//! | [`query`] | devices and their attributes |
//! | [`attribute`] | attributes by the caller's numbers |
//! | [`properties`] | all properties of a device in one structure |
//! | [`choose`] | finding a device by its address or by what it must have |
//! | [`configuration`] | flags, limits, preferences; the reset |
//! | [`context`] | contexts, of which each device has one |
//! | [`resource`] | compute units as resources that can be split |

pub(super) mod attribute;
pub(super) mod choose;
pub(super) mod configuration;
pub(super) mod context;
pub(super) mod properties;
pub(super) mod query;
pub(super) mod resource;
