SELECT done, stayed FROM sync_receipt WHERE term = {term}
