DELETE FROM sync_jobref WHERE claim_id = {claim} AND batch = {batch};
