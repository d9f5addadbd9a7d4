//! Words in memory that a stream writes, or that hold it back until they are written.

use super::{Node, Stream};
use crate::{
    device::{Device, System},
    error::{Error, Result},
    memory::{Place, peer},
    module::Dispatch,
};

pub use aqlipse_graph::{Word, WordCondition as Condition};
use aqlipse_graph::{WordAction, WordStep};

impl Stream {
    /// Writes `value` to memory of the device or pinned memory of the host, in the stream's order.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for memory that the device does not reach or an address that is not aligned; what
    /// capture forbids.
    pub fn write_value(&self, address: u64, value: Word) -> Result<()> {
        let (at, _) = word_at(self.device(), address, value)?;
        if self.is_capturing() {
            return self.record_steps([WordStep { address, value, action: WordAction::Write }].into());
        }
        self.run_alone(&self.device().blit()?.write_value(at, value))
    }

    /// Holds what follows back until the word at `address` meets `condition`; the bits that `mask` lacks do not count.
    ///
    /// The stream waits on a queue that it shares with no other stream, so that any other one may write the word, now or
    /// later. A stream that waits for this one, by an event or because one of them is the default stream, moves to a queue
    /// of its own as well. Each comes back to a queue that it shares when it is used and nothing of it is in flight.
    ///
    /// A wait for memory of another process ends as a fault of the device if that process ends first.
    ///
    /// # Errors
    /// As [`Stream::write_value`]; [`Error::OutOfMemory`] if the device has no queue left.
    pub fn wait_value(&self, address: u64, condition: Condition, value: Word, mask: u64) -> Result<()> {
        let (at, gone) = word_at(self.device(), address, value)?;
        if self.is_capturing() {
            let action = WordAction::Wait { condition, mask };
            return self.record_steps([WordStep { address, value, action }].into());
        }
        self.hold_by(&self.device().blit()?.wait_value(at, condition, value, mask, gone))
    }

    /// Writes words and waits for words, one after the other; a step that waits does so as [`Stream::wait_value`].
    ///
    /// # Errors
    /// As [`Stream::wait_value`]; nothing is done then.
    pub fn word_steps(&self, steps: &[WordStep]) -> Result<()> {
        let reached = device_steps(self.device(), steps)?;
        if steps.is_empty() {
            return Ok(());
        }
        if self.is_capturing() {
            return self.record_steps(steps.into());
        }
        let dispatch = self.device().blit()?.word_steps(&reached);
        if steps.iter().any(WordStep::waits) { self.hold_by(&dispatch) } else { self.run_alone(&dispatch) }
    }

    fn record_steps(&self, steps: Box<[WordStep]>) -> Result<()> {
        self.record(Node::BatchMemOp(steps))
    }

    /// Runs what waits for a word.
    fn hold_by(&self, dispatch: &Dispatch) -> Result<()> {
        let mut submission = self.submission()?;
        submission.hold(|submission| submission.dispatch(dispatch))?;
        submission.finish()
    }

    fn run_alone(&self, dispatch: &Dispatch) -> Result<()> {
        let mut submission = self.submission()?;
        submission.dispatch(dispatch)?;
        submission.finish()
    }
}

/// The steps with the addresses by which `device` knows their words, each with that of the word that tells of the end of the
/// process whose memory it is, or 0.
///
/// # Errors
/// As [`Stream::write_value`].
pub(crate) fn device_steps(device: &Device, steps: &[WordStep]) -> Result<Vec<(WordStep, u64)>> {
    let reached = |step: &WordStep| {
        let (address, gone) = word_at(device, step.address, step.value)?;
        Ok((WordStep { address, ..*step }, gone))
    };
    steps.iter().map(reached).collect()
}

/// The device's address of a word, and that of the word that tells of the end of the process whose memory it is, or 0.
fn word_at(device: &Device, address: u64, word: Word) -> Result<(u64, u64)> {
    if !address.is_multiple_of(word.bytes()) {
        return Err(Error::InvalidValue("the word is not aligned"));
    }
    match System::get()?.memory().place(address, word.bytes())? {
        Place::Region(region) if peer::reaches(device, &region) => {
            Ok((region.device_address + (address - region.address), region.gone()))
        }
        _ => Err(Error::InvalidValue("the word lies in memory that the device does not reach")),
    }
}
