//! Jobs that the sink works on by itself: submitted once, polled to the end, whichever worker does it.

use std::time::Instant;

use lib_functions::{HostValue, PollAnswer, Running};
use state::{Job, StateError};

use crate::json::{from_json, to_json};
use crate::lane::{Batch, BatchEnd, Lane, is_stopped, message};

/// What became of a job that was waited for.
pub(crate) enum JobEnd {
    /// Its outcomes are recorded.
    Ended,
    /// The run is to end, and the sink still works on it.
    GoesOn,
    /// Another worker has the claim.
    Lost,
}

impl Lane<'_> {
    /// Keeps a job's reference, then waits for it.
    pub fn submitted(
        &mut self,
        running: &Running<'_>,
        batch: &Batch,
        number: u64,
        reference: &HostValue,
    ) -> Result<BatchEnd, StateError> {
        let Some(job_ref) = to_json(reference) else {
            return self.failed(batch, "push() must return a job reference that JSON can hold");
        };
        let seqs = || batch.changes.iter().map(|change| change.event.seq);
        let job = Job {
            batch: u32::try_from(number).unwrap_or(u32::MAX),
            job_ref,
            fingerprint: self.chunk.delivery.lib.name.clone(),
            first_seq: seqs().min().unwrap_or(0),
            last_seq: seqs().max().unwrap_or(0),
        };
        match self.chunk.delivery.store.lock().put_job(&self.chunk.claim.lease, &job) {
            Ok(()) => {}
            Err(StateError::LeaseLost { .. }) => return Ok(BatchEnd::Lost),
            Err(error) => return Err(error),
        }
        Ok(match self.wait_for(running, &job, batch)? {
            JobEnd::Ended => BatchEnd::Answered { failed: self.failed_of(batch) },
            JobEnd::GoesOn => BatchEnd::JobGoesOn,
            JobEnd::Lost => BatchEnd::Lost,
        })
    }

    /// The rows of a batch that failed.
    fn failed_of(&self, batch: &Batch) -> Vec<i64> {
        let tally = self.tally();
        let is_failed = |seq: i64| tally.failed.contains(&seq);
        batch.changes.iter().filter(|c| is_failed(c.event.seq)).map(|c| c.event.row_key).collect()
    }

    /// Polls a job until it is done, its time is over, or the run is to end.
    pub fn wait_for(&mut self, running: &Running<'_>, job: &Job, batch: &Batch) -> Result<JobEnd, StateError> {
        let (api, started) = (self.api(), Instant::now());
        let reference = from_json(&job.job_ref).unwrap_or(HostValue::None);
        let mut trouble = String::new();
        let end = loop {
            match running.poll(&reference, &batch.keys) {
                Ok(PollAnswer::Waiting) => trouble.clear(),
                Ok(PollAnswer::Done(statuses)) => break self.answered(batch, statuses)?,
                // It will not say more, however often it is asked.
                Ok(PollAnswer::Unreadable(message)) => break self.failed(batch, &message)?,
                Err(error) if is_stopped(&error) => return Ok(JobEnd::GoesOn),
                // The job goes on, whatever keeps it from being asked for.
                Err(error) => trouble = format!(": {}", message(&error)),
            }
            if started.elapsed() >= api.poll_timeout {
                let message = format!("the job did not end within {} s{trouble}", api.poll_timeout.as_secs());
                break self.failed(batch, &message)?;
            }
            let left = api.poll_timeout.saturating_sub(started.elapsed());
            if self.chunk.delivery.stop.sleep(api.poll_interval.min(left)).is_err() {
                return Ok(JobEnd::GoesOn);
            }
        };
        if let BatchEnd::Lost = end {
            return Ok(JobEnd::Lost);
        }
        match self.chunk.delivery.store.lock().end_job(&self.chunk.claim.lease, job.batch) {
            Ok(()) => Ok(JobEnd::Ended),
            Err(StateError::LeaseLost { .. }) => Ok(JobEnd::Lost),
            Err(error) => Err(error),
        }
    }
}
