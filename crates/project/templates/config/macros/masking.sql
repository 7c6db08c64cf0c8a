-- Masking macros, called for columns that carry a tag of the same name:
--
--   -- @column: email = Contact address | mask_email
--   -- @column: phone = redact          (no bar: a description, nothing is masked)
--
-- A tag masks if it is mask, hash or redact, or starts with one of these and an
-- underscore. It is called as a function of the column, so a macro of your own
-- needs no more than a name such as mask_phone and one parameter:
--
--   CREATE OR REPLACE MACRO mask_phone(v) AS '***' || right(v::VARCHAR, 2);
--
-- Columns named by @unique_key and @group_key are never masked. All others are
-- masked before constraints see them and before anything is written or pushed.

-- alice@example.com gives a***@example.com. What has no character before the
-- last @ is no address and is hidden as a whole.
CREATE OR REPLACE MACRO mask_email(v) AS
    CASE
        WHEN v IS NULL THEN NULL
        WHEN regexp_full_match(v::VARCHAR, '(?s).+@[^@]*')
            THEN regexp_replace(v::VARCHAR, '(?s)^(.).*@([^@]*)$', '\1***@\2')
        ELSE '***'
    END;

-- 123-45-6789 gives ***-**-6789. What has four characters or fewer would be
-- shown in full, so it is hidden as a whole.
CREATE OR REPLACE MACRO mask_ssn(v) AS
    CASE
        WHEN v IS NULL THEN NULL
        WHEN length(v::VARCHAR) > 4 THEN '***-**-' || right(v::VARCHAR, 4)
        ELSE '***-**-****'
    END;

-- SHA-256 of the text form, as 64 hex digits. Equal values stay equal, so the
-- column can still be joined and counted. It is unsalted: values that can be
-- guessed (phone numbers, say) can be found again by hashing the guesses.
CREATE OR REPLACE MACRO hash_pii(v) AS
    sha256(v::VARCHAR);

-- Nothing is left, not even which values were NULL.
CREATE OR REPLACE MACRO redact(v) AS
    '[REDACTED]';
