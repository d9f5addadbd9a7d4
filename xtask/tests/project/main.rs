//! Rules about the project as a whole: which package depends on which, what the shared library exports, what is
//! committed.

mod archive;
mod committed;
mod conformance;
mod crates;
mod dependencies;
mod documents;
mod floors;
mod kit;
mod library;
