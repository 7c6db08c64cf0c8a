SELECT batch, job_ref, fingerprint, first_seq, last_seq FROM sync_jobref WHERE claim_id = {claim} ORDER BY batch
