-- An object store of one's own; for a provider's leave out ENDPOINT, USE_SSL and URL_STYLE.
CREATE SECRET lake_files (
    TYPE s3,
    KEY_ID '${LAKE_KEY_ID}',
    SECRET '${LAKE_SECRET}',
    REGION 'us-east-1',
    ENDPOINT '${LAKE_ENDPOINT}',
    USE_SSL false,
    URL_STYLE 'path',
    SCOPE 's3://${LAKE_BUCKET}'
);
